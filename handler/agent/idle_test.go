package agent

import (
	"context"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/clock"

	v1 "github.com/nmstate/kubernetes-nmstate/api/v1"
	"github.com/nmstate/kubernetes-nmstate/handler/deadline"
	"github.com/nmstate/kubernetes-nmstate/handler/journal"
	"github.com/nmstate/kubernetes-nmstate/handler/txn"
)

func TestWhatChangesNothingIsCommittedOnlyIfItIsWantedByNow(t *testing.T) {
	t.Parallel()
	long, now := v1.NewState([]byte(`{}`)), v1.NewState([]byte(`{"interfaces":[{"name":"br0","type":"dummy","state":"up"}]}`))
	for sentence, c := range map[string]struct {
		cached, live v1.State
		unmanaged    bool
		generation   int64
		later        bool
		committed    bool
	}{
		"the cache shows what is wanted":               {cached: now, live: now, committed: true},
		"the cache of a start shows what was long ago": {cached: long, live: now},
		"nobody manages the node any more":             {cached: now, live: now, unmanaged: true},
		"the same is wanted by a newer generation":     {cached: now, live: now, generation: 3},
		"the same was withdrawn, and is wanted again":  {cached: now, live: now, later: true},
	} {
		t.Run(sentence, func(t *testing.T) {
			n := newNode(t)
			managed := !c.unmanaged
			nns := &v1.NodeNetworkState{ObjectMeta: metav1.ObjectMeta{Name: "node1"}}
			nns.Spec.Managed, nns.Spec.DesiredState = &managed, c.live
			if c.later {
				nns.Generation = 2
			}
			from := func(generation int64) []v1.DesiredSource {
				return []v1.DesiredSource{{Source: v1.Source{Policy: "p", Generation: generation, Hash: "h"}}}
			}
			nns.Spec.Sources = from(c.generation)
			if err := n.api.Create(t.Context(), nns); err != nil {
				t.Fatal(err)
			}
			files, err := journal.NewFiles(n.dir)
			if err != nil {
				t.Fatal(err)
			}
			a, err := New(Options{
				Node: "node1", Client: n.api, Live: n.api, Backend: mortal{n.host, context.Background()}, Prober: probes{host: n.host}, Journal: files,
				Boot: n.boot, Clock: deadline.On(clock.RealClock{}), Spawn: func(func()) {}, Window: fakeWindow,
			})
			if err != nil {
				t.Fatal(err)
			}
			wait := a.commitUntried(t.Context(), txn.Change{Hash: hashOf(c.cached)}, journal.Entry{Desired: c.cached.Raw, Sources: from(0)}, "")
			if got := a.record.Committed != nil; got != c.committed || (wait == 0) != c.committed {
				t.Errorf("committed %t and again after %s, want it committed: %t", got, wait, c.committed)
			}
		})
	}
}

func TestWhatAPersonWritesIsAppliedInOneSpellingAndNotAgainInAnother(t *testing.T) {
	t.Parallel()
	const canonical = `{"interfaces":[{"link-aggregation":{"mode":"802.3ad","options":{"miimon":100}},"mtu":1400,"name":"bond9","state":"up","type":"bond"}]}`
	n := newNode(t)
	n.handler()
	write := func(generation int64, desired string) {
		n.edit(func(nns *v1.NodeNetworkState) {
			nns.Generation, nns.Spec.DesiredState = generation, v1.NewState([]byte(desired))
		})
		if got := n.outcome(generation); got.Result != v1.TransactionCommitted {
			t.Fatalf("%s: %+v", desired, got)
		}
	}
	write(2, `{"interfaces":[{"name":"bond9","type":"bond","state":"up","mtu":"0x578","bond":{"mode":"lacp","options":{"miimon":"0x64"}}}]}`)
	if got := n.host.told; len(got) != 1 || got[0] != canonical {
		t.Fatalf("applied: %q, want %s", got, canonical)
	}
	if got := string(n.record().Committed.Desired); got != canonical {
		t.Errorf("committed: %s", got)
	}
	write(3, `{"interfaces":[{"name":"bond9","type":"bond","state":"up","mtu":1400,"link-aggregation":{"mode":4,"options":{"miimon":100}}}]}`)
	if got := n.host.told; len(got) != 1 {
		t.Errorf("the same in another spelling is applied again: %s", got[1])
	}
}
