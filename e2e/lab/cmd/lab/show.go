//go:build linux

package main

import (
	"encoding/json"
	"fmt"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/nmstate/kubernetes-nmstate/e2e/lab"
)

func newStatus(w *where) *cobra.Command {
	output := ""
	cmd := &cobra.Command{
		Use:     "status",
		Short:   "Show what of a lab runs",
		Example: "  lab status\n  lab status -o json",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if output != "" && output != "json" {
				return fmt.Errorf("output %q: only json is known", output)
			}
			l, err := lab.Open(w.root, w.name)
			if err != nil {
				return err
			}
			s := l.Status(cmd.Context())
			if output == "json" {
				enc := json.NewEncoder(cmd.OutOrStdout())
				enc.SetIndent("", "  ")
				return enc.Encode(s)
			}
			return printStatus(cmd, s)
		},
	}
	cmd.Flags().StringVarP(&output, "output", "o", "", "json for programs")
	_ = cmd.RegisterFlagCompletionFunc("output", cobra.FixedCompletions([]string{"json"}, cobra.ShellCompDirectiveNoFileComp))
	return cmd
}

func printStatus(cmd *cobra.Command, s lab.Status) error {
	t := tabwriter.NewWriter(cmd.OutOrStdout(), 0, 0, 2, ' ', 0)
	fmt.Fprintf(t, "lab %s\tNetworkManager %s\n", s.Name, s.NM)
	if s.VM != nil {
		fmt.Fprintf(t, "VM\t%s\n", proc(*s.VM))
	}
	fmt.Fprintf(t, "fabric\t%s\n", proc(s.Fabric))
	fmt.Fprintf(t, "API server\t%s\n", proc(s.API))
	fmt.Fprintf(t, "\nNODE\tPID\tNETWORKMANAGER\tHANDLER\tADDRESSES\n")
	for _, n := range s.Nodes {
		units := map[string]string{"nm": "-", "handler": "-"}
		for _, u := range n.Units {
			units[u.Name] = unitText(u)
		}
		if n.NM != "" {
			units["nm"] = n.NM + " " + units["nm"]
		}
		last := strings.Join(n.Addresses, ", ")
		if n.Error != "" {
			last = n.Error
		}
		fmt.Fprintf(t, "%s\t%d\t%s\t%s\t%s\n", n.Name, n.PID, units["nm"], units["handler"], last)
	}
	return t.Flush()
}

func proc(p lab.ProcStatus) string {
	if !p.Running {
		return strings.TrimSpace("not running here " + p.Detail)
	}
	return strings.TrimSpace(fmt.Sprintf("running, pid %d %s", p.PID, p.Detail))
}

func unitText(u lab.UnitStatus) string {
	text := u.State
	if u.Restarts > 0 {
		text += fmt.Sprintf(", restarted %d times", u.Restarts)
	}
	if u.State != "running" && u.Reason != "" {
		text += " (" + u.Reason + ")"
	}
	return text
}
