package agent

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/nmstate/kubernetes-nmstate/handler/guard"
	"github.com/nmstate/kubernetes-nmstate/handler/journal"
	"github.com/nmstate/kubernetes-nmstate/handler/probe"
	"github.com/nmstate/kubernetes-nmstate/handler/state"
)

// guardOf is a probe as it guards the change of an entry: each of its targets that
// answered before is held against it, or what takes its place.
func (a *Agent) guardOf(entry journal.Entry, name string) probe.Asker {
	before, has := entry.Targets[name]
	if !has {
		return a.Prober
	}
	return targetsGuard{a.Prober, before, entry.Change}
}

// targetsGuard asks what the change, and what the node uses now, demand of a probe.
type targetsGuard struct {
	prober probe.Prober
	before guard.Before
	change []byte
}

// Probe implements probe.Asker.
func (g targetsGuard) Probe(ctx context.Context, name string) error {
	desired, err := state.Parse(g.change)
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	now, err := g.prober.Targets(ctx, name)
	if err != nil {
		return err // It starts with the probe's name.
	}
	demand := demanded(name, g.before, desired, now)
	if len(demand.Lost) > 0 {
		return errors.New(name + ": " + strings.Join(demand.Lost, "; "))
	}
	if len(demand.Groups) == 0 {
		return g.prober.Probe(ctx, name)
	}
	return g.prober.Ask(ctx, name, demand.Groups)
}

func demanded(name string, before guard.Before, desired state.State, now []guard.Target) guard.Demand {
	switch name {
	case probe.DefaultGateway:
		return guard.Gateways(before, desired, now)
	case probe.DNS:
		return guard.NameServers(before, now)
	}
	return guard.Servers(before, desired, now)
}

// notGuarded says what of the node no default probe guards although it did answer.
func notGuarded(entry journal.Entry) []string {
	desired, err := state.Parse(entry.Change)
	if err != nil {
		return nil // Arming says so.
	}
	return guard.RemovedFamilies(entry.Targets[probe.DefaultGateway], desired)
}
