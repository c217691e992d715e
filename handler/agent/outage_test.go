package agent

import (
	"testing"

	v1 "github.com/nmstate/kubernetes-nmstate/api/v1"
)

func TestALostChangeIsNotTriedAgainInANewerGeneration(t *testing.T) {
	for sentence, c := range map[string]struct {
		then  func(n *node)
		tries int
	}{
		"the same is wanted again": {func(n *node) { n.edit(func(nns *v1.NodeNetworkState) { nns.Generation = 3 }) }, 1},
		"something else is wanted": {func(n *node) { n.want(3, "p", "cut", "br0") }, 2},
		"the same is wanted, after nothing was": {func(n *node) {
			was := n.get().Spec
			n.edit(func(nns *v1.NodeNetworkState) { nns.Generation, nns.Spec = 3, v1.NodeNetworkStateSpec{} })
			n.until("that is seen", func() bool { return n.get().Status.ObservedGeneration == 3 })
			n.edit(func(nns *v1.NodeNetworkState) { nns.Generation, nns.Spec = 4, was })
		}, 2},
	} {
		t.Run(sentence, func(t *testing.T) {
			n := newNode(t)
			n.handler()
			n.want(2, "p", "cut")
			if got := n.outcome(2); got.Result != v1.TransactionRolledBack || !got.Final {
				t.Fatalf("outcome = %+v", got)
			}
			c.then(n)
			if got := n.outcome(n.get().Generation); got.Result != v1.TransactionRolledBack || !got.Final {
				t.Errorf("outcome = %+v", got)
			}
			if n.host.count() != c.tries {
				t.Errorf("%d applies, want %d", n.host.count(), c.tries)
			}
		})
	}
}
