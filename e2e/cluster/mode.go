//go:build linux

package cluster

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"

	"github.com/nmstate/kubernetes-nmstate/e2e/lab"
)

// Modes of handlers and controllers.
const (
	Distributed = "distributed"
	Centralized = "centralized"
)

// centralizedRights is the folder below deploy/ with the rights of that mode.
const centralizedRights = "overlays/centralized"

const controllersAccount = "system:serviceaccount:nmstate:nmstate-controllers"

// StartControllers starts the controllers in a mode, with the rights that they
// have in a pod, and with more arguments; empty is the distributed one. Those that run
// are not ended.
func (c *Cluster) StartControllers(ctx context.Context, mode string, more ...string) error {
	var args []string
	if mode != "" {
		args = []string{"--mode", mode}
	}
	if c.opts.Lab.Deploy != "" {
		args = append(args, "--secrets-namespace", "nmstate")
	}
	args = append(args, more...)
	kubeconfig, err := c.ControllersKubeconfig()
	if err != nil {
		return err
	}
	if err := startControllers(ctx, c.opts.Controllers, kubeconfig, c.opts.ControllersLog, args...); err != nil {
		return fmt.Errorf("starting the controllers: %w", err)
	}
	return nil
}

// StopControllers kills the controllers.
func (c *Cluster) StopControllers(ctx context.Context) error {
	return endControllers(ctx, c.root, c.name)
}

// ControllersRun tells whether controllers of this cluster run, wherever they were started.
func (c *Cluster) ControllersRun() (bool, error) {
	found, err := controllersWith(markOf(c.root, c.name))
	return len(found) > 0, err
}

// SwitchMode brings the cluster into another mode, node by node, as a rollout of
// new DaemonSet pods does: for a while both are at work.
func (c *Cluster) SwitchMode(ctx context.Context, mode string) error {
	if c.opts.Lab.Deploy != "" {
		rights := filepath.Join(c.opts.Lab.Deploy, "rbac")
		if mode == Centralized {
			rights = filepath.Join(c.opts.Lab.Deploy, centralizedRights)
		}
		if err := lab.ApplyManifests(ctx, c.Client, rights); err != nil {
			return err
		}
	}
	if err := c.StopControllers(ctx); err != nil {
		return err
	}
	if err := c.StartControllers(ctx, mode); err != nil {
		return err
	}
	for _, n := range c.Nodes() {
		if err := n.SetHandlerArgs(slices.Concat(c.opts.Lab.HandlerArgs, []string{"--mode", mode})...); err != nil {
			return err
		}
		if err := n.Handler(ctx, "restart"); err != nil {
			return err
		}
	}
	return nil
}

// ControllersKubeconfig is a file with the rights of the controllers' service
// account, or with all where deploy/ was not applied.
func (c *Cluster) ControllersKubeconfig() (string, error) {
	if c.opts.Lab.Deploy == "" {
		return c.Kubeconfig(), nil
	}
	config, err := clientcmd.LoadFromFile(c.Kubeconfig())
	if err != nil {
		return "", fmt.Errorf("reading the administrator's kubeconfig: %w", err)
	}
	if err := clientcmdapi.FlattenConfig(config); err != nil {
		return "", fmt.Errorf("reading the administrator's kubeconfig: %w", err)
	}
	for _, user := range config.AuthInfos {
		user.Impersonate = controllersAccount
		user.ImpersonateGroups = []string{"system:serviceaccounts", "system:serviceaccounts:nmstate", "system:authenticated"}
	}
	raw, err := clientcmd.Write(*config)
	if err != nil {
		return "", fmt.Errorf("writing the controllers' kubeconfig: %w", err)
	}
	path := filepath.Join(c.root, c.name, "controllers.kubeconfig") // Where Down looks for whose they are.
	if err := os.WriteFile(path, raw, 0o600); err != nil {
		return "", fmt.Errorf("writing the controllers' kubeconfig: %w", err)
	}
	return path, nil
}
