package agent

import (
	"context"
	"fmt"
	"strings"

	"github.com/nmstate/kubernetes-nmstate/handler/backend"
	"github.com/nmstate/kubernetes-nmstate/handler/idle"
	"github.com/nmstate/kubernetes-nmstate/handler/profiles"
	"github.com/nmstate/kubernetes-nmstate/handler/state"
)

// readBack is the guard that the node has what was desired, and that what is to be
// up works: NetworkManager has activated it.
type readBack struct {
	backend backend.Backend
	desired []byte
	// changes counts what was told of the network.
	changes func() int64
	// shown is the state that had all of it; nil where only a commit brings the rest.
	shown *reading
	// notVerified says what of it could not be proved.
	notVerified []string
}

func (r *readBack) Probe(ctx context.Context, _ string) error {
	desired, err := state.Parse(r.desired)
	if err != nil {
		return err
	}
	tried := desired.ForTrial()
	changes := r.changes()
	current, err := r.backend.Show(ctx)
	if err != nil {
		return fmt.Errorf("reading the node's network back: %w", err)
	}
	if missing := state.Missing(tried, current); len(missing) > 0 {
		return fmt.Errorf("the node does not have the desired state: %s", strings.Join(lines(missing), "; "))
	}
	devices, err := r.backend.Devices(ctx)
	if err != nil {
		return fmt.Errorf("asking NetworkManager what is activated: %w", err)
	}
	lacking, unverified := profiles.Activated(tried, current, devices)
	if len(lacking) > 0 {
		return fmt.Errorf("the node does not have the desired state: %s", strings.Join(idle.Lines(lacking), "; "))
	}
	r.notVerified = notVerified(desired, unverified)
	if tried.Equal(desired) {
		r.shown = &reading{state: current, devices: devices, changes: changes}
	}
	return nil
}

// notVerified says what of a state nothing proves, beside what NetworkManager cannot say.
func notVerified(desired state.State, unsaid []string) []string {
	for _, path := range state.Unreadable(desired) {
		unsaid = append(unsaid, path.String()+": cannot be read back")
	}
	return idle.Lines(unsaid)
}
