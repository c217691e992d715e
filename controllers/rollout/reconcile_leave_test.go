package rollout

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/util/intstr"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	v1 "github.com/nmstate/kubernetes-nmstate/api/v1"
)

// asks lets the nodes ask to undo the policy.
func (s *stage) asks(nodes ...string) {
	s.Helper()
	for _, node := range nodes {
		e := s.enactment(node)
		e.Status.WaitsToLeave = true
		if err := s.api.Status().Update(s.Context(), e); err != nil {
			s.Fatal(err)
		}
	}
}

func (s *stage) enactment(node string) *v1.NodeNetworkConfigurationEnactment {
	s.Helper()
	e := &v1.NodeNetworkConfigurationEnactment{}
	if err := s.api.Get(s.Context(), client.ObjectKey{Name: node + ".p"}, e); err != nil {
		s.Fatal(err)
	}
	return e
}

func (s *stage) deletes(object client.Object) {
	s.Helper()
	if err := s.api.Delete(s.Context(), object); err != nil {
		s.Fatal(err)
	}
}

func (s *stage) deletePolicy() {
	s.Helper()
	policy := &v1.NodeNetworkConfigurationPolicy{}
	policy.Name = "p"
	s.deletes(policy)
}

const letLeave = ` {"spec":{"leave":true}}`

func TestAPolicyThatIsGoneLeavesAsManyNodesAtATimeAsItSaidMayBeUnavailable(t *testing.T) {
	s := newStage(t, 1, configured("a"), configured("b"), configured("c"))
	s.deletePolicy()
	if writes, again := s.reconcile(); len(writes) > 0 || again != 0 {
		t.Errorf("nobody asks, and it writes %q, again in %v", writes, again)
	}
	s.asks("b", "c")
	writes, again := s.reconcile()
	if diff := cmp.Diff([]string{"b.p" + letLeave}, writes); diff != "" || again != time.Minute {
		t.Errorf("writes (-want +got):\n%s\nagain in %v", diff, again)
	}
	if writes, _ := s.reconcile(); len(writes) > 0 {
		t.Errorf("b still undoes it, and it writes %q", writes)
	}
	s.deletes(s.enactment("b"))
	writes, again = s.reconcile()
	if diff := cmp.Diff([]string{"c.p" + letLeave}, writes); diff != "" || again != 0 {
		t.Errorf("writes (-want +got):\n%s\nagain in %v", diff, again)
	}
}

func TestWhatAPolicySaidOfUnavailableNodesIsWrittenWithEachGrant(t *testing.T) {
	s := newStage(t, 2, on{name: "a"})
	e := s.enactment("a")
	e.Spec.MaxUnavailable = new(intstr.FromString("10%"))
	if err := s.api.Update(t.Context(), e); err != nil {
		t.Fatal(err)
	}
	writes, _ := s.reconcile()
	if diff := cmp.Diff([]string{`a.p {"spec":{"approvedGeneration":3,"maxUnavailable":2}}`, "p status"}, writes); diff != "" {
		t.Errorf("writes (-want +got):\n%s", diff)
	}
}

func TestALostReplyToALeaveHoldsItsTurn(t *testing.T) {
	s := newStage(t, 1, configured("a"), configured("b"))
	s.deletePolicy()
	s.asks("a", "b")
	s.refused = map[string]bool{"a.p": true}
	if _, err := s.reconciler.Reconcile(t.Context(), reconcile.Request{NamespacedName: client.ObjectKey{Name: "p"}}); err == nil {
		t.Fatal("no error")
	}
	s.writes = nil
	if writes, _ := s.reconcile(); len(writes) > 0 {
		t.Errorf("a may have been let, and it writes %q", writes)
	}
	s.clock.Step(unsureFor + time.Second)
	s.refused = nil
	if writes, _ := s.reconcile(); len(writes) != 1 || writes[0] != "a.p"+letLeave {
		t.Errorf("a was not let, and it writes %q", writes)
	}
}
