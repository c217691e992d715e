//go:build linux

package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"
	"go.yaml.in/yaml/v3"

	"github.com/nmstate/kubernetes-nmstate/e2e/lab"
	"github.com/nmstate/kubernetes-nmstate/e2e/lab/rebuild"
	"github.com/nmstate/kubernetes-nmstate/handler/state"
)

// noReportError is about a file of which no lab can be made.
type noReportError struct {
	file string
	err  error
}

func (e *noReportError) Error() string { return e.file + ": " + e.err.Error() }

func (e *noReportError) Unwrap() error { return e.err }

// errDiffers: what differs has been printed.
var errDiffers = errors.New("the nodes are not as the reports say")

// fromNNS are the flags of lab from-nns.
type fromNNS struct {
	*where
	file, output, handler string
	compare               bool
}

func newFromNNS(w *where) *cobra.Command {
	f := &fromNNS{where: w}
	cmd := &cobra.Command{
		Use:   "from-nns FILE [NODE]",
		Short: "Make a topology of what nodes have reported, to have those nodes in the lab",
		Long: `Make a topology of what nodes have reported, to have those nodes in the lab.

FILE has one or more NodeNetworkStates, of this project or of the older one, or a
state as nmstatectl show prints it, in YAML or JSON, or is an archive of kubectl
nmstate report; - is standard input. With NODE only that one is rebuilt. What of a report is not rebuilt is told on standard
error, and at the head of the topology.

With --compare nothing is made: what the nodes of the lab report is compared with
FILE. What differs beyond what is not rebuilt is printed, one line each, and the
exit code is 1; it is 2 where FILE is no such file.`,
		Example: `  kubectl get nns worker1 -o yaml | lab from-nns - -o worker1.yaml
  lab up -f worker1.yaml --handler bin/handler
  lab from-nns report.yaml --compare`,
		Args: cobra.RangeArgs(1, 2),
		RunE: func(cmd *cobra.Command, args []string) error {
			f.file = args[0]
			reports, err := f.reports(cmd.InOrStdin(), args[1:])
			if err != nil {
				return &noReportError{f.file, err}
			}
			plan, err := rebuild.New(reports)
			if err != nil {
				return &noReportError{f.file, err}
			}
			if f.handler, err = handlerPath(f.handler); err != nil {
				return err
			}
			if f.compare {
				return f.compareWith(cmd, plan, reports)
			}
			return f.make(cmd, plan)
		},
		ValidArgsFunction: func(cmd *cobra.Command, args []string, prefix string) ([]string, cobra.ShellCompDirective) {
			if len(args) == 0 {
				return nil, cobra.ShellCompDirectiveDefault
			}
			return w.completeNode(cmd, args[1:], prefix)
		},
	}
	cmd.Flags().StringVarP(&f.output, "output", "o", "", "write the topology to this file instead of standard output")
	cmd.Flags().StringVar(&f.handler, "handler", "", "handler executable, which has libnmstate in it (default: the one beside this program)")
	cmd.Flags().BoolVar(&f.compare, "compare", false, "compare the nodes of the lab that is up with the file")
	return cmd
}

// reports are those in the file, or the one of the node that is named.
func (f *fromNNS) reports(in io.Reader, only []string) ([]rebuild.Report, error) {
	read := func() ([]byte, error) { return os.ReadFile(f.file) }
	if f.file == "-" {
		read = func() ([]byte, error) { return io.ReadAll(in) }
	}
	raw, err := read()
	if err != nil {
		path := &os.PathError{}
		if errors.As(err, &path) {
			err = path.Err // The file is named anyway.
		}
		return nil, fmt.Errorf("reading the reports: %w", err)
	}
	all, err := rebuild.Read(raw)
	if err != nil || len(only) == 0 {
		return all, err
	}
	var names []string
	for _, r := range all {
		if r.Name == only[0] {
			return []rebuild.Report{r}, nil
		}
		names = append(names, r.Name)
	}
	return nil, fmt.Errorf("there is no node %s in it (there are: %s)", only[0], strings.Join(names, ", "))
}

func handlerPath(path string) (string, error) {
	if path == "" {
		self, err := os.Executable()
		if err != nil {
			return "", fmt.Errorf("finding this program: %w", err)
		}
		path = filepath.Join(filepath.Dir(self), "handler")
	}
	path, err := filepath.Abs(path)
	if err != nil {
		return "", fmt.Errorf("finding the handler: %w", err)
	}
	if _, err := os.Stat(path); err != nil {
		return "", fmt.Errorf("no handler at %s: make build makes it, --handler says where it is", path)
	}
	return path, nil
}

// make prints the topology, checked as lab up checks it.
func (f *fromNNS) make(cmd *cobra.Command, plan *rebuild.Plan) error {
	for _, n := range plan.Nodes {
		files, err := f.profiles(cmd.Context(), n.Wanted)
		if err != nil {
			return fmt.Errorf("node %s: %w", n.Name, err)
		}
		if err := plan.Fill(n.Name, files); err != nil {
			return fmt.Errorf("node %s: %w", n.Name, err)
		}
	}
	var made bytes.Buffer
	encoder := yaml.NewEncoder(&made)
	encoder.SetIndent(2)
	if err := encoder.Encode(plan.Topology); err != nil {
		return fmt.Errorf("writing the topology: %w", err)
	}
	text := made.Bytes()
	if _, err := lab.ParseTopology(text); err != nil {
		return &noReportError{f.file, fmt.Errorf("the lab cannot have these nodes: %s", strings.ReplaceAll(err.Error(), "\n", "; "))}
	}
	var left []string
	for _, n := range plan.Nodes {
		for _, line := range n.Left {
			left = append(left, n.Name+": "+line)
		}
	}
	head := "# Made by lab from-nns. What of the reports is not rebuilt:\n"
	for _, line := range left {
		fmt.Fprintln(cmd.ErrOrStderr(), "not rebuilt:", line)
		head += "# - " + line + "\n"
	}
	if len(left) == 0 {
		head = "# Made by lab from-nns.\n"
	}
	text = append([]byte(head), text...)
	if f.output == "" {
		_, err := cmd.OutOrStdout().Write(text)
		return err
	}
	if err := os.WriteFile(f.output, text, 0o644); err != nil {
		return fmt.Errorf("writing the topology: %w", err)
	}
	return nil
}

// profiles asks the handler, which is linked with libnmstate as this program is not.
func (f *fromNNS) profiles(ctx context.Context, wanted state.State) (map[string]string, error) {
	var out, complaint bytes.Buffer
	program := exec.CommandContext(ctx, f.handler, "profiles", "--output", "json")
	program.Stdin, program.Stdout, program.Stderr = bytes.NewReader(wanted.JSON()), &out, &complaint
	if err := program.Run(); err != nil {
		return nil, fmt.Errorf("%s profiles: %s", f.handler, complained(complaint.String(), err.Error()))
	}
	files := map[string]string{}
	if err := json.Unmarshal(out.Bytes(), &files); err != nil {
		return nil, fmt.Errorf("reading the profiles: %w", err)
	}
	return files, nil
}

// complained is what a program complained of, or else how it ended.
func complained(complaint, ending string) string {
	if text := strings.TrimSpace(complaint); text != "" {
		return strings.TrimPrefix(text, "handler: ")
	}
	return ending
}

// compareWith prints what the nodes that are up report otherwise than the file.
func (f *fromNNS) compareWith(cmd *cobra.Command, plan *rebuild.Plan, reports []rebuild.Report) error {
	differs := false
	for i, made := range plan.Nodes {
		n, err := f.node(made.Name)
		if err != nil {
			return err
		}
		var out, complaint bytes.Buffer
		err = n.Run(cmd.Context(), lab.Command{Args: []string{f.handler, "state", "--output", "json"}, Stdout: &out, Stderr: &complaint})
		if err != nil {
			return fmt.Errorf("%s: %s state: %s (does the node see it? lab up --handler or --bind)", n.Name, f.handler, complained(complaint.String(), err.Error()))
		}
		now, err := state.Parse(out.Bytes())
		if err != nil {
			return fmt.Errorf("%s: %w", n.Name, err)
		}
		for _, d := range rebuild.Compare(reports[i].State, now) {
			differs = true
			fmt.Fprintf(cmd.OutOrStdout(), "%s: %s\n", n.Name, d)
		}
	}
	if differs {
		return errDiffers
	}
	return nil
}
