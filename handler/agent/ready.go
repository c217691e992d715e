package agent

import (
	"context"
	"fmt"

	logf "sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/nmstate/kubernetes-nmstate/handler/journal"
	"github.com/nmstate/kubernetes-nmstate/handler/profiles"
	"github.com/nmstate/kubernetes-nmstate/handler/state"
)

// makeReady does to the profiles what nmstate would have to, before there is a checkpoint:
// the journal has their bytes. It returns what it did, or may have done.
func (a *Agent) makeReady(ctx context.Context, entry journal.Entry, desired state.State) ([]profiles.Action, error) {
	if entry.Profiles == nil {
		return nil, nil
	}
	actions := profiles.WithoutServers(*entry.Profiles, desired.Off())
	if err := a.do(ctx, actions); err != nil {
		return actions, fmt.Errorf("applying: taking the name servers out of profiles that may have none any more: %w", err)
	}
	return actions, nil
}

// makeUnready undoes makeReady where nothing was applied. It tells whether nothing is
// changed now; otherwise the way back is that of a trial.
func (a *Agent) makeUnready(ctx context.Context, entry journal.Entry, ready []profiles.Action) bool {
	if len(ready) == 0 {
		return true
	}
	err := a.do(context.WithoutCancel(ctx), profiles.ServersBack(*entry.Profiles, ready))
	if err != nil {
		logf.FromContext(ctx).Error(err, "cannot put the name servers of profiles back")
	}
	return err == nil
}
