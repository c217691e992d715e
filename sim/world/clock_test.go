package world_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/nmstate/kubernetes-nmstate/sim/world"
)

func TestAClockThatJumpsIsWrongAndRightAgainWithoutAPortCall(t *testing.T) {
	got, _ := noted(t, 1, func(w *world.World) {
		skew := time.Duration(0)
		w.Skew = func(process string) time.Duration {
			if process == "a" {
				return skew
			}
			return 0
		}
		w.After(1500*time.Millisecond, func() { skew = time.Hour })
		w.After(2500*time.Millisecond, func() { skew = 0 })
		for _, p := range []*world.Process{w.Process("a"), w.Process("b")} {
			p.Go("main", func() {
				for range 3 {
					p.Clock().Sleep(time.Second)
					w.Trace(p.Name, "says", p.Clock().Since(world.Start).String())
				}
			})
		}
	})
	want := "1s a says 1s\n1s b says 1s\n2s a says 1h0m2s\n2s b says 2s\n3s a says 3s\n3s b says 3s"
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}
