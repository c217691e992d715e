package agent

import (
	"context"
	"math/rand/v2"
	"os"
	clocks "time"

	"k8s.io/utils/clock"
)

func init() {}

type local struct{ Now func() }

func (l local) init() {}

func breaks(seeded *rand.Rand) {
	_ = clocks.Now()
	clocks.Sleep(clocks.Second)
	_ = context.Background()
	_ = rand.IntN(6)
	_ = seeded.IntN(6)
	_ = rand.New(rand.NewPCG(1, 2))
	_ = os.Getenv("HOME")
	_ = clock.RealClock{}
	clocks := local{}
	clocks.Now()
}

var now = clocks.Now
