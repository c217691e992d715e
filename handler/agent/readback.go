package agent

import (
	"context"
	"fmt"
	"net/netip"
	"strings"

	"github.com/nmstate/kubernetes-nmstate/handler/backend"
	"github.com/nmstate/kubernetes-nmstate/handler/idle"
	"github.com/nmstate/kubernetes-nmstate/handler/journal"
	"github.com/nmstate/kubernetes-nmstate/handler/profiles"
	"github.com/nmstate/kubernetes-nmstate/handler/state"
)

// readBack is the guard that the node has what was desired, and that what is to be
// up works: NetworkManager has activated it.
type readBack struct {
	backend backend.Backend
	desired []byte
	// before and trial are NetworkManager's profiles before the change and with it; nil
	// where they are not known.
	before *profiles.Snapshot
	trial  *profiles.Trial
	// known are the addresses by which the cluster knew the node before.
	known []netip.Addr
	// changes counts what was told of the network.
	changes func() int64
	// shown is the state that had all of it; nil where only a commit brings the rest.
	shown *reading
	// toCome says what of it was not there yet, and notVerified what else could not be proved.
	toCome      []string
	notVerified []string
}

func (a *Agent) readBackOf(entry journal.Entry) *readBack {
	return &readBack{
		backend: a.Backend, desired: entry.Change, before: entry.Profiles, trial: entry.Trial, known: entry.KnownBy,
		changes: a.inbox.changes.Load,
	}
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
	activated := profiles.Activated(tried, current, devices)
	lacking, unverified := activated.Lacking, activated.Unverified
	if r.before != nil && r.trial != nil {
		lacking = append(lacking, profiles.LeftOut(tried, current, *r.before, r.trial.Snapshot, devices)...)
		unverified = append(unverified, profiles.ZonesLeft(current, *r.before, r.trial.Snapshot, devices)...)
	}
	if len(lacking) > 0 {
		return fmt.Errorf("the node does not have the desired state: %s", strings.Join(idle.Lines(lacking), "; "))
	}
	r.notVerified = notVerified(desired, unverified)
	r.toCome = toCome(activated, r.known, current)
	if tried.Equal(desired) {
		r.shown = &reading{state: current, devices: devices, changes: changes}
	}
	return nil
}
