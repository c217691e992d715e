package agent

import (
	"context"
	"errors"
	"testing"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "github.com/nmstate/kubernetes-nmstate/api/v1"
	"github.com/nmstate/kubernetes-nmstate/handler/idle"
	"github.com/nmstate/kubernetes-nmstate/handler/state"
)

func TestALostChangeIsNotTriedAgainInANewerGeneration(t *testing.T) {
	t.Parallel()
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
		"somebody wrote over it, and it is put right": {func(n *node) {
			was := n.get().Spec.DesiredState
			n.edit(func(nns *v1.NodeNetworkState) { nns.Generation, nns.Spec.DesiredState = 3, v1.State{} })
			n.until("that is seen", func() bool { return n.get().Status.ObservedGeneration == 3 })
			n.edit(func(nns *v1.NodeNetworkState) { nns.Generation, nns.Spec.DesiredState = 4, was })
		}, 1},
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

// ahead reads what the cache is behind of.
type ahead struct {
	client.Reader
	generation int64
}

func (a ahead) Get(ctx context.Context, key client.ObjectKey, object client.Object, o ...client.GetOption) error {
	err := a.Reader.Get(ctx, key, object, o...)
	object.SetGeneration(max(object.GetGeneration(), a.generation))
	return err
}

// The cache of a handler that has just started may show the desired state as it was
// before the change.
func TestALostChangeIsNotForgottenByACacheThatIsBehind(t *testing.T) {
	t.Parallel()
	n := newNode(t)
	_, kill := n.handler()
	n.want(2, "p", "br0")
	n.outcome(2)
	was := n.get().Spec
	n.edit(func(nns *v1.NodeNetworkState) { nns.Generation, nns.Spec.Sources[0].Generation = 3, 3 })
	n.outcome(3)
	n.want(4, "p", "br0", "cut")
	n.outcome(4)
	kill()
	now, tries := n.get().Spec, n.host.count()
	n.edit(func(nns *v1.NodeNetworkState) { nns.Generation, nns.Spec = 2, was })
	n.handler(func(o *Options) { o.Live = ahead{o.Live, 4} })
	n.outcome(2)
	n.edit(func(nns *v1.NodeNetworkState) { nns.Generation, nns.Spec = 4, now })
	if got := n.outcome(4); got.Result != v1.TransactionRolledBack || !got.Final || n.host.count() != tries {
		t.Errorf("outcome = %+v after %d applies more", got, n.host.count()-tries)
	}
}

func TestALostChangeIsNotTriedAgainByTheNextHandler(t *testing.T) {
	t.Parallel()
	n := newNode(t)
	_, kill := n.handler()
	n.want(2, "p", "cut")
	n.outcome(2)
	kill()
	n.edit(func(nns *v1.NodeNetworkState) { nns.Generation = 3 })
	n.handler()
	if got := n.outcome(3); got.Result != v1.TransactionRolledBack || !got.Final || n.host.count() != 1 {
		t.Errorf("outcome = %+v after %d applies", got, n.host.count())
	}
}

func TestAChangeThatFailedIsNotTriedAtOnceInANewerGeneration(t *testing.T) {
	t.Parallel()
	no := false
	for sentence, c := range map[string]struct {
		policy string
		then   func(nns *v1.NodeNetworkState)
		tried  bool
	}{
		"the node was set aside and back":                 {"p", func(*v1.NodeNetworkState) {}, false},
		"by hand: the node was set aside and back":        {"", func(*v1.NodeNetworkState) {}, false},
		"by hand: other probes guard it":                  {"", func(nns *v1.NodeNetworkState) { nns.Spec.DefaultProbes = v1.DefaultProbesDrop }, true},
		"by hand: something else is wanted":               {"", func(nns *v1.NodeNetworkState) { nns.Spec.DesiredState = dummy("br1") }, true},
		"another generation of the policy wants the same": {"p", func(nns *v1.NodeNetworkState) { nns.Spec.Sources[0].Generation++ }, true},
	} {
		t.Run(sentence, func(t *testing.T) {
			n := newNode(t)
			n.host.refuse = errors.New("no")
			n.handler(func(o *Options) { o.Backoff = idle.Backoff{First: time.Hour, Most: time.Hour} })
			n.want(2, c.policy, "br0")
			first := n.outcome(2)
			n.host.mu.Lock()
			n.host.refuse = nil
			n.host.mu.Unlock()
			n.edit(func(nns *v1.NodeNetworkState) { nns.Generation, nns.Spec.Managed = 3, &no })
			<-time.After(300 * time.Millisecond) // It is seen, or merged with what follows.
			n.edit(func(nns *v1.NodeNetworkState) {
				nns.Generation, nns.Spec.Managed = 4, nil
				c.then(nns)
			})
			if got := n.outcome(4); (got.Result == v1.TransactionCommitted) != c.tried || !c.tried && got.Message != first.Message {
				t.Errorf("outcome = %+v", got)
			}
			if n.host.count() != 0 != c.tried {
				t.Errorf("%d applies", n.host.count())
			}
		})
	}
}

func dummy(name string) v1.State {
	return v1.NewState(state.FromTree(map[string]any{
		"interfaces": []any{map[string]any{"name": name, "type": "dummy", "state": "up"}},
	}).JSON())
}
