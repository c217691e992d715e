package main

import (
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"

	"github.com/spf13/cobra"
	"sigs.k8s.io/yaml"

	backend "github.com/nmstate/kubernetes-nmstate/handler/backend/nmstate"
	"github.com/nmstate/kubernetes-nmstate/handler/state"
)

// profilesCommand shows what nmstate would write for a state.
func profilesCommand() *cobra.Command {
	output := ""
	cmd := &cobra.Command{
		Use:   "profiles [FILE]",
		Short: "Print the profiles that NetworkManager would get for a network state",
		Long: `profiles prints the connection profiles that nmstate generates for a network
state, each with the name of its file. FILE is YAML or JSON; without one, or
with -, it is standard input. The command reads no node and changes nothing.`,
		Example: `  # What a desired state comes to
  echo '{interfaces: [{name: eth1, type: ethernet, state: up, mtu: 1400}]}' | handler profiles

  # As JSON: the text of each file by its name
  handler profiles -o json state.yaml | jq -r '."eth1.nmconnection"'`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if output != "" && output != outputJSON {
				return fmt.Errorf("%w: --output %q: there is json", errUsage, output)
			}
			raw, err := inputOf(cmd.InOrStdin(), args)
			if err != nil {
				return err
			}
			return printProfiles(cmd.OutOrStdout(), raw, output)
		},
	}
	cmd.Flags().StringVarP(&output, "output", "o", "", "json prints one object, the text of each file by its name")
	_ = cmd.RegisterFlagCompletionFunc("output", cobra.FixedCompletions([]string{outputJSON}, cobra.ShellCompDirectiveNoFileComp))
	return cmd
}

func inputOf(in io.Reader, args []string) ([]byte, error) {
	read := func() ([]byte, error) { return io.ReadAll(in) }
	if len(args) > 0 && args[0] != "-" {
		read = func() ([]byte, error) { return os.ReadFile(args[0]) }
	}
	raw, err := read()
	if err != nil {
		return nil, fmt.Errorf("reading the network state: %w", err)
	}
	return raw, nil
}

func printProfiles(out io.Writer, raw []byte, output string) error {
	asJSON, err := yaml.YAMLToJSON(raw)
	if err != nil {
		return fmt.Errorf("reading the network state: %w", err)
	}
	wanted, err := state.Parse(asJSON)
	if err != nil {
		return err
	}
	files, err := backend.Generated(wanted)
	if err != nil {
		return fmt.Errorf("generating the profiles: %w", err)
	}
	if output == outputJSON {
		return json.NewEncoder(out).Encode(files)
	}
	for _, name := range slices.Sorted(maps.Keys(files)) {
		if _, err := fmt.Fprintf(out, "# %s\n%s\n", name, files[name]); err != nil {
			return err
		}
	}
	return nil
}
