package agent

import (
	"context"
	"fmt"
	"net/netip"
	"slices"

	logf "sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/nmstate/kubernetes-nmstate/handler/idle"
	"github.com/nmstate/kubernetes-nmstate/handler/journal"
	"github.com/nmstate/kubernetes-nmstate/handler/profiles"
	"github.com/nmstate/kubernetes-nmstate/handler/state"
	"github.com/nmstate/kubernetes-nmstate/handler/txn"
)

// What nothing proved fails no change, and is told as not verified. What is still to come as
// a change is read back, a lease above all, may have come by its commit: then it is looked
// for once more, and mostly there is nothing left to tell.

// notVerified says what of a state nothing proves, beside what NetworkManager cannot say.
func notVerified(desired state.State, unsaid []string) []string {
	for _, path := range state.Unreadable(desired) {
		unsaid = append(unsaid, path.String()+": cannot be read back")
	}
	return idle.Lines(unsaid)
}

// knownBy are the addresses by which the cluster knows the node that an interface has.
//
// The API server asks the kubelet for logs there, and a CNI's tunnels end there. Where a
// change takes such an address off the node, every probe may pass and the Node stay Ready:
// the kubelet calls the API server, which does not call back. A policy may want it so, and a
// kubelet without --node-ip tells the new address.
func (a *Agent) knownBy(before state.State) []netip.Addr {
	if a.KnownBy == nil {
		return nil
	}
	return slices.DeleteFunc(slices.Clone(a.KnownBy()), func(known netip.Addr) bool { return !before.HasAddress(known) })
}

// toCome says what waits for an address, and which of the addresses by which the cluster
// knew the node no interface has.
func toCome(activated profiles.Activation, known []netip.Addr, current state.State) []string {
	var lines []string
	for _, address := range known {
		if !current.HasAddress(address) {
			lines = append(lines, fmt.Sprintf("%s: the cluster knows the node by this InternalIP, and no interface has it any more. "+
				"Until the kubelet tells another one, logs, exec and pod networks do not reach the node", address))
		}
	}
	return idle.Lines(append(lines, activated.Waiting...))
}

// commits makes the trial permanent, and looks once more for what was still to come.
func (a *Agent) commits(ctx context.Context, entry journal.Entry) letter {
	event := a.commit(ctx, entry)
	if _, is := event.(txn.Committed); !is || len(entry.ToCome) == 0 {
		return letter{event: event}
	}
	toCome, err := a.stillToCome(ctx, entry)
	if err != nil {
		logf.FromContext(ctx).Error(err, "cannot look whether what was still to come is there")
		return letter{event: event}
	}
	return letter{event: event, toCome: &toCome}
}

// stillToCome says what of a change is to come, or has gone, as the node is now.
func (a *Agent) stillToCome(ctx context.Context, entry journal.Entry) ([]string, error) {
	desired, err := state.Parse(entry.Change)
	if err != nil {
		return nil, err
	}
	current, err := a.Backend.Show(ctx)
	if err != nil {
		return nil, fmt.Errorf("reading the node's network back: %w", err)
	}
	devices, err := a.Backend.Devices(ctx)
	if err != nil {
		return nil, fmt.Errorf("asking NetworkManager what is activated: %w", err)
	}
	return toCome(profiles.Activated(desired, current, devices), entry.KnownBy, current), nil
}
