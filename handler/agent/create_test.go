package agent

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	v1 "github.com/nmstate/kubernetes-nmstate/api/v1"
)

func TestADeletedNodeNetworkStateComesBack(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		policy string
		// comesBack: with the desired state that it had.
		comesBack bool
	}{
		"as policies made it, and nothing is applied":             {policy: "p", comesBack: true},
		"without what was written by hand, and nothing is undone": {},
	} {
		t.Run(name, func(t *testing.T) {
			n := newNode(t)
			filters := true
			n.handler(func(o *Options) { o.BridgeVLANFiltering = &filters })
			n.want(2, c.policy, "br0")
			n.outcome(2)
			before := n.get()
			if err := n.api.Delete(t.Context(), n.get()); err != nil {
				t.Fatal(err)
			}
			n.until("the node is reported again", func() bool {
				nns := n.get()
				return nns != nil && !nns.Status.CurrentState.IsZero() && nns.Status.ObservedGeneration == nns.Generation
			})
			n.quiet()
			after := n.get()
			want := v1.NodeNetworkStateSpec{Managed: before.Spec.Managed, NodeName: "node1"}
			if c.comesBack {
				want.DesiredState, want.Sources = before.Spec.DesiredState, before.Spec.Sources
			}
			if diff := cmp.Diff(want, after.Spec); diff != "" {
				t.Errorf("spec (-want +got):\n%s", diff)
			}
			if n.host.count() != 1 || !n.host.has("br0") {
				t.Errorf("%d applies, br0 there: %v; want the first apply alone", n.host.count(), n.host.has("br0"))
			}
			if got := after.Status.BridgeVLANFiltering; got == nil || !*got {
				t.Errorf("bridgeVLANFiltering is %v", got)
			}
		})
	}
}

func TestAFailureOfADeletedNodeNetworkStateIsNotThatOfTheNewOne(t *testing.T) {
	t.Parallel()
	n := newNode(t)
	n.handler()
	n.want(2, "p", "cut")
	n.outcome(2)
	if err := n.api.Delete(t.Context(), n.get()); err != nil {
		t.Fatal(err)
	}
	n.until("the node is reported again", func() bool { nns := n.get(); return nns != nil && nns.Status.Transaction != nil })
	if got := n.get().Status.Transaction.Generation; got != 0 {
		t.Errorf("the old failure is told as one of generation %d", got)
	}
	n.want(2, "p", "br0")
	if got := n.outcome(2); got.Result != v1.TransactionCommitted {
		t.Errorf("outcome = %+v", got)
	}
}
