package host_test

import (
	"fmt"
	"runtime"
	"testing"
	"time"

	"github.com/nmstate/kubernetes-nmstate/handler/state"
	"github.com/nmstate/kubernetes-nmstate/sim/host"
	"github.com/nmstate/kubernetes-nmstate/sim/world"
)

// BenchmarkApply is a bridge on a spare NIC: apply, show, commit.
func BenchmarkApply(b *testing.B) {
	b.ReportAllocs()
	w := world.New(1)
	h, p := host.New(w, "node1", labNode()), w.Process("handler")
	var desired []state.State
	for _, mtu := range []int{1400, 1500} {
		desired = append(desired, state.FromTree(map[string]any{"interfaces": []any{map[string]any{
			"name": "br1", "type": "linux-bridge", "state": "up", "mtu": mtu, "bridge": map[string]any{"port": []any{map[string]any{"name": "eth1"}}},
		}}}))
	}
	done := 0
	p.Go("apply", func() {
		port := h.Backend(p)
		for ; done < b.N; done++ {
			made, _, err := port.Apply(b.Context(), desired[done%2], time.Minute, nil)
			if err == nil {
				err = port.Commit(b.Context(), made)
			}
			if err != nil {
				b.Error(err)
				return
			}
		}
	})
	if err := w.RunUntil(1<<60, func() bool { return done >= b.N || b.Failed() }); err != nil {
		b.Fatal(err)
	}
}

// BenchmarkShow is the first Show after a change.
func BenchmarkShow(b *testing.B) {
	b.ReportAllocs()
	h := host.New(world.New(1), "node1", labNode())
	for i := range b.N {
		h.SetMTU("eth1", 1300+i%100)
		h.Show()
	}
}

// BenchmarkHosts tells what a host takes in memory.
func BenchmarkHosts(b *testing.B) {
	w := world.New(1)
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	hosts := make([]*host.Host, b.N)
	for i := range hosts {
		hosts[i] = host.New(w, fmt.Sprint("node", i), labNode())
		hosts[i].Show()
	}
	runtime.GC()
	runtime.ReadMemStats(&after)
	b.ReportMetric(float64(after.HeapAlloc-before.HeapAlloc)/float64(b.N), "B/host")
	runtime.KeepAlive(hosts)
}
