package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "github.com/nmstate/kubernetes-nmstate/api/v1"
	"github.com/nmstate/kubernetes-nmstate/plugin/lint"
	"github.com/nmstate/kubernetes-nmstate/plugin/view"
)

// planPatience is how long the nodes may take to plan.
const planPatience = 2 * time.Minute

// modePlan of a policy.
const modePlan = "Plan"

func (p *plugin) planCommand() *cobra.Command {
	file, output, timeout := "", "", planPatience
	cmd := &cobra.Command{
		Use:   "plan -f FILE | POLICY",
		Short: "Show what a policy would change on each node, and how much that disrupts",
		Long: `plan lets each node compare what it has with what the policy says, and applies
nothing. Nodes with equal plans are one group: its hash, its class of disruption,
and each value now and then. The first line counts the nodes of each class.

A file is planned as if it were applied now: as a new policy, or as an edit of the
policy of that name. For that a policy in mode Plan, which no node applies, is
made under another name, and removed when the nodes have answered, also after
Ctrl-C, so the right to create and delete policies is needed. The policy of that
name is left alone. Of several policies in a file each is planned as if it were
applied alone.

Exit codes are those of kubectl diff: 0 nothing would change, 1 something would,
2 there is no plan, or not of every node.`,
		Example: `  # A new policy, or an edit
  kubectl nmstate plan -f bridge.yaml

  # What the nodes that do not have a policy yet would do
  kubectl nmstate plan bridge

  # Apply exactly what was shown
  kubectl nmstate apply -f bridge.yaml --plan 796f18c27b3f5cd9

  # Stop a pipeline where a default route is at risk
  kubectl nmstate plan -f bridge.yaml -o json | jq -e 'all(.[].groups[]; .disruption != "ConnectivityRisk")'`,
		Args:              usage(cobra.MaximumNArgs(1)),
		ValidArgsFunction: p.complete(policies),
		RunE: func(cmd *cobra.Command, args []string) error {
			switch {
			case checkOutput(output) != nil:
				return checkOutput(output)
			case (file == "") == (len(args) == 0):
				return fmt.Errorf("%w: give -f FILE or the name of a policy", errUsage)
			case timeout <= 0:
				return fmt.Errorf("%w: --timeout %s: want more than 0", errUsage, timeout)
			}
			return trouble(p.plan(cmd.Context(), file, args, timeout, output))
		},
	}
	cmd.Flags().StringVarP(&file, "filename", "f", "", "file with policies, - for standard input")
	cmd.Flags().DurationVar(&timeout, "timeout", planPatience, "how long to wait for the nodes")
	addOutput(cmd, &output)
	return cmd
}

func (p *plugin) plan(ctx context.Context, file string, args []string, timeout time.Duration, output string) error {
	api, err := p.connect()
	if err != nil {
		return err
	}
	var wanted []v1.NodeNetworkConfigurationPolicy
	if file != "" {
		wanted, err = p.policiesIn(file)
	} else {
		wanted = make([]v1.NodeNetworkConfigurationPolicy, 1)
		err = explained("reading policy "+args[0], api.Get(ctx, client.ObjectKey{Name: args[0]}, &wanted[0]))
	}
	if err != nil {
		return err
	}
	plans, missing, changes := []view.Plan{}, error(nil), false
	for i := range wanted {
		policy := &wanted[i]
		var plan view.Plan
		if file == "" && policy.Spec.Mode == modePlan {
			plan, err = p.awaitPlan(ctx, api, policy.Name, policy.Name, timeout)
		} else {
			plan, err = p.planInPlace(ctx, api, policy, timeout)
		}
		if err != nil {
			return err
		}
		if output == "" {
			p.print(plan.Lines(p.paint()))
		}
		if why := plan.Missing(); why != "" {
			missing = cmp.Or(missing, fmt.Errorf("policy %s: not every node has a plan: %s", policy.Name, why))
		}
		plans, changes = append(plans, plan), changes || plan.Changes
	}
	if output != "" {
		if err := p.printValue(plans, output); err != nil {
			return err
		}
	}
	if missing == nil && changes {
		return errSaid
	}
	return missing
}

// policiesIn reads the policies of a file in which a node would refuse nothing.
func (p *plugin) policiesIn(file string) ([]v1.NodeNetworkConfigurationPolicy, error) {
	text, err := p.read(file)
	if err != nil {
		return nil, err
	}
	report := lint.Text(text)
	for _, finding := range report.Findings {
		fmt.Fprintf(p.ErrOut, "%s:%s\n", file, finding)
	}
	if n := len(report.Findings); n > 0 {
		return nil, fmt.Errorf("%s: mistakes found: %d", file, n)
	}
	for _, kind := range report.Skipped {
		fmt.Fprintf(p.ErrOut, "%s: a %s is skipped\n", file, kind)
	}
	if len(report.Policies) == 0 {
		return nil, fmt.Errorf("%s: there is no policy in it", file)
	}
	for i := range report.Policies {
		if report.Policies[i].Name == "" {
			return nil, fmt.Errorf("%s: a policy has no metadata.name", file)
		}
	}
	return report.Policies, nil
}

// planInPlace plans the policy under another name, in the place of the one that there
// may be. What it makes, it removes.
func (p *plugin) planInPlace(ctx context.Context, api client.Client, policy *v1.NodeNetworkConfigurationPolicy, timeout time.Duration) (plan view.Plan, err error) {
	trial := trialOf(policy)
	// Somebody who ends it while the object is made would leave it behind.
	making, cancel := context.WithTimeout(context.WithoutCancel(ctx), tidyPatience)
	defer cancel()
	err = api.Create(making, trial)
	if err == nil || !answered(err) {
		defer func() { err = errors.Join(err, p.remove(ctx, api, trial)) }()
	}
	if err != nil {
		return view.Plan{}, explained("planning policy "+policy.Name, err)
	}
	return p.awaitPlan(ctx, api, trial.Name, policy.Name, timeout)
}

// awaitPlan waits until the nodes have answered. Those that have not in time are
// told in the plan.
func (p *plugin) awaitPlan(ctx context.Context, api client.Client, name, shown string, timeout time.Duration) (view.Plan, error) {
	watching, cancel := context.WithCancel(ctx)
	defer cancel()
	held, changed, err := p.follow(watching, name)
	if err != nil {
		return view.Plan{}, err
	}
	late := p.clock.After(timeout)
	for over := false; ; {
		var policy v1.NodeNetworkConfigurationPolicy
		err := held.Get(ctx, client.ObjectKey{Name: name}, &policy)
		if ctx.Err() != nil {
			return view.Plan{}, errInterrupted
		}
		if err != nil {
			return view.Plan{}, explained("reading policy "+name, err)
		}
		if view.PlanIsThere(&policy) || over {
			// The policy and the enactments are watched apart, so that one may be late.
			var enactments v1.NodeNetworkConfigurationEnactmentList
			if err := api.List(ctx, &enactments, client.MatchingLabels{v1.EnactmentPolicyLabel: name}); err != nil {
				return view.Plan{}, explained("reading the enactments", err)
			}
			plan := view.PlanOf(shown, &policy, enactments.Items)
			if over && plan.Missing() == "" {
				plan.Why = fmt.Sprintf("no answer after %s: %s", timeout, view.Of(&policy, view.Objects{}, p.clock.Now()).Message)
			}
			return plan, nil
		}
		select {
		case <-ctx.Done():
		case <-late:
			over = true
		case <-changed:
		case <-p.clock.After(lookAgain):
		}
	}
}
