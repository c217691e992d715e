package agent

import (
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "github.com/nmstate/kubernetes-nmstate/api/v1"
	"github.com/nmstate/kubernetes-nmstate/handler/idle"
	"github.com/nmstate/kubernetes-nmstate/handler/profiles"
)

// had has the interface configured on the host, with a profile on disk.
func (h *host) had(name string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.interfaces[name] = map[string]any{"name": name, "type": "dummy", "state": "up"}
	h.layers.tried(name, h.interfaces[name])
	h.layers.put(fileOf(profiles.DiskDir, name), h.layers.files[fileOf(profiles.RunDir, name)])
	delete(h.layers.files, fileOf(profiles.RunDir, name))
}

// takenOver makes the NodeNetworkState of a policy that the older project is said to have
// configured.
func (n *node) takenOver(policy, onDelete string) {
	n.t.Helper()
	nns := &v1.NodeNetworkState{ObjectMeta: metav1.ObjectMeta{Name: "node1", Generation: 2}}
	nns.Spec.DesiredState = v1.NewState([]byte(`{"interfaces":[{"name":"` + policy + `","type":"dummy","state":"up"}]}`))
	nns.Spec.Policy, nns.Spec.TakeOver = policy, true
	nns.Spec.Sources = []v1.DesiredSource{{
		Source: v1.Source{Policy: policy, Generation: 1, Hash: "h"}, OnDelete: onDelete, Paths: []string{"interfaces[" + policy + "]"},
	}}
	if err := n.api.Create(n.t.Context(), nns); err != nil {
		n.t.Fatal(err)
	}
}

func TestWhatTheOlderProjectHasConfiguredIsTakenOverAsItIs(t *testing.T) {
	t.Parallel()
	for sentence, c := range map[string]struct {
		change  func(*host)
		applies int
	}{
		"the node has all of it":          {},
		"the node lacks it":               {change: func(h *host) { delete(h.interfaces, "br0") }, applies: 1},
		"the next boot would not have it": {change: func(h *host) { delete(h.layers.files, fileOf(profiles.DiskDir, "br0")) }, applies: 1},
		"NetworkManager has it disconnected": {change: func(h *host) {
			h.standing = map[string]profiles.Device{"br0": {Name: "br0", State: profiles.Disconnected}}
		}, applies: 1},
	} {
		t.Run(sentence, func(t *testing.T) {
			n := newNode(t)
			n.host.had("br0")
			if c.change != nil {
				c.change(n.host)
			}
			n.takenOver("br0", "")
			n.handler(quick)
			got := n.outcome(2)
			message := ""
			if c.applies == 0 {
				message = messageTakenOver
			}
			if got.Result != v1.TransactionCommitted || got.Message != message || n.host.count() != c.applies {
				t.Errorf("%s %q after %d applies, want %q after %d", got.Result, got.Message, n.host.count(), message, c.applies)
			}
			if (c.applies == 0) != (len(got.GuardedBy) == 0) {
				t.Errorf("guarded by %v after %d applies", got.GuardedBy, c.applies)
			}
		})
	}
}

// Profiles come up one after the other: what is lacking then is no reason to apply it.
func TestATakeOverWaitsUntilTheNodeIsCalm(t *testing.T) {
	t.Parallel()
	n := newNode(t)
	n.takenOver("br0", "")
	a, _ := n.handler(func(o *Options) { o.Damping = idle.Damping{Calm: time.Hour} })
	n.until("the node is reported", func() bool { return !n.get().Status.CurrentState.IsZero() })
	if n.host.count() != 0 {
		t.Fatal("it was applied while profiles were on their way up")
	}
	n.host.had("br0")
	a.NetworkChanged()
	if got := n.outcome(2); got.Message != messageTakenOver || n.host.count() != 0 {
		t.Errorf("%q after %d applies", got.Message, n.host.count())
	}
}

func TestAnUndoTakesNothingOfWhatTheOlderProjectMade(t *testing.T) {
	t.Parallel()
	n := newNode(t)
	n.host.had("br0")
	n.takenOver("br0", "Revert")
	n.handler(quick)
	n.outcome(2)
	n.edit(func(nns *v1.NodeNetworkState) {
		nns.Generation, nns.Spec.DesiredState, nns.Spec.Sources, nns.Spec.TakeOver = 3, v1.State{}, nil, false
	})
	if got := n.outcome(3); got.Result != v1.TransactionCommitted || !n.host.has("br0") || n.host.count() != 0 {
		t.Errorf("%s %q after %d applies, it is there: %v", got.Result, got.Message, n.host.count(), n.host.has("br0"))
	}
}
