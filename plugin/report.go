package main

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"os"
	"slices"
	"time"

	"github.com/spf13/cobra"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "github.com/nmstate/kubernetes-nmstate/api/v1"
	"github.com/nmstate/kubernetes-nmstate/plugin/bundle"
	"github.com/nmstate/kubernetes-nmstate/plugin/ui"
	"github.com/nmstate/kubernetes-nmstate/plugin/view"
)

// Outputs of report.
const (
	outputArchive = "archive"
	outputHTML    = "html"
)

// reportOptions are the flags of report.
type reportOptions struct {
	output, file string
	replace      bool
}

func (p *plugin) reportCommand() *cobra.Command {
	o := reportOptions{}
	cmd := &cobra.Command{
		Use:   "report [POLICY]",
		Short: "Collect what a bug report needs: objects, logs and versions, and a page to read them",
		Long: `report writes an archive with policies, enactments, NodeNetworkStates, the logs of
our pods and the versions, and report.html, which opens without a cluster: the
rollout over time, why a policy failed and which probe was lost, pictures of the
nodes, what is not as desired. With POLICY it is about that policy and its nodes.

Values of secrets are left out. --replace-names gives nodes, neighbours and search
domains other names, and IP and MAC addresses other values, in all files alike;
networks stay networks. Read the archive before you give it away.

lab from-nns FILE rebuilds the nodes of an archive in a lab.`,
		Example: `  kubectl nmstate report bridge
  kubectl nmstate report --replace-names --file bug.tar.gz
  kubectl nmstate report bridge -o html --file bug.html`,
		Args:              usage(cobra.MaximumNArgs(1)),
		ValidArgsFunction: p.complete(policies),
		RunE: func(cmd *cobra.Command, args []string) error {
			if o.output != outputArchive && o.output != outputHTML {
				return fmt.Errorf("%w: --output %q: there are %s and %s", errUsage, o.output, outputArchive, outputHTML)
			}
			return p.report(cmd.Context(), append(args, "")[0], o)
		},
	}
	cmd.Flags().StringVarP(&o.output, "output", "o", outputArchive, "archive (.tar.gz) or html")
	cmd.Flags().StringVar(&o.file, "file", "", "file to write, - for standard output (default nmstate-report.tar.gz or nmstate-report.html)")
	cmd.Flags().BoolVar(&o.replace, "replace-names", false, "replace names of nodes and neighbours, and addresses")
	_ = cmd.RegisterFlagCompletionFunc("output", cobra.FixedCompletions([]string{outputArchive, outputHTML}, cobra.ShellCompDirectiveNoFileComp))
	return cmd
}

func (p *plugin) report(ctx context.Context, policy string, o reportOptions) error {
	objects, err := p.gather(ctx, policy)
	if err != nil {
		return err
	}
	now := p.clock.Now()
	page, err := ui.Report(view.Objects{Policies: objects.Policies, Enactments: objects.Enactments, States: objects.States}, objects.Versions, objects.Missing, now)
	if err != nil {
		return err
	}
	files, err := bundle.FilesOf(objects)
	if err != nil {
		return err
	}
	files["report.html"] = page
	if o.replace {
		key := make([]byte, 32)
		if _, err := rand.Read(key); err != nil {
			return fmt.Errorf("making a key: %w", err)
		}
		files = bundle.NewMask(key, objects).Apply(files)
	}
	name, text := "nmstate-report.html", files["report.html"]
	if o.output == outputArchive {
		name = "nmstate-report.tar.gz"
		if text, err = archive(files, now); err != nil {
			return err
		}
	}
	if o.file == "-" {
		_, err := p.Out.Write(text)
		return err
	}
	if o.file != "" {
		name = o.file
	}
	if err := os.WriteFile(name, text, 0o600); err != nil {
		return fmt.Errorf("writing the report: %w", err)
	}
	fmt.Fprintf(p.Out, "%s: %d policies, %d nodes, %d logs\n", name, len(objects.Policies), len(objects.States), len(objects.Logs))
	for _, line := range objects.Missing {
		fmt.Fprintf(p.ErrOut, "missing: %s\n", line)
	}
	return nil
}

// gather reads all, or what belongs to a policy. What may not be read is told.
func (p *plugin) gather(ctx context.Context, name string) (bundle.Objects, error) {
	api, err := p.connect()
	if err != nil {
		return bundle.Objects{}, err
	}
	o := bundle.Objects{Versions: map[string]string{"kubectl-nmstate": version}}
	var only []client.ListOption
	if name != "" {
		var one v1.NodeNetworkConfigurationPolicy
		if err := api.Get(ctx, client.ObjectKey{Name: name}, &one); err != nil {
			return o, explained("reading policy "+name, err)
		}
		o.Policies = append(o.Policies, one)
		only = append(only, client.MatchingLabels{v1.EnactmentPolicyLabel: name})
	} else {
		var list v1.NodeNetworkConfigurationPolicyList
		if err := api.List(ctx, &list); err != nil {
			return o, explained("reading the policies", err)
		}
		o.Policies = list.Items
	}
	var enactments v1.NodeNetworkConfigurationEnactmentList
	if err := api.List(ctx, &enactments, only...); err != nil {
		return o, explained("reading the enactments", err)
	}
	o.Enactments = enactments.Items
	err = eachState(ctx, api, nil, func(state *v1.NodeNetworkState) error {
		own := func(e v1.NodeNetworkConfigurationEnactment) bool { return e.Node() == state.Name }
		if name == "" || slices.ContainsFunc(o.Enactments, own) {
			o.States = append(o.States, *state)
			o.Versions["handler on "+state.Name] = state.Status.HandlerVersion
			o.Versions["NetworkManager on "+state.Name] = state.Status.HostNetworkManagerVersion
			o.Versions["nmstate on "+state.Name] = state.Status.HandlerNmstateVersion
		}
		return nil
	})
	if err != nil {
		return o, err
	}
	err = p.pods(ctx, &o)
	if errors.Is(ctx.Err(), context.Canceled) {
		return o, errInterrupted
	}
	return o, err
}

// archive packs files, in the order of their names.
func archive(files bundle.Files, now time.Time) ([]byte, error) {
	var packed bytes.Buffer
	zip := gzip.NewWriter(&packed)
	out := tar.NewWriter(zip)
	for _, name := range files.Names() {
		header := tar.Header{Name: "nmstate-report/" + name, Mode: 0o644, Size: int64(len(files[name])), ModTime: now}
		err := out.WriteHeader(&header)
		if err == nil {
			_, err = out.Write(files[name])
		}
		if err != nil {
			return nil, fmt.Errorf("packing %s: %w", name, err)
		}
	}
	if err := errors.Join(out.Close(), zip.Close()); err != nil {
		return nil, fmt.Errorf("packing the report: %w", err)
	}
	return packed.Bytes(), nil
}
