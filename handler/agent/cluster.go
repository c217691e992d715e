package agent

import (
	"context"
	"errors"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/nmstate/kubernetes-nmstate/handler/backend"
)

// Cluster is what an agent needs beside what Recover does.
type Cluster struct {
	// Client and Live are those of Options.
	Client client.Client
	Live   client.Reader
	// BridgeVLANFiltering and Kernel are those of Options.
	BridgeVLANFiltering *bool
	Kernel              backend.Kernel
}

// errNotConnected: what the node needs comes first, so there is nobody to ask yet.
var errNotConnected = errors.New("the handler has no connection to the API server yet")

// Connect gives the agent what New was not given. It is called once, before the
// manager begins and before Reconcile is called; Recover may be under way.
func (a *Agent) Connect(ctx context.Context, cluster Cluster) error {
	if !a.takeTurn(ctx) {
		return ctx.Err()
	}
	defer a.endTurn()
	a.Client, a.Live = cluster.Client, cluster.Live
	a.BridgeVLANFiltering, a.Kernel = cluster.BridgeVLANFiltering, cluster.Kernel
	return nil
}
