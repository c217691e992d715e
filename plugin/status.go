package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	v1 "github.com/nmstate/kubernetes-nmstate/api/v1"
	"github.com/nmstate/kubernetes-nmstate/plugin/view"
)

const (
	// redrawAfter is the least time between two looks, and so between two pictures.
	redrawAfter = 200 * time.Millisecond
	// lookAgain is when it is looked again where nothing changed in the API: what runs
	// on a node is read live, and seconds are counted down.
	lookAgain = time.Second
	// liveNodes are so many of the changing nodes whose transaction is read.
	liveNodes = 20
)

// Values of --output.
const (
	outputJSON = "json"
	outputYAML = "yaml"
)

// statusOptions are the flags of status.
type statusOptions struct {
	watch   bool
	wait    bool
	timeout time.Duration
	all     bool
	output  string
}

func (p *plugin) statusCommand() *cobra.Command {
	o := statusOptions{}
	cmd := &cobra.Command{
		Use:   "status [POLICY]",
		Short: "Tell how policies fare: step, slots, and each node with its phase and cause",
		Long: `status tells where a policy stands: its step (canary, paused, soak), which nodes
hold its slots, and every node with its phase and cause, those first that need
somebody. Without a name it is one line for each policy.

With --wait it ends with 0 when the policy has come to its end, with 1 when it
has failed and is not tried again by itself, and with 3 when it waits for a
person: it is paused, or a change has to be confirmed.`,
		Example: `  # One line for each policy
  kubectl nmstate status

  # One policy with its nodes, redrawn as it goes on; one line per change where
  # the output is no terminal
  kubectl nmstate status bridge -w

  # In a pipeline: progress on standard error, the exit code tells how it ended
  kubectl nmstate status bridge --wait --timeout 10m

  # The nodes that fail, for a script
  kubectl nmstate status bridge -o json | jq -r '.nodes[] | select(.phase == "Failing").name'`,
		Args:              usage(cobra.MaximumNArgs(1)),
		ValidArgsFunction: p.complete(policies),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := o.check(); err != nil {
				return err
			}
			return p.status(cmd.Context(), strings.Join(args, ""), o)
		},
	}
	flags := cmd.Flags()
	flags.BoolVarP(&o.watch, "watch", "w", false, "follow it: a picture that is redrawn on a terminal, otherwise one line per change")
	flags.BoolVar(&o.wait, "wait", false, "end when the policy has come to an end (exit code 0), has failed (1), or waits for a person (3)")
	flags.DurationVar(&o.timeout, "timeout", 0, "with --wait: after how long to fail; 0 waits for ever")
	flags.BoolVar(&o.all, "all", false, fmt.Sprintf("list every node, not only the first %d of each phase", view.Folded))
	addOutput(cmd, &o.output)
	return cmd
}

// addOutput adds -o for scripts.
func addOutput(cmd *cobra.Command, output *string) {
	cmd.Flags().StringVarP(output, "output", "o", "", "json or yaml, for scripts")
	_ = cmd.RegisterFlagCompletionFunc("output", cobra.FixedCompletions([]string{outputJSON, outputYAML}, cobra.ShellCompDirectiveNoFileComp))
}

func checkOutput(output string) error {
	if output != "" && output != outputJSON && output != outputYAML {
		return fmt.Errorf("%w: --output %q: there are json and yaml", errUsage, output)
	}
	return nil
}

func (o statusOptions) check() error {
	switch {
	case checkOutput(o.output) != nil:
		return checkOutput(o.output)
	case o.output != "" && o.watch:
		return fmt.Errorf("%w: --output %s with --watch: leave one of them out", errUsage, o.output)
	case o.timeout != 0 && !o.wait:
		return fmt.Errorf("%w: --timeout without --wait", errUsage)
	case o.timeout < 0:
		return fmt.Errorf("%w: --timeout %s: want more than 0", errUsage, o.timeout)
	}
	return nil
}

func (p *plugin) status(ctx context.Context, name string, o statusOptions) error {
	api, err := p.connect()
	if err != nil {
		return err
	}
	found, err := p.look(ctx, api, api, name)
	if err != nil {
		return err
	}
	if !o.watch && !o.wait {
		return p.showStatus(found, name, o)
	}
	return p.followStatus(ctx, api, name, o)
}

// look reads the policies, or the one with the name, and what runs on their nodes.
func (p *plugin) look(ctx context.Context, list client.Reader, live client.Reader, name string) ([]view.Policy, error) {
	var objects view.Objects
	var policies v1.NodeNetworkConfigurationPolicyList
	var enactments v1.NodeNetworkConfigurationEnactmentList
	var only []client.ListOption
	if name != "" {
		var one v1.NodeNetworkConfigurationPolicy
		if err := list.Get(ctx, client.ObjectKey{Name: name}, &one); err != nil {
			return nil, explained("reading policy "+name, err)
		}
		policies.Items = append(policies.Items, one)
		only = append(only, client.MatchingLabels{v1.EnactmentPolicyLabel: name})
	} else if err := list.List(ctx, &policies); err != nil {
		return nil, explained("reading the policies", err)
	}
	if err := list.List(ctx, &enactments, only...); err != nil {
		return nil, explained("reading the enactments", err)
	}
	objects.Enactments = enactments.Items
	if err := readRunning(ctx, live, &objects); err != nil {
		return nil, err
	}
	now := p.clock.Now()
	var all []view.Policy
	for i := range policies.Items {
		all = append(all, view.Of(&policies.Items[i], objects, now))
	}
	slices.SortFunc(all, func(a, b view.Policy) int { return strings.Compare(a.Name, b.Name) })
	return all, nil
}

// readRunning reads the states of nodes that are changing, which are as few as may be
// unavailable. A state may have half a megabyte, so the others are left alone.
func readRunning(ctx context.Context, live client.Reader, objects *view.Objects) error {
	read := 0
	for i := range objects.Enactments {
		enactment := &objects.Enactments[i]
		if !view.IsRunning(enactment) || read == liveNodes {
			continue
		}
		var state v1.NodeNetworkState
		err := live.Get(ctx, client.ObjectKey{Name: enactment.Node()}, &state)
		if apierrors.IsNotFound(err) {
			continue
		}
		if err != nil {
			return explained("reading the state of node "+enactment.Node(), err)
		}
		read++
		state.Status.CurrentState, state.Spec.DesiredState = v1.State{}, v1.State{}
		objects.States = append(objects.States, state)
	}
	return nil
}

func (p *plugin) showStatus(found []view.Policy, name string, o statusOptions) error {
	if o.output != "" {
		if name != "" {
			return p.printValue(found[0], o.output)
		}
		return p.printValue(found, o.output)
	}
	if len(found) == 0 {
		fmt.Fprintln(p.ErrOut, "there are no policies")
	}
	p.print(p.statusLines(found, name, o))
	return nil
}

func (p *plugin) statusLines(found []view.Policy, name string, o statusOptions) []string {
	most := view.Folded
	if o.all {
		most = 0
	}
	switch {
	case len(found) == 0:
		return nil
	case name == "":
		return view.Table(found, p.paint())
	}
	return view.Tree(found[0], most, p.paint())
}

func (p *plugin) printValue(value any, output string) error {
	raw, err := json.MarshalIndent(value, "", "  ")
	if err == nil && output == outputYAML {
		raw, err = yaml.JSONToYAML(raw)
	} else if err == nil {
		raw = append(raw, '\n')
	}
	if err != nil {
		return fmt.Errorf("printing: %w", err)
	}
	_, err = p.Out.Write(raw)
	return err
}

// followStatus shows each change until the policies have come to an end, or somebody
// ends it.
func (p *plugin) followStatus(ctx context.Context, api client.Client, name string, o statusOptions) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	held, changed, err := p.follow(ctx, name)
	if err != nil {
		return err
	}
	var late <-chan time.Time
	if o.timeout > 0 {
		late = p.clock.After(o.timeout)
	}
	show := p.follower(name, o)
	for {
		found, err := p.look(ctx, held, api, name)
		switch {
		case ctx.Err() != nil:
			return interrupted(o)
		case apierrors.IsNotFound(err) || len(found) == 0 && err == nil && name != "":
			return fmt.Errorf("policy %s is gone", name)
		case err != nil:
			return err
		}
		show(found)
		end, why := endOf(found)
		if o.wait && end != view.GoesOn {
			// The policy and the enactments are watched apart, so that one may be late.
			if found, err = p.look(ctx, api, api, name); err != nil {
				return err
			}
			show(found)
			if end, why = endOf(found); end != view.GoesOn {
				return p.ended(found, name, o, end, why)
			}
		}
		select {
		case <-ctx.Done():
			return interrupted(o)
		case <-late:
			return fmt.Errorf("after %s: %s", o.timeout, why)
		case <-p.clock.After(redrawAfter):
		}
		select {
		case <-ctx.Done():
			return interrupted(o)
		case <-late:
			return fmt.Errorf("after %s: %s", o.timeout, why)
		case <-changed:
		case <-p.clock.After(lookAgain - redrawAfter):
		}
	}
}

// interrupted is how it ends when somebody ends it, which -w alone is meant for.
func interrupted(o statusOptions) error {
	if o.wait {
		return errInterrupted
	}
	return nil
}

// endOf is the end of several policies: the one that asks most of a person.
func endOf(found []view.Policy) (end view.End, why string) {
	for _, policy := range found {
		if one, says := policy.End(); one >= end {
			end, why = one, policy.Name+": "+says
		}
	}
	// What goes on is waited for, whatever the others came to.
	for _, policy := range found {
		if one, says := policy.End(); one == view.GoesOn {
			return one, policy.Name + ": " + says
		}
	}
	return end, why
}

// ended tells the end that --wait waited for: the last look on standard output, unless
// it was followed there, and the exit code.
func (p *plugin) ended(found []view.Policy, name string, o statusOptions, end view.End, why string) error {
	if !o.watch {
		if err := p.showStatus(found, name, o); err != nil {
			return err
		}
	}
	switch end {
	case view.Waits:
		return fmt.Errorf("%w: %s", errWaits, why)
	case view.Failed:
		return errors.New(why)
	}
	return nil
}

// follower shows one look after the other: as a picture that is redrawn, or as lines.
func (p *plugin) follower(name string, o statusOptions) func([]view.Policy) {
	if o.watch && p.terminal != nil {
		screen := &screen{out: p.Out, size: p.terminal}
		return func(found []view.Policy) { screen.draw(p.statusLines(found, name, o)) }
	}
	out, before := p.ErrOut, map[string]view.Policy{}
	if o.watch {
		out = p.Out
	}
	return func(found []view.Policy) {
		stamp := p.clock.Now().UTC().Format("15:04:05Z ")
		now := map[string]view.Policy{}
		for _, policy := range found {
			var was *view.Policy
			if old, known := before[policy.Name]; known {
				was = &old
			}
			for _, line := range view.Changes(was, policy) {
				fmt.Fprintln(out, stamp+line)
			}
			now[policy.Name] = policy
		}
		for gone := range before {
			if _, is := now[gone]; !is {
				fmt.Fprintln(out, stamp+gone+": is gone")
			}
		}
		before = now
	}
}
