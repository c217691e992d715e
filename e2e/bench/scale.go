//go:build linux

package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"github.com/go-logr/logr"
	ctrl "sigs.k8s.io/controller-runtime"

	"github.com/nmstate/kubernetes-nmstate/e2e/controlplane"
	"github.com/nmstate/kubernetes-nmstate/e2e/scale"
)

// scale counts the requests of rollouts over many nodes. They are in this
// process and have no lab, so it has a control plane of its own.
func (b *bench) scale(ctx context.Context) error {
	ctrl.SetLogger(logr.Discard())
	dir, err := filepath.Abs(filepath.Join(folder, "scale"))
	if err != nil {
		return err
	}
	if err := os.RemoveAll(dir); err != nil {
		return err
	}
	assets, err := controlplane.Locate(ctx, controlplane.Search{KubebuilderAssets: os.Getenv("KUBEBUILDER_ASSETS"), Log: os.Stderr})
	if err != nil {
		return err
	}
	audit := filepath.Join(dir, "audit.log")
	plane, err := controlplane.Start(ctx, controlplane.Options{Dir: dir, Assets: assets, CRDs: "deploy/crds", AuditLog: audit, Log: os.Stderr})
	if err != nil {
		return err
	}
	defer plane.Stop()
	connection, err := plane.RESTConfig()
	if err != nil {
		return err
	}
	rollouts, err := scale.New(connection, audit, b.progress)
	if err != nil {
		return err
	}
	costs, err := rollouts.Measure(ctx, 10, 50, 200)
	if err != nil {
		return err
	}
	b.title("requests to the API server for each node of a rollout, by how many nodes there are")
	_, _ = fmt.Fprint(b.tables, scale.Table(costs))
	for _, cost := range costs {
		b.figure(fmt.Sprintf("rollout, %s, %d nodes: requests per node", cost.What, cost.Nodes), "requests", new(8.0), cost.PerNode())
	}
	return scale.Flat(costs)
}
