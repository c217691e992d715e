package agent

import (
	"context"
	"fmt"

	"k8s.io/apimachinery/pkg/util/version"
)

// oldestNetworkManager that is known to take back what it made a checkpoint for.
const oldestNetworkManager = "1.42.0"

// tooOld says in one line why the node's NetworkManager is not to be relied on;
// empty for one that is new enough, or whose version is not known.
func (a *Agent) tooOld(ctx context.Context) string {
	if a.HostVersion == nil {
		return ""
	}
	found, err := version.ParseGeneric(a.HostVersion(ctx))
	if err != nil || found.AtLeast(version.MustParseGeneric(oldestNetworkManager)) {
		return ""
	}
	return fmt.Sprintf("NetworkManager %s is too old: update it to %s or newer; until then nothing is changed on this node", found, oldestNetworkManager)
}
