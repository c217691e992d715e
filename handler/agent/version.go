package agent

import (
	"context"
	"fmt"

	"k8s.io/apimachinery/pkg/util/version"
)

// oldestNetworkManager that is known to take back what it made a checkpoint for.
const oldestNetworkManager = "1.42.0"

// Daemon is NetworkManager as it tells of itself: its version, and how it keeps
// /etc/resolv.conf (its rc-manager).
type Daemon struct{ Version, ResolvConf string }

// tooOld says in one line why the node's NetworkManager is not to be relied on;
// empty for one that is new enough, or whose version is not known.
func (a *Agent) tooOld(ctx context.Context) string { return a.host(ctx).tooOld() }

func (a *Agent) host(ctx context.Context) Daemon {
	if a.NetworkManager == nil {
		return Daemon{}
	}
	return a.NetworkManager(ctx)
}

func (d Daemon) tooOld() string {
	found, err := version.ParseGeneric(d.Version)
	if err != nil || found.AtLeast(version.MustParseGeneric(oldestNetworkManager)) {
		return ""
	}
	return fmt.Sprintf("NetworkManager %s is too old: update it to %s or newer; until then nothing is changed on this node", found, oldestNetworkManager)
}

// limit is something that NetworkManager does since a version.
type limit struct{ since, without string }

// knownLimits, oldest first. The first two were met on the lab, on 1.42.4 beside
// 1.52.1; the last is nmstate's, which leaves the setting out and says nothing.
var knownLimits = []limit{
	{"1.52", "it accepts an address that another machine has"},
	{"1.52", "it loses a veth when a change of it is taken back: the handler makes it anew, and its link is down for a moment"},
	{"1.54", "it does not set the IP forwarding of a single interface"},
}

// limits are what a NetworkManager does not do and a newer one does, one line each.
// Of a version that is not known nothing is said.
func limits(of string) []string {
	found, err := version.ParseGeneric(of)
	if err != nil {
		return nil
	}
	var lines []string
	for _, one := range knownLimits {
		if !found.AtLeast(version.MustParseGeneric(one.since)) {
			lines = append(lines, fmt.Sprintf("%s (NetworkManager %s and newer do better)", one.without, one.since))
		}
	}
	return lines
}
