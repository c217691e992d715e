package main

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "github.com/nmstate/kubernetes-nmstate/api/v1"
	"github.com/nmstate/kubernetes-nmstate/plugin/view"
)

// undoOptions are the flags of undo.
type undoOptions struct {
	dry     string
	wait    bool
	timeout time.Duration
}

func (p *plugin) undoCommand() *cobra.Command {
	o := undoOptions{}
	cmd := &cobra.Command{
		Use:   "undo POLICY",
		Short: "Delete a policy, and bring back what was there before it",
		Long: `undo deletes a policy, and each node brings back what was there before it, setting
by setting, guarded by probes like any other change. As many nodes do so at a time
as spec.maxUnavailable says. What another policy or a person has set meanwhile
stays. Where spec.onDelete is not Revert yet, it becomes so first, and undo waits
until every node knows it.

With --dry-run nothing is deleted: it shows, as a plan does, on which nodes which
settings would change, from which value and back to which.

The policy is gone afterwards: keep a copy if you may want it again.`,
		Example: `  kubectl get nncp bridge -o yaml > bridge.yaml
  kubectl nmstate undo bridge --dry-run
  kubectl nmstate undo bridge`,
		Args:              usage(cobra.ExactArgs(1)),
		ValidArgsFunction: p.complete(policies),
		RunE: func(cmd *cobra.Command, args []string) error {
			switch {
			case checkDryRun(o.dry) != nil:
				return checkDryRun(o.dry)
			case o.timeout < 0:
				return fmt.Errorf("%w: --timeout %s: want more than 0", errUsage, o.timeout)
			}
			return p.undo(cmd.Context(), args[0], o)
		},
	}
	addDryRun(cmd, &o.dry)
	cmd.Flags().BoolVar(&o.wait, "wait", true, "wait until the nodes are done")
	cmd.Flags().DurationVar(&o.timeout, "timeout", 0, "after how long to fail; 0 waits for ever")
	return cmd
}

func (p *plugin) undo(ctx context.Context, name string, o undoOptions) error {
	api, err := p.connect()
	if err != nil {
		return err
	}
	var policy v1.NodeNetworkConfigurationPolicy
	if err := api.Get(ctx, client.ObjectKey{Name: name}, &policy); err != nil {
		return explained("reading policy "+name, err)
	}
	if o.dry == dryServer {
		return p.showUndo(ctx, api, &policy, o.timeout)
	}
	if o.timeout > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeoutCause(ctx, o.timeout, fmt.Errorf("after %s", o.timeout))
		defer cancel()
	}
	if word := view.UndoWord(&policy); word.Patch != "" {
		if err := p.say(ctx, api, &policy, word, dryNone); err != nil {
			return err
		}
		if err := p.awaitRevert(ctx, api, name); err != nil {
			return fmt.Errorf("policy %s is not deleted: %w", name, err)
		}
	}
	if err := api.Delete(ctx, &policy, client.Preconditions{UID: &policy.UID}); err != nil {
		return explained("deleting policy "+name, err)
	}
	fmt.Fprintf(p.Out, "policy %s: deleted\n", name)
	if !o.wait {
		return nil
	}
	if err := p.awaitUndone(ctx, api, name); err != nil {
		return fmt.Errorf("policy %s is deleted: %w", name, err)
	}
	fmt.Fprintf(p.Out, "policy %s: undone\n", name)
	return nil
}

// showUndo plans a policy of that name that wants nothing any more.
func (p *plugin) showUndo(ctx context.Context, api client.Client, policy *v1.NodeNetworkConfigurationPolicy, timeout time.Duration) error {
	nothing := policy.DeepCopy()
	nothing.Spec.DesiredState, nothing.Spec.OnDelete = v1.NewState([]byte("{}")), v1.OnDeleteRevert
	nothing.Spec.Capture, nothing.Spec.Match, nothing.Spec.AutoConfig, nothing.Spec.Variables = nil, nil, nil, nil
	nothing.Spec.Probes, nothing.Spec.DefaultProbes = nil, ""
	if timeout == 0 {
		timeout = planPatience
	}
	plan, err := p.planInPlace(ctx, api, nothing, timeout)
	if err != nil {
		return err
	}
	p.print(plan.Lines(p.paint()))
	if why := plan.Missing(); why != "" {
		return fmt.Errorf("policy %s: not every node says what would come back: %s", policy.Name, why)
	}
	return nil
}

// awaitRevert waits until each node that has something of the policy knows that it is to
// bring back what was there before.
func (p *plugin) awaitRevert(ctx context.Context, api client.Client, policy string) error {
	enactments, err := enactmentsOf(ctx, api, policy)
	if err != nil {
		return err
	}
	waits := map[string]bool{}
	for i := range enactments {
		if enactments[i].Status.Committed != nil {
			waits[enactments[i].Node()] = true
		}
	}
	return p.until(ctx, "nodes that do not know yet that they shall bring back what was there before", func() ([]string, error) {
		for _, node := range slices.Sorted(maps.Keys(waits)) {
			var state v1.NodeNetworkState
			err := api.Get(ctx, client.ObjectKey{Name: node}, &state)
			if err != nil && !apierrors.IsNotFound(err) {
				return nil, explained("reading the state of node "+node, err)
			}
			if err != nil || view.KnowsRevert(policy, &state) {
				delete(waits, node)
			}
		}
		return slices.Sorted(maps.Keys(waits)), nil
	})
}

// awaitUndone waits until the enactments are gone: each goes when its node is done.
func (p *plugin) awaitUndone(ctx context.Context, api client.Client, policy string) error {
	return p.until(ctx, "nodes that are not done, kubectl get nns tells why", func() ([]string, error) {
		left, err := enactmentsOf(ctx, api, policy)
		nodes := map[string]bool{}
		for i := range left {
			node := left[i].Node()
			if left[i].Status.WaitsToLeave && !left[i].Spec.Leave {
				node += " (waits for its turn)"
			}
			nodes[node] = true
		}
		return slices.Sorted(maps.Keys(nodes)), err
	})
}

// until asks again and again who is left.
func (p *plugin) until(ctx context.Context, who string, left func() ([]string, error)) error {
	var nodes []string
	for {
		now, err := left()
		if err == nil && len(now) == 0 {
			return nil
		}
		if err == nil {
			nodes = now
		}
		switch {
		case errors.Is(ctx.Err(), context.Canceled):
			return errInterrupted
		case ctx.Err() != nil:
			return fmt.Errorf("%w: %s: %s", context.Cause(ctx), who, strings.Join(nodes, ", "))
		case err != nil:
			return err
		}
		select {
		case <-ctx.Done():
		case <-p.clock.After(lookAgain):
		}
	}
}

func enactmentsOf(ctx context.Context, api client.Client, policy string) ([]v1.NodeNetworkConfigurationEnactment, error) {
	var list v1.NodeNetworkConfigurationEnactmentList
	err := api.List(ctx, &list, client.MatchingLabels{v1.EnactmentPolicyLabel: policy})
	return list.Items, explained("reading the enactments", err)
}
