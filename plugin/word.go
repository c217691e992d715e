package main

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "github.com/nmstate/kubernetes-nmstate/api/v1"
	"github.com/nmstate/kubernetes-nmstate/plugin/view"
)

// Values of --dry-run.
const (
	dryNone   = "none"
	dryServer = "server"
)

func (p *plugin) confirmCommand() *cobra.Command {
	return p.wordCommand(&cobra.Command{
		Use:   "confirm POLICY",
		Short: "Keep a change that waits for a person, on every node that has made it",
		Long: `confirm says that the nodes work with the change that a probe of type confirm
guards. Without it the change is taken back when the time is over. It is of the
generation that is there now: an edit has to be confirmed anew.`,
		Example: `  # Who waits, and until when
  kubectl nmstate status careful

  kubectl nmstate confirm careful`,
	}, func(ctx context.Context, api client.Client, policy *v1.NodeNetworkConfigurationPolicy) (view.Word, error) {
		found, err := p.look(ctx, api, api, policy.Name)
		if err != nil {
			return view.Word{}, err
		}
		return view.ConfirmWord(found[0])
	})
}

func (p *plugin) pauseCommand() *cobra.Command {
	return p.wordCommand(&cobra.Command{
		Use:   "pause POLICY",
		Short: "Let no further node begin with a policy",
		Long: `pause sets spec.rollout.paused. What has begun ends, and no other node begins
until kubectl nmstate resume.`,
		Example: "  kubectl nmstate pause bridge",
	}, func(_ context.Context, _ client.Client, policy *v1.NodeNetworkConfigurationPolicy) (view.Word, error) {
		return view.PauseWord(policy), nil
	})
}

func (p *plugin) resumeCommand() *cobra.Command {
	return p.wordCommand(&cobra.Command{
		Use:   "resume POLICY",
		Short: "Let a paused rollout go on",
		Long: `resume takes away what holds a policy: spec.rollout.paused, or, once the canary
nodes are done, spec.rollout.pauseAfterCanary.`,
		Example: "  kubectl nmstate resume bridge",
	}, func(_ context.Context, _ client.Client, policy *v1.NodeNetworkConfigurationPolicy) (view.Word, error) {
		return view.ResumeWord(policy)
	})
}

func (p *plugin) retryCommand() *cobra.Command {
	return p.wordCommand(&cobra.Command{
		Use:   "retry POLICY",
		Short: "Try a policy again on the nodes on which it failed",
		Long: `retry makes a new generation of the policy that says the same, as an edit would:
nodes that failed, and those that were aborted, try again, in the steps of the
rollout. Nodes that have the policy have nothing to do. It writes spec.mode: Apply
instead of leaving it out, or the other way round, which means the same.

A change that lost a probe costs an outage again, so mend the cause first.`,
		Example: `  # Why it failed
  kubectl nmstate why bridge

  kubectl nmstate retry bridge
  kubectl nmstate status bridge --wait`,
	}, func(ctx context.Context, api client.Client, policy *v1.NodeNetworkConfigurationPolicy) (view.Word, error) {
		found, err := p.look(ctx, api, api, policy.Name)
		if err != nil {
			return view.Word{}, err
		}
		return view.RetryWord(policy, found[0])
	})
}

// wordCommand completes a command that patches one policy.
func (p *plugin) wordCommand(cmd *cobra.Command, word func(context.Context, client.Client, *v1.NodeNetworkConfigurationPolicy) (view.Word, error)) *cobra.Command {
	dry := dryNone
	cmd.Args = usage(cobra.ExactArgs(1))
	cmd.ValidArgsFunction = p.complete(policies)
	addDryRun(cmd, &dry)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if err := checkDryRun(dry); err != nil {
			return err
		}
		api, err := p.connect()
		if err != nil {
			return err
		}
		var policy v1.NodeNetworkConfigurationPolicy
		if err := api.Get(cmd.Context(), client.ObjectKey{Name: args[0]}, &policy); err != nil {
			return explained("reading policy "+args[0], err)
		}
		said, err := word(cmd.Context(), api, &policy)
		if err != nil {
			return err
		}
		return p.say(cmd.Context(), api, &policy, said, dry)
	}
	return cmd
}

func addDryRun(cmd *cobra.Command, dry *string) {
	cmd.Flags().StringVar(dry, "dry-run", dryNone, "server asks the API server and changes nothing; none does it")
	cmd.Flags().Lookup("dry-run").NoOptDefVal = dryServer
	_ = cmd.RegisterFlagCompletionFunc("dry-run", cobra.FixedCompletions([]string{dryNone, dryServer}, cobra.ShellCompDirectiveNoFileComp))
}

func checkDryRun(dry string) error {
	if dry != dryNone && dry != dryServer {
		return fmt.Errorf("%w: --dry-run %q: there are none and server", errUsage, dry)
	}
	return nil
}

// dryly says that nothing was changed.
func dryly(says, dry string) string {
	if dry == dryServer {
		says += " (server dry run: nothing is changed)"
	}
	return says
}

func (p *plugin) say(ctx context.Context, api client.Client, policy *v1.NodeNetworkConfigurationPolicy, word view.Word, dry string) error {
	if word.Patch == "" {
		fmt.Fprintln(p.Out, word.Says)
		return nil
	}
	var options []client.PatchOption
	if dry == dryServer {
		options = append(options, client.DryRunAll)
	}
	if err := api.Patch(ctx, policy, client.RawPatch(types.MergePatchType, []byte(word.Patch)), options...); err != nil {
		return explained("writing policy "+policy.Name, err)
	}
	fmt.Fprintln(p.Out, dryly(word.Says, dry))
	return nil
}
