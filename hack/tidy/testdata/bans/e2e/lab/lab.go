package lab

import (
	"time"

	"k8s.io/utils/clock"
)

func up() {
	_ = clock.RealClock{}
	_ = time.Now()
}
