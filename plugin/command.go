package main

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/fatih/color"
	"github.com/spf13/cobra"
	"k8s.io/cli-runtime/pkg/genericclioptions"
	"k8s.io/cli-runtime/pkg/genericiooptions"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/nmstate/kubernetes-nmstate/plugin/bundle"
	"github.com/nmstate/kubernetes-nmstate/plugin/view"
)

// plugin is one run of the program.
type plugin struct {
	genericiooptions.IOStreams
	clock clock.WithTicker
	// flags are kubectl's own.
	flags *genericclioptions.ConfigFlags
	// terminal is the size of the terminal that the output goes to, nil for a file or pipe.
	terminal func() (width, height int)
	colour   bool
	// connect opens the API server, follow tells of changes there.
	connect func() (client.Client, error)
	follow  func(ctx context.Context, policy string) (client.Reader, <-chan struct{}, error)
	// pods adds the logs of our pods, and the API server's version.
	pods func(ctx context.Context, o *bundle.Objects) error
}

func newPlugin(streams genericiooptions.IOStreams, clock clock.WithTicker) *plugin {
	p := &plugin{IOStreams: streams, clock: clock, flags: genericclioptions.NewConfigFlags(true)}
	p.connect, p.follow, p.pods = p.connectAPI, p.followAPI, p.logsOf
	return p
}

func (p *plugin) command() *cobra.Command {
	root := &cobra.Command{
		Use:         "kubectl-nmstate",
		Annotations: map[string]string{cobra.CommandDisplayNameAnnotation: "kubectl nmstate"},
		Short:       "Looks at node networks that policies configure, and decides what a person decides",
		Long: `kubectl nmstate tells how NodeNetworkConfigurationPolicies fare and what went
wrong, shows what a policy would change before it is applied, gives the word where
a rollout waits for a person, and looks at what the nodes have.

Exit codes: 0 done, 1 failed, 2 wrong usage, 3 waits for a person. Those of plan and
diff are kubectl diff's: 0 nothing differs, 1 something does, 2 failed.`,
		Example: `  # How every policy fares; one of them, followed
  kubectl nmstate status
  kubectl nmstate status bridge -w

  # In a pipeline: what would it change? Then apply exactly that, and wait for its end
  kubectl nmstate plan -f bridge.yaml
  kubectl nmstate apply -f bridge.yaml --plan 796f18c27b3f5cd9
  kubectl nmstate status bridge --wait --timeout 10m`,
		Version:       version,
		SilenceUsage:  true,
		SilenceErrors: true,
		Args:          cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				return cmd.Help()
			}
			return fmt.Errorf("%w: there is no command %q%s", errUsage, args[0], suggestion(cmd, args[0]))
		},
	}
	root.AddCommand(p.statusCommand(), p.lintCommand(), p.planCommand(), p.applyCommand(), p.getCommand(), p.diffCommand(), p.whyCommand(), p.driftCommand(), p.graphCommand(), p.historyCommand(), p.cablingCommand(),
		p.confirmCommand(), p.pauseCommand(), p.resumeCommand(),
		p.retryCommand(), p.undoCommand(), p.uiCommand(), p.serveCommand(), p.reportCommand(), p.checkCommand(), optionsCommand())
	root.SetOut(p.Out)
	root.SetErr(p.ErrOut)
	root.SetIn(p.In)
	p.flags.AddFlags(root.PersistentFlags())
	p.completeFlags(root)
	root.SetVersionTemplate("kubectl-nmstate version {{.Version}}\n")
	root.SetUsageTemplate(usageTemplate(root.UsageTemplate()))
	root.SetFlagErrorFunc(func(_ *cobra.Command, err error) error { return fmt.Errorf("%w: %w", errUsage, err) })
	return root
}

// usageTemplate leaves kubectl's own flags out: each of our commands has them, and
// nobody finds the others among them.
func usageTemplate(template string) string {
	begin := strings.Index(template, "{{if .HasAvailableInheritedFlags}}")
	end := strings.Index(template, "{{if .HasHelpSubCommands}}")
	if begin < 0 || end < begin {
		return template
	}
	return strings.ReplaceAll(template[:begin], ".LocalFlags.", ".LocalNonPersistentFlags.") + `{{if .HasAvailableInheritedFlags}}

kubectl's own flags, such as --context: kubectl nmstate options{{end}}` + template[end:]
}

func optionsCommand() *cobra.Command {
	return &cobra.Command{
		Use:     "options",
		Short:   "List kubectl's own flags, which every command has",
		Example: "  kubectl nmstate options",
		Args:    usage(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error {
			_, err := io.WriteString(cmd.OutOrStdout(), cmd.InheritedFlags().FlagUsages())
			return err
		},
	}
}

func suggestion(cmd *cobra.Command, word string) string {
	cmd.SuggestionsMinimumDistance = 2
	if near := cmd.SuggestionsFor(word); len(near) > 0 {
		return fmt.Sprintf(", did you mean %s?", near[0])
	}
	return ""
}

// usage marks what arguments are wrong.
func usage(check cobra.PositionalArgs) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if err := check(cmd, args); err != nil {
			return fmt.Errorf("%w: %w", errUsage, err)
		}
		return nil
	}
}

// paint colours words where the output is a terminal that wants it.
func (p *plugin) paint() view.Paint {
	if !p.colour {
		return view.NoPaint
	}
	attributes := map[view.Tone]color.Attribute{view.Good: color.FgGreen, view.Bad: color.FgRed, view.Busy: color.FgYellow, view.Faint: color.Faint}
	return func(tone view.Tone, text string) string {
		attribute, is := attributes[tone]
		if !is {
			return text
		}
		c := color.New(attribute)
		c.EnableColor()
		return c.Sprint(text)
	}
}

func (p *plugin) print(lines []string) {
	for _, line := range lines {
		fmt.Fprintln(p.Out, line)
	}
}

// complete completes the first argument with names that the cluster has.
func (p *plugin) complete(kinds ...kind) cobra.CompletionFunc {
	return func(cmd *cobra.Command, args []string, begun string) ([]string, cobra.ShellCompDirective) {
		if len(args) > 0 {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		var found []string
		for _, kind := range kinds {
			names, err := p.names(cmd.Context(), kind)
			if err != nil {
				return nil, cobra.ShellCompDirectiveError
			}
			found = append(found, names...)
		}
		found = slices.DeleteFunc(found, func(name string) bool { return !strings.HasPrefix(name, begun) })
		return found, cobra.ShellCompDirectiveNoFileComp
	}
}
