package desired

import (
	"testing"

	v1 "github.com/nmstate/kubernetes-nmstate/api/v1"
)

// TestAFailureIsRecordedBeforeTheSpecGoesBack: a cache that began before the
// enactment was made (a restart in the trial) does not show it for as long as the change
// has cut the node off. What the state handler says of the spec is all that
// tells of the failure then.
func TestAFailureIsRecordedBeforeTheSpecGoesBack(t *testing.T) {
	w := newWorld(t)
	w.policy("a", `{"interfaces":[{"name":"e1","type":"ethernet","mtu":1400}]}`, 0)
	w.turns()
	w.approve("a")
	w.turns()
	w.handle("Idle", v1.TransactionRolledBack, true, "probing: api-server did not answer")

	unseen := w.enactments
	w.enactments = map[string]*v1.NodeNetworkConfigurationEnactment{}
	d := w.decide()
	if d.Spec != nil || len(d.Create) != 1 {
		t.Fatalf("without an enactment it decides %+v, want that it makes one and leaves the spec", d)
	}
	w.enactments = unseen
	w.turns()
	if w.enactment("a").Status.Retry == nil || len(w.state.Spec.Sources) != 0 {
		t.Errorf("the enactment says %s, the spec has %v", standing(w.enactment("a").Status), w.state.Spec.Sources)
	}
	for range 3 {
		w.turns()
	}
	if len(w.state.Spec.Sources) != 0 {
		t.Error("it is tried again")
	}
}
