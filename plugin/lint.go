package main

import (
	"fmt"
	"io"
	"os"

	"github.com/spf13/cobra"

	"github.com/nmstate/kubernetes-nmstate/plugin/lint"
)

// stdin is the file name that stands for standard input.
const stdin = "-"

// linted is what was found in a file.
type linted struct {
	File string `json:"file"`
	lint.Report
}

func (p *plugin) lintCommand() *cobra.Command {
	var files []string
	output := ""
	cmd := &cobra.Command{
		Use:   "lint -f FILE",
		Short: "Check policies as a node would, offline, and tell the line of each mistake",
		Long: `lint reads policies, node states and plain nmstate states with the handler's own
strict parser: misspelt keys, values of the wrong type, variables that nobody
defines, probes that cannot be run. It asks no cluster. What depends on a node,
such as whether an interface is there, only a plan tells (spec.mode Plan), and
the API server's other rules kubectl apply --dry-run=server.

It ends with 1 when something would be refused. Documents of other kinds are
skipped.`,
		Example: `  # A file with several documents
  kubectl nmstate lint -f policies.yaml

  # What a tool makes
  kustomize build . | kubectl nmstate lint -f -`,
		Args: usage(cobra.NoArgs),
		RunE: func(*cobra.Command, []string) error {
			if err := checkOutput(output); err != nil {
				return err
			}
			if len(files) == 0 {
				return fmt.Errorf("%w: which file? give -f FILE, or -f - for standard input", errUsage)
			}
			return p.lint(files, output)
		},
	}
	cmd.Flags().StringArrayVarP(&files, "filename", "f", nil, "file to check, - for standard input; may be given several times")
	addOutput(cmd, &output)
	return cmd
}

func (p *plugin) lint(files []string, output string) error {
	all, checked, found := []linted{}, 0, 0
	for _, file := range files {
		text, err := p.read(file)
		if err != nil {
			return err
		}
		report := lint.Text(text)
		all = append(all, linted{file, report})
		checked, found = checked+report.Checked, found+len(report.Findings)
		for _, kind := range report.Skipped {
			fmt.Fprintf(p.ErrOut, "%s: a %s is not checked\n", file, kind)
		}
	}
	if output != "" {
		if err := p.printValue(all, output); err != nil {
			return err
		}
	} else {
		for _, one := range all {
			for _, finding := range one.Findings {
				fmt.Fprintf(p.Out, "%s:%s\n", one.File, finding)
			}
		}
	}
	fmt.Fprintf(p.ErrOut, "documents checked: %d, mistakes found: %d\n", checked, found)
	if found > 0 {
		return errSaid
	}
	return nil
}

func (p *plugin) read(file string) ([]byte, error) {
	if file == stdin {
		text, err := io.ReadAll(p.In)
		if err != nil {
			return nil, fmt.Errorf("reading standard input: %w", err)
		}
		return text, nil
	}
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, fmt.Errorf("reading what to check: %w", err)
	}
	return text, nil
}
