//go:build linux

package main

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"time"

	"github.com/nmstate/kubernetes-nmstate/e2e/cluster"
	"github.com/nmstate/kubernetes-nmstate/e2e/controlplane"
	"github.com/nmstate/kubernetes-nmstate/e2e/lab"
)

// demo is one show.
type demo struct {
	*stage
	keep         bool
	bin          string
	revertHelper string

	up      bool
	cluster *cluster.Cluster
	kubectl string
}

// patience is how long the nodes may take for what takes them a second or two.
const patience = 3 * time.Minute

func (d *demo) show(ctx context.Context) error {
	for _, scene := range []func(context.Context) error{d.raise, d.reports, d.bridge, d.cutOff, d.powerCut, d.lookAround} {
		if err := scene(ctx); err != nil {
			return err
		}
	}
	return nil
}

// raise brings the cluster up.
func (d *demo) raise(ctx context.Context) error {
	d.scene("a control plane and three nodes")
	if err := lab.Available(""); err != nil {
		return err
	}
	assets, err := controlplane.Locate(ctx, controlplane.Search{KubebuilderAssets: os.Getenv("KUBEBUILDER_ASSETS"), Log: lines(d.say)})
	if err != nil {
		return err
	}
	if d.kubectl = assets.Path("kubectl"); !assets.Has("kubectl") {
		if d.kubectl, err = exec.LookPath("kubectl"); err != nil {
			return errors.New("kubectl is missing; unset KUBEBUILDER_ASSETS, or put kubectl into that folder")
		}
	}
	topo, err := lab.ParseTopology(topology)
	if err != nil {
		return err
	}
	options := cluster.Options{
		Lab: lab.Options{
			Name: labName, Topology: topo, Handler: filepath.Join(d.bin, "handler"), Deploy: "deploy",
			KubebuilderAssets: assets.Dir, Disk: lab.DiskImage, Progress: func(line string) { d.say("%s", line) },
		},
		Controllers:    filepath.Join(d.bin, "controllers"),
		ControllersLog: filepath.Join(logs, "controllers.log"),
	}
	if d.revertHelper != "" {
		options.Lab.HandlerArgs = []string{"--revert-helper", d.revertHelper}
	}
	if d.cluster, err = cluster.Up(ctx, options); err != nil {
		return err
	}
	d.up = true
	d.good("three nodes are up, each with its own NetworkManager and the handler")
	return nil
}

func (d *demo) reports(ctx context.Context) error {
	d.scene("every node reports its network")
	ctx, cancel := context.WithTimeoutCause(ctx, patience, errors.New("not all nodes have reported"))
	defer cancel()
	if err := d.cluster.AwaitReported(ctx); err != nil {
		return told(ctx, err)
	}
	if err := d.kube(ctx, "get", "nns"); err != nil {
		return err
	}
	return d.kubeQuiet(ctx, "kubectl get nns node1 -o jsonpath='{.status.currentState.interfaces[*].name}'",
		"get", "nns", "node1", "-o", "jsonpath={.status.currentState.interfaces[*].name}")
}

// lookAround says what a viewer may do now, or could have done.
func (d *demo) lookAround(context.Context) error {
	if d.keep {
		d.scene("it stays up; look around")
	} else {
		d.scene("to look around, run it as: make demo KEEP=1; then")
	}
	d.quote("export KUBECONFIG=" + d.cluster.Kubeconfig())
	d.quote("alias kubectl=" + d.kubectl)
	d.quote("kubectl get nns,nncp,nnce")
	d.quote("kubectl get nnce node2.power -o yaml")
	d.quote("bin/lab --name " + labName + " status")
	d.quote("bin/lab --name " + labName + " exec node1 -- nmcli device")
	d.quote("bin/lab --name " + labName + " logs node1")
	d.quote("make demo-down")
	return nil
}

// kube runs kubectl in front of the viewer.
func (d *demo) kube(ctx context.Context, args ...string) error {
	shown := "kubectl"
	for _, a := range args {
		shown += " " + a
	}
	return d.kubeQuiet(ctx, shown, args...)
}

func (d *demo) kubeQuiet(ctx context.Context, shown string, args ...string) error {
	return d.run(ctx, shown, []string{"KUBECONFIG=" + d.cluster.Kubeconfig()}, d.kubectl, args...)
}

// told makes of an error at the end of a context what the context is about.
func told(ctx context.Context, err error) error {
	if cause := context.Cause(ctx); err != nil && cause != nil {
		return cause
	}
	return err
}

// lines passes what is written on, line by line.
type lines func(format string, args ...any)

func (l lines) Write(p []byte) (int, error) {
	l("%s", p)
	return len(p), nil
}
