package desired

import (
	"context"
	"sort"
	"time"

	"github.com/nmstate/kubernetes-nmstate/api/v1"
	"github.com/nmstate/kubernetes-nmstate/handler/state"
)

func fold() {
	go func() {}()
	var _ chan int
}
