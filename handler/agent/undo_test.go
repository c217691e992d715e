package agent

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clocktesting "k8s.io/utils/clock/testing"

	v1 "github.com/nmstate/kubernetes-nmstate/api/v1"
	"github.com/nmstate/kubernetes-nmstate/handler/backend"
	"github.com/nmstate/kubernetes-nmstate/handler/deadline"
	"github.com/nmstate/kubernetes-nmstate/handler/idle"
	"github.com/nmstate/kubernetes-nmstate/handler/journal"
	"github.com/nmstate/kubernetes-nmstate/handler/profiles"
	"github.com/nmstate/kubernetes-nmstate/handler/state"
)

// wantFrom writes what policies want, each one interface of its own name.
func (n *node) wantFrom(generation int64, onDelete string, policies ...string) {
	n.t.Helper()
	var list []any
	var sources []v1.DesiredSource
	for _, name := range policies {
		list = append(list, map[string]any{"name": name, "type": "dummy", "state": "up"})
		sources = append(sources, v1.DesiredSource{
			Source:   v1.Source{Policy: name, Generation: 1, Hash: "h"},
			OnDelete: onDelete, Paths: []string{"interfaces[" + name + "]"},
		})
	}
	n.edit(func(nns *v1.NodeNetworkState) {
		nns.Generation = generation
		nns.Spec.DesiredState, nns.Spec.Sources = v1.State{}, sources
		if list != nil {
			nns.Spec.DesiredState = v1.NewState(state.FromTree(map[string]any{"interfaces": list}).JSON())
		}
	})
}

func (n *node) failing() (bool, string) {
	for _, c := range n.get().Status.Conditions {
		if c.Type == v1.StateFailing {
			return c.Status == metav1.ConditionTrue, c.Message
		}
	}
	return false, ""
}

func TestWhatAPolicyMadeGoesWithItOnlyWhereItSaysRevert(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		onDelete string
		stays    bool
	}{
		"Revert takes it away":     {"Revert", false},
		"Retain leaves it":         {"Retain", true},
		"saying nothing leaves it": {"", true},
	} {
		t.Run(name, func(t *testing.T) {
			n := newNode(t)
			n.handler()
			n.wantFrom(2, c.onDelete, "a", "b")
			n.outcome(2)
			n.wantFrom(3, c.onDelete, "b")
			if got := n.outcome(3); got.Result != v1.TransactionCommitted {
				t.Fatalf("removal of a = %+v", got)
			}
			if n.host.has("a") != c.stays || !n.host.has("b") {
				t.Fatalf("a there: %v, b there: %v", n.host.has("a"), n.host.has("b"))
			}
			n.wantFrom(4, c.onDelete)
			if got := n.outcome(4); got.Result != v1.TransactionCommitted {
				t.Fatalf("removal of b = %+v", got)
			}
			if n.host.has("b") != c.stays || !n.host.has("eth0") {
				t.Fatalf("b there: %v, eth0 there: %v", n.host.has("b"), n.host.has("eth0"))
			}
			n.quiet()
		})
	}
}

func TestAnUndoThatCutsTheNodeOffIsTakenBackAndItsConfigurationStays(t *testing.T) {
	t.Parallel()
	n := newNode(t)
	n.handler()
	n.wantFrom(2, "Revert", "a", "b")
	n.outcome(2)
	n.host.need("a")
	n.wantFrom(3, "Revert", "b")
	n.until("the node has let go of a", func() bool {
		return n.get().Status.AppliedHash == hashOf(n.get().Spec.DesiredState) && n.get().Status.ObservedGeneration == 3
	})
	failing, message := n.failing()
	if !failing || !strings.Contains(message, "undo of policy a") || !strings.Contains(message, "api-server: no answer") || !strings.Contains(message, "its configuration stays") {
		t.Fatalf("failing: %v: %s", failing, message)
	}
	applies := n.host.count()
	n.quiet()
	if !n.host.has("a") || n.host.count() != applies {
		t.Fatalf("a there: %v, applies %d, then %d", n.host.has("a"), applies, n.host.count())
	}
	n.wantFrom(4, "Revert", "b", "c")
	n.outcome(4)
	n.until("it is not said any more", func() bool { failing, _ := n.failing(); return !failing })
	if !n.host.has("a") {
		t.Fatal("a went with another change")
	}
}

func TestAnUndoThatWasRefusedIsTriedAgain(t *testing.T) {
	t.Parallel()
	n := newNode(t)
	n.handler(func(o *Options) { o.Backoff = idle.Backoff{First: 10 * time.Millisecond, Most: 10 * time.Millisecond} })
	n.wantFrom(2, "Revert", "a", "b")
	n.outcome(2)
	n.host.mu.Lock()
	n.host.refuse = context.DeadlineExceeded
	n.host.mu.Unlock()
	n.wantFrom(3, "Revert", "b")
	if got := n.outcome(3); got.Result != v1.TransactionRefused || got.RetryAfter == nil {
		t.Fatalf("outcome = %+v", got)
	}
	n.host.mu.Lock()
	n.host.refuse = nil
	n.host.mu.Unlock()
	n.until("a is gone", func() bool { return !n.host.has("a") && n.outcome(3).Result == v1.TransactionCommitted })
}

func TestAnUndoThatNeverWorksEndsAndItsConfigurationStays(t *testing.T) {
	t.Parallel()
	for name, late := range map[string]bool{"it is refused": false, "it fails once something was changed": true} {
		t.Run(name, func(t *testing.T) {
			n := newNode(t)
			n.handler(func(o *Options) {
				o.Backoff = idle.Backoff{First: time.Millisecond, Most: time.Millisecond}
				o.Backend = clings{o.Backend.(mortal), "a", late}
			})
			n.wantFrom(2, "Revert", "a", "b")
			n.outcome(2)
			n.wantFrom(3, "Revert", "b")
			n.until("the node has let go of a", func() bool { return n.get().Status.AppliedHash == hashOf(n.get().Spec.DesiredState) })
			failing, said := n.failing()
			if !failing || !strings.HasPrefix(said, "undo of policy a: ") || !strings.HasSuffix(said, "its configuration stays, as with onDelete: Retain") {
				t.Errorf("failing: %v: %s", failing, said)
			}
			n.wantFrom(4, "Revert", "b", "c")
			if got := n.outcome(4); got.Result != v1.TransactionCommitted || got.Attempts != 0 || !n.host.has("a") || !n.host.has("c") {
				t.Errorf("the next policy: %+v, a there: %v, c there: %v", got, n.host.has("a"), n.host.has("c"))
			}
			n.quiet()
		})
	}
}

// clings is a host that takes an interface not away, as nmstate does with a mac-vtap.
type clings struct {
	mortal
	name string
	late bool
}

func (c clings) Apply(ctx context.Context, s state.State, d time.Duration, armed func(backend.Checkpoint)) (backend.Checkpoint, profiles.Files, error) {
	one, is := s.Interface(c.name)
	if !is || !one.IsAbsent() {
		return c.mortal.Apply(ctx, s, d, armed)
	}
	if !c.late {
		return "", nil, fmt.Errorf("%w: it cannot be taken away", backend.ErrInvalid)
	}
	if _, _, err := c.mortal.Apply(ctx, s, d, armed); err != nil {
		return "", nil, err
	}
	return "", nil, errors.New("verifying: it is still there")
}

// deaf is a node whose NetworkManager does not answer.
type deaf struct{ *host }

func (deaf) Pending(context.Context) ([]backend.Pending, error) { return nil, backend.ErrUnavailable }

func TestWhetherAChangeWouldFindTheNodeFree(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		pending backend.Checkpoint
		away    bool
		want    bool
	}{
		"NetworkManager has no checkpoint":   {want: true},
		"it has one that somebody else made": {pending: "somebody's"},
		"it does not answer":                 {away: true},
	} {
		t.Run(name, func(t *testing.T) {
			h := newHost()
			h.checkpoint = c.pending
			a := &Agent{Options: Options{Clock: deadline.On(clocktesting.NewFakeClock(time.Unix(1_000_000, 0))), Backend: h}}
			if c.away {
				a.Backend = deaf{h}
			}
			if got := a.isFree(t.Context()); got != c.want {
				t.Errorf("got %t", got)
			}
		})
	}
}

func TestAHandlerThatIsKilledInMidUndoIsFollowedByOneThatCompletesIt(t *testing.T) {
	t.Parallel()
	n := newNode(t)
	_, kill := n.handler()
	n.wantFrom(2, "Revert", "a", "b")
	n.outcome(2)
	n.host.mu.Lock()
	n.host.hold = make(chan struct{})
	n.host.mu.Unlock()
	n.wantFrom(3, "Revert", "b")
	n.until("the undo is in place", func() bool { return !n.host.has("a") })
	kill()
	n.host.mu.Lock()
	n.host.hold = nil
	n.host.mu.Unlock()
	_, kill = n.handler(func(o *Options) { o.Backoff = idle.Backoff{First: 10 * time.Millisecond, Most: 10 * time.Millisecond} })
	n.until("a is gone for good", func() bool {
		last := n.outcome(3)
		return !n.host.has("a") && last.Result == v1.TransactionCommitted
	})
	kill()
	if record := n.record(); strings.Contains(string(record.Originals), `"a"`) {
		t.Fatalf("a is still remembered: %s", record.Originals)
	}
}

func (n *node) record() journal.Record {
	n.t.Helper()
	files, err := journal.NewFiles(n.dir)
	if err != nil {
		n.t.Fatal(err)
	}
	record, err := files.Record()
	if err != nil {
		n.t.Fatal(err)
	}
	return record
}

func TestARecordOfAnOlderHandlerUndoesNothing(t *testing.T) {
	t.Parallel()
	n := newNode(t)
	_, kill := n.handler()
	n.wantFrom(2, "Revert", "a", "b")
	n.outcome(2)
	kill()
	record := n.record()
	record.Originals = nil
	files, err := journal.NewFiles(n.dir)
	if err != nil {
		t.Fatal(err)
	}
	if err := files.Close(record); err != nil {
		t.Fatal(err)
	}
	n.handler()
	n.wantFrom(3, "Revert", "b")
	n.outcome(3)
	n.wantFrom(4, "Revert")
	n.outcome(4)
	if !n.host.has("a") || !n.host.has("b") {
		t.Fatal("something was taken away that may have been there before")
	}
}
