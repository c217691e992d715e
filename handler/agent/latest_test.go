package agent

import (
	"context"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/nmstate/kubernetes-nmstate/handler/backend"
	"github.com/nmstate/kubernetes-nmstate/handler/profiles"
	"github.com/nmstate/kubernetes-nmstate/handler/state"
)

// watched is a host that notes when it is read and when something is applied.
type watched struct {
	backend.Backend

	mu    sync.Mutex
	calls []string
}

func (n *watched) note(call string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.calls = append(n.calls, call)
}

func (n *watched) Show(ctx context.Context) (state.State, error) {
	n.note("show")
	return n.Backend.Show(ctx)
}

func (n *watched) Apply(ctx context.Context, desired state.State, life time.Duration, armed func(backend.Checkpoint)) (backend.Checkpoint, profiles.Files, error) {
	n.note("apply")
	return n.Backend.Apply(ctx, desired, life, armed)
}

// since are the calls since it was asked last.
func (n *watched) since() []string {
	n.mu.Lock()
	defer n.mu.Unlock()
	calls := n.calls
	n.calls = nil
	return calls
}

// listening is a node whose handler has reported it, and which tells what it hears.
type listening struct {
	*node
	watched *watched
	heard   atomic.Uint64
	deaf    atomic.Bool
}

func listen(t *testing.T) *listening {
	t.Helper()
	l := &listening{node: newNode(t)}
	l.handler(func(o *Options) {
		l.watched = &watched{Backend: o.Backend}
		o.Backend = l.watched
		o.Heard = func() (uint64, bool) { return l.heard.Load(), !l.deaf.Load() }
	})
	l.until("the node is reported", func() bool {
		nns := l.get()
		return nns != nil && !nns.Status.CurrentState.IsZero()
	})
	l.watched.since()
	return l
}

// beforeApply are the calls up to the apply of the generation that is wanted.
func (l *listening) beforeApply(generation int64, wanted ...string) []string {
	l.t.Helper()
	l.want(generation, "p", wanted...)
	l.outcome(generation)
	calls := l.watched.since()
	return calls[:slices.Index(calls, "apply")+1]
}

func TestANodeOfWhichNothingWasHeardIsNotReadAgainBeforeAChange(t *testing.T) {
	l := listen(t)
	if diff := cmp.Diff([]string{"apply"}, l.beforeApply(2, "br0")); diff != "" {
		t.Errorf("before the apply (-want +got): %s", diff)
	}
	// What the first change left has not been read as the node rests.
	if diff := cmp.Diff([]string{"show", "apply"}, l.beforeApply(3, "br0", "br1")); diff != "" {
		t.Errorf("before the apply of the next change (-want +got): %s", diff)
	}
}

func TestANodeOfWhichSomethingWasHeardIsReadBeforeAChange(t *testing.T) {
	for sentence, happens := range map[string]func(*listening){
		"a change was told":             func(l *listening) { l.heard.Add(1) },
		"not everything is listened to": func(l *listening) { l.deaf.Store(true) },
	} {
		t.Run(sentence, func(t *testing.T) {
			l := listen(t)
			happens(l)
			if diff := cmp.Diff([]string{"show", "apply"}, l.beforeApply(2, "br0")); diff != "" {
				t.Errorf("before the apply (-want +got): %s", diff)
			}
		})
	}
}

// TestAChangeStartsFromWhatWasReadOfTheNode: what a lost change is taken back to is the same
// whether the node was read for it or before it.
func TestAChangeStartsFromWhatWasReadOfTheNode(t *testing.T) {
	l := listen(t)
	l.want(2, "p", "cut")
	if ended := l.outcome(2); ended.Result != "RolledBack" {
		t.Errorf("it ended as %s: %s", ended.Result, ended.Message)
	}
	if l.host.has("cut") || !l.host.has("eth0") {
		t.Error("the node is not as before")
	}
}
