package agent

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "github.com/nmstate/kubernetes-nmstate/api/v1"
	"github.com/nmstate/kubernetes-nmstate/handler/backend"
	"github.com/nmstate/kubernetes-nmstate/handler/idle"
)

func TestAChangeThatKeepsTheNodeConnectedIsCommittedAndReported(t *testing.T) {
	t.Parallel()
	n := newNode(t)
	n.handler()
	n.want(2, "p", "br0")
	got := n.outcome(2)
	if got.Result != v1.TransactionCommitted || got.Policy != "p" {
		t.Fatalf("outcome = %+v", got)
	}
	if !slices.Equal(got.GuardedBy, []string{"api-server", "default-gateway"}) {
		t.Errorf("guarded by %v", got.GuardedBy)
	}
	n.until("br0 is reported", func() bool { return strings.Contains(string(n.get().Status.CurrentState.Raw), "br0") })
	if hash := n.get().Status.AppliedHash; hash != hashOf(n.get().Spec.DesiredState) {
		t.Errorf("applied hash %s", hash)
	}
}

func TestAChangeThatCutsTheNodeOffIsTakenBackAndNotTriedAgain(t *testing.T) {
	t.Parallel()
	n := newNode(t)
	before, _ := n.host.Show(t.Context())
	n.handler()
	n.want(2, "p", "cut")
	got := n.outcome(2)
	if got.Result != v1.TransactionRolledBack || !got.Final || !strings.Contains(got.Message, "api-server: no answer") {
		t.Fatalf("outcome = %+v", got)
	}
	after, _ := n.host.Show(t.Context())
	if diff := cmp.Diff(string(before.JSON()), string(after.JSON())); diff != "" {
		t.Fatalf("the node is not as before:\n%s", diff)
	}
	n.quiet()
	if n.host.count() != 1 {
		t.Errorf("%d applies, want 1", n.host.count())
	}
}

// quiet checks that nothing is written while nothing changes.
func (n *node) quiet() {
	n.t.Helper()
	n.mu.Lock()
	before := n.writes
	n.mu.Unlock()
	<-time.After(300 * time.Millisecond)
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.writes != before {
		n.t.Errorf("%d writes while nothing changed", n.writes-before)
	}
}

func TestAHandlerThatIsKilledInTheWindowIsFollowedByOneThatTakesTheChangeBack(t *testing.T) {
	t.Parallel()
	for name, fault := range map[string]func(*node){
		"by the checkpoint while it is alive":                   func(*node) {},
		"by the journal's revert when NetworkManager restarted": func(n *node) { n.host.restartNetworkManager() },
		"by the journal's revert after a power cut": func(n *node) {
			n.host.restartNetworkManager()
			n.boot = boot{"second"}
		},
	} {
		t.Run(name, func(t *testing.T) {
			n := newNode(t)
			_, kill := n.handler(func(o *Options) { o.Window = time.Hour })
			n.want(2, "p", "br0", "cut")
			n.until("the change is in place", func() bool { return n.host.has("cut") })
			kill()
			fault(n)
			n.handler()
			got := n.outcome(2)
			if got.Result != v1.TransactionRolledBack || !strings.Contains(got.Message, "handler was restarted") {
				t.Fatalf("outcome = %+v", got)
			}
			if n.host.has("cut") || n.host.has("br0") {
				t.Error("the node is not as before")
			}
		})
	}
}

func TestNetworkManagerThatRestartsInTheWindowDoesNotMakeTheChangePermanent(t *testing.T) {
	t.Parallel()
	n := newNode(t)
	a, _ := n.handler(func(o *Options) { o.Window = time.Hour })
	n.want(2, "p", "cut")
	n.until("the change is in place", func() bool { return n.host.has("cut") })
	n.host.restartNetworkManager()
	a.NetworkManagerRestarted()
	got := n.outcome(2)
	if got.Result != v1.TransactionRolledBack || n.host.has("cut") {
		t.Fatalf("outcome = %+v, cut there: %v", got, n.host.has("cut"))
	}
}

func TestAHandlerThatRestartsAppliesNothingThatIsCommitted(t *testing.T) {
	t.Parallel()
	n := newNode(t)
	_, kill := n.handler()
	n.want(2, "p", "br0")
	n.outcome(2)
	kill()
	n.handler()
	n.edit(func(nns *v1.NodeNetworkState) { nns.Labels = map[string]string{"unrelated": "label"} })
	n.quiet()
	if n.host.count() != 1 {
		t.Errorf("%d applies, want 1", n.host.count())
	}
}

func TestAMalformedDesiredStateIsRefusedByName(t *testing.T) {
	t.Parallel()
	n := newNode(t)
	n.handler()
	n.edit(func(nns *v1.NodeNetworkState) {
		nns.Generation = 2
		nns.Spec.Sources = []v1.DesiredSource{{Source: v1.Source{Policy: "p", Generation: 1, Hash: "h"}}}
		nns.Spec.DesiredState = v1.NewState([]byte(`{"interfaces":"all of them"}`))
	})
	got := n.outcome(2)
	if got.Result != v1.TransactionRefused || !got.Final || !strings.Contains(got.Message, "interfaces") {
		t.Fatalf("outcome = %+v", got)
	}
	if n.host.count() != 0 {
		t.Error("something was applied")
	}
}

func TestWhatTheBackendRefusesHasChangedNothingAndIsTriedAgainWhenItWasWrittenByHand(t *testing.T) {
	t.Parallel()
	n := newNode(t)
	n.host.refuse = fmt.Errorf("%w: eth9 does not exist", backend.ErrInvalid)
	n.handler(func(o *Options) { o.Backoff = idle.Backoff{First: 10 * time.Millisecond, Most: 10 * time.Millisecond} })
	n.want(2, "", "br0")
	got := n.outcome(2)
	if got.Result != v1.TransactionRefused || got.RetryAfter == nil || !strings.Contains(got.Message, "eth9 does not exist") {
		t.Fatalf("outcome = %+v", got)
	}
	n.host.mu.Lock()
	n.host.refuse = nil
	n.host.mu.Unlock()
	n.until("the retry succeeded", func() bool { return n.host.has("br0") && n.outcome(2).Result == v1.TransactionCommitted })
}

func TestAnEditInMidApplyEndsTheApplyAndTheEditIsApplied(t *testing.T) {
	t.Parallel()
	n := newNode(t)
	n.host.hold = make(chan struct{})
	n.handler()
	n.want(2, "p", "br0")
	n.until("the apply is under way", func() bool { return n.host.has("br0") })
	n.host.mu.Lock()
	n.host.hold = nil
	n.host.mu.Unlock()
	n.want(3, "p", "br1")
	if got := n.outcome(3); got.Result != v1.TransactionCommitted {
		t.Fatalf("outcome = %+v", got)
	}
	if n.host.has("br0") || !n.host.has("br1") {
		t.Error("want br1 and no br0")
	}
}

func TestAnUnmanagedNodeIsNeitherChangedNorReported(t *testing.T) {
	t.Parallel()
	n := newNode(t)
	n.handler()
	n.until("the node is reported", func() bool { s := n.get(); return s != nil && !s.Status.CurrentState.IsZero() })
	no := false
	n.edit(func(nns *v1.NodeNetworkState) { nns.Spec.Managed = &no })
	n.want(2, "p", "br0")
	n.until("it is told, once, that the report gets old", func() bool { return n.available() == "Unknown NodeNotManaged of generation 2" })
	n.quiet()
	n.want(3, "p", "br1")
	n.until("who waits for it after an edit is told so", func() bool { return n.available() == "Unknown NodeNotManaged of generation 3" })
	n.quiet()
	if status := n.get().Status; status.ObservedGeneration != 0 {
		t.Errorf("generation %d is told as dealt with", status.ObservedGeneration)
	}
	if n.host.count() != 0 {
		t.Error("something was applied")
	}
	yes := true
	n.edit(func(nns *v1.NodeNetworkState) { nns.Spec.Managed = &yes })
	n.outcome(3)
	n.until("it is reported again", func() bool { return n.available() == "True Reported" })
}

func TestANodeThatWasNeverManagedSaysSo(t *testing.T) {
	t.Parallel()
	n := newNode(t)
	no := false
	if err := n.api.Create(t.Context(), &v1.NodeNetworkState{
		ObjectMeta: metav1.ObjectMeta{Name: "node1", Generation: 1}, Spec: v1.NodeNetworkStateSpec{Managed: &no},
	}); err != nil {
		t.Fatal(err)
	}
	n.handler()
	n.until("it is told", func() bool { return n.available() == "Unknown NodeNotManaged of generation 1" })
	n.quiet()
}

// available is the condition Available of the node's report.
func (n *node) available() string {
	for _, c := range n.get().Status.Conditions {
		if c.Type != v1.StateAvailable {
			continue
		}
		said := string(c.Status) + " " + string(c.Reason)
		if c.ObservedGeneration != 0 {
			said += fmt.Sprintf(" of generation %d", c.ObservedGeneration)
		}
		return said
	}
	return ""
}

func TestOnlyWhatChangedIsApplied(t *testing.T) {
	t.Parallel()
	n := newNode(t)
	n.handler()
	n.want(2, "p", "br0")
	n.outcome(2)
	n.host.mu.Lock()
	delete(n.host.interfaces, "br0") // Would come back if br0 were applied again.
	n.host.mu.Unlock()
	n.want(3, "p", "br0", "br1")
	if n.outcome(3).Result == v1.TransactionCommitted && n.host.has("br0") {
		t.Error("br0 was applied again, though it did not change")
	}
}

var _ backend.Backend = (*host)(nil)
