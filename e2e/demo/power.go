//go:build linux

package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "github.com/nmstate/kubernetes-nmstate/api/v1"
	"github.com/nmstate/kubernetes-nmstate/e2e/cluster"
	"github.com/nmstate/kubernetes-nmstate/e2e/lab"
)

const (
	// unlucky is the node that loses its power.
	unlucky = "node2"
	journal = "/var/lib/kubernetes-nmstate/journal.json"
)

// powerCut shows that an unproven change does not outlive the power.
func (d *demo) powerCut(ctx context.Context) error {
	d.scene("policy 3: the same mistake, and the power of " + unlucky + " goes while it is on trial")
	n, err := d.cluster.Node(unlucky)
	if err != nil {
		return err
	}
	if err := d.kube(ctx, "delete", "nncp", "cut-off"); err != nil {
		return err
	}
	before, err := n.Picture(ctx)
	if err != nil {
		return err
	}
	if err := d.kube(ctx, "apply", "-f", "e2e/demo/power.yaml"); err != nil {
		return err
	}
	if err := wait(ctx, unlucky+" to try it", func() error { return inTrial(n) }); err != nil {
		return err
	}
	d.say("%s has applied it and is cut off; the power goes, and nobody can reach the API server any more", unlucky)
	if err := errors.Join(n.Power(ctx, "off"), d.cluster.CutAPI(ctx)); err != nil {
		return err
	}
	booted := time.Now()
	if err := n.Power(ctx, "on"); err != nil {
		return err
	}
	if err := wait(ctx, unlucky+" to be as before", func() error { return as(ctx, n, before) }); err != nil {
		return err
	}
	took := time.Since(booted)
	if err := d.alone(ctx, n); err != nil {
		return err
	}
	d.good("%s came back by itself %.1f s after the power: profiles, links, addresses and routes byte for byte as before", unlucky, took.Seconds())
	return d.reconnected(ctx, n, before)
}

// inTrial looks into the journal on the node's disk.
func inTrial(n *lab.Node) error {
	raw, err := os.ReadFile(n.DiskPath(journal))
	if err != nil {
		return err
	}
	var entry struct{ Transaction struct{ Phase string } }
	if err := json.Unmarshal(raw, &entry); err != nil {
		return err
	}
	if entry.Transaction.Phase != "Probing" {
		return fmt.Errorf("it is in phase %s", entry.Transaction.Phase)
	}
	return nil
}

func as(ctx context.Context, n *lab.Node, before lab.Picture) error {
	now, err := n.Picture(ctx)
	if err != nil {
		return err
	}
	if d := lab.Severe(before.Differences(now)); len(d) > 0 {
		return errors.New(strings.Join(d, "; "))
	}
	return nil
}

// alone checks that nobody has helped.
func (d *demo) alone(ctx context.Context, n *lab.Node) error {
	units, err := n.Units(ctx)
	if err != nil {
		return err
	}
	for _, u := range units {
		if u.Name == "handler" && u.State != "held" {
			return fmt.Errorf("the handler of %s is %s, so nothing was shown", n.Name, u.State)
		}
	}
	d.say("%s: no handler runs, as a kubelet starts none before it has reached the API server", n.Name)
	return nil
}

// reconnected shows what becomes of the policy once the handler may start.
func (d *demo) reconnected(ctx context.Context, n *lab.Node, before lab.Picture) error {
	if err := d.cluster.ConnectAPI(ctx); err != nil {
		return err
	}
	d.say("the API server is back; a change that was interrupted is tried once more")
	ctx, cancel := context.WithTimeoutCause(ctx, patience, fmt.Errorf("the enactment of %s has not failed after %s", n.Name, patience))
	defer cancel()
	err := cluster.Until(ctx, d.cluster, &v1.NodeNetworkConfigurationEnactmentList{}, func(e *v1.NodeNetworkConfigurationEnactment) (bool, error) {
		condition := cluster.True(e.Status.Conditions)
		if condition.Type != v1.EnactmentFailing || (e.Status.Retry != nil && e.Status.Retry.After != nil) {
			return false, nil
		}
		d.say("%s: %s: %s", n.Name, condition.Type, condition.Message)
		return true, nil
	}, client.MatchingFields{"metadata.name": v1.EnactmentName(n.Name, "power")})
	if err != nil {
		return told(ctx, err)
	}
	if err := wait(ctx, n.Name+" to be as before", func() error { return as(ctx, n, before) }); err != nil {
		return err
	}
	if err := d.kubeQuiet(ctx, "kubectl get nns "+n.Name+" -o jsonpath='{.status.transaction.result}'",
		"get", "nns", n.Name, "-o", "jsonpath={.status.transaction.result}"); err != nil {
		return err
	}
	d.good("tried, taken back, told: %s is as before", n.Name)
	return nil
}

// wait polls for what takes seconds; the last try says why it never came.
func wait(ctx context.Context, what string, f func() error) error {
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	for {
		err := f()
		if err == nil {
			return nil
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("waiting for %s: %w", what, err)
		case <-tick.C:
		}
	}
}
