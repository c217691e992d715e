package desired

import (
	"slices"
	"testing"

	v1 "github.com/nmstate/kubernetes-nmstate/api/v1"
)

const (
	small = `{"interfaces":[{"name":"e1","type":"ethernet","mtu":1400}]}`
	large = `{"interfaces":[{"name":"e1","type":"ethernet","mtu":1500}]}`
)

// TestAPolicyThatIsOlderThanItsEnactmentIsWaitedFor: a process that has just
// started may be shown policies as they were before enactments that it is shown,
// too. For the older generation it would forget how the newer one failed.
func TestAPolicyThatIsOlderThanItsEnactmentIsWaitedFor(t *testing.T) {
	w := newWorld(t)
	w.policy("a", small, 0)
	was := *w.policies["a"]
	w.turns()
	w.policy("a", large, 0)
	w.turns()
	w.approve("a")
	w.turns()
	w.handle("Idle", v1.TransactionRolledBack, true, "probing: api-server did not answer")
	w.turns()
	lost := standing(w.enactment("a").Status)

	now := w.policies["a"]
	w.policies["a"] = &was
	if d := w.decide(); !d.Empty() || d.RequeueAfter == 0 {
		t.Errorf("shown generation 1 it decides %+v, want that it looks again", d)
	}
	w.turns()
	w.policies["a"] = now
	w.turns()
	if got := standing(w.enactment("a").Status); got != lost || len(w.state.Spec.Sources) != 0 {
		t.Errorf("the enactment says %s, want %s; the spec has %v", got, lost, w.state.Spec.Sources)
	}
}

// TestANodeGoesBackForAnEnactmentThatIsReadLive: what was committed of a policy is
// what its enactment says, and a cache may show one of long ago.
func TestANodeGoesBackForAnEnactmentThatIsReadLive(t *testing.T) {
	w := newWorld(t)
	w.policy("a", small, 0)
	was := *w.policies["a"]
	var old v1.NodeNetworkConfigurationEnactment
	for _, text := range []string{small, large} {
		if text == large {
			old = *w.enactment("a")
			w.policy("a", text, 0)
		}
		w.turns()
		w.approve("a")
		w.turns()
		w.handle("Idle", v1.TransactionCommitted, false, "")
		w.turns()
	}
	w.policies["a"], w.enactments["n1.a"] = &was, &old
	d := w.decide()
	if d.Spec == nil || !slices.Equal(d.GivesUp, []string{"a"}) {
		t.Errorf("it goes back for %v with %+v, want that the enactment of a is read live first", d.GivesUp, d.Spec)
	}
}
