package policy_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/nmstate/kubernetes-nmstate/e2e/controlplane/controlplanetest"
)

// recorded are events.
type recorded struct {
	mu    sync.Mutex
	lines []string
	// messages by reason, the last of each.
	messages map[string]string
}

func (r *recorded) Eventf(regarding, _ runtime.Object, kind, reason, _, note string, args ...any) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.messages == nil {
		r.messages = map[string]string{}
	}
	r.messages[reason] = fmt.Sprintf(note, args...)
	r.lines = append(r.lines, fmt.Sprint(regarding.(client.Object).GetName(), " ", kind, " ", reason))
}

func (r *recorded) message(reason string) string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.messages[reason]
}

func (r *recorded) forget() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.lines = nil
}

// expect waits for the events: a turn records them after what it writes.
func (r *recorded) expect(t *testing.T, want ...string) {
	t.Helper()
	controlplanetest.Eventually(t, func(context.Context) error {
		r.mu.Lock()
		defer r.mu.Unlock()
		r.lines = slices.DeleteFunc(r.lines, func(line string) bool { return strings.HasPrefix(line, "fence ") })
		if !slices.Equal(r.lines, want) {
			return fmt.Errorf("events %q, want %q", r.lines, want)
		}
		return nil
	})
	r.forget()
}
