//go:build linux

package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/nmstate/kubernetes-nmstate/e2e/cluster"
	"github.com/nmstate/kubernetes-nmstate/e2e/lab"
	"github.com/nmstate/kubernetes-nmstate/e2e/trial"
)

// partTrials has a lab of its own: a node with each NetworkManager, and disks
// that a power cut leaves with what was synced.
const partTrials = "trials"

// trials prints what becomes of trials that end in the middle: each kind of
// change, each ending, each NetworkManager. The two nodes work side by side.
func (b *bench) trials(ctx context.Context) error {
	changes, endings, err := b.chosen()
	if err != nil {
		return err
	}
	c, err := b.raiseTrials(ctx)
	if err != nil {
		return err
	}
	defer func() {
		_ = cluster.SaveLogs("", labName, filepath.Join(folder, partTrials))
		cleanup, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Minute)
		defer cancel()
		_ = cluster.Down(cleanup, "", labName)
	}()
	var rows []trial.Row
	defer func() { b.printTrials(rows) }() // also what there is of a run that was ended
	for _, n := range c.Nodes() {
		if !wanted(b.nm, n.NetworkManager()) {
			continue
		}
		before, err := trial.Prepare(ctx, n)
		if err != nil {
			return err
		}
		for _, change := range changes {
			for _, ending := range endings {
				if change.Bad && ending.Phase == "Committing" {
					continue
				}
				row, err := b.trial(ctx, c, n, before, change, ending)
				rows = append(rows, row)
				if err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// trial is one row; the error is that the node cannot be made ready for the next.
func (b *bench) trial(ctx context.Context, c *cluster.Cluster, n *lab.Node, before lab.Picture, change trial.Change, ending trial.Ending) (trial.Row, error) {
	b.progress("trials: %s, %s, NetworkManager %s", change.Name, ending.Name, n.NetworkManager())
	row, err := trial.Run(ctx, c, n, before, change, ending)
	if err != nil {
		row.Said = err.Error()
		b.progress("%v", err)
	}
	if b.tell(row); err != nil || !row.Exact() || row.Kept {
		return row, trial.Restore(ctx, n, before)
	}
	return row, nil
}

func (b *bench) tell(row trial.Row) {
	for _, d := range row.Alone {
		b.progress("   alone: %s", d)
	}
	for _, d := range row.Later {
		b.progress("   later: %s", d)
	}
	b.progress("   at %s, %s %s; back %.1f s, outage %.1f s", row.At, row.Result, row.Said, row.Back.Seconds(), row.Outage.Seconds())
}

// chosen are the changes and endings whose names have what was asked for.
func (b *bench) chosen() ([]trial.Change, []trial.Ending, error) {
	all, err := trial.Changes()
	if err != nil {
		return nil, nil, err
	}
	var changes []trial.Change
	for _, c := range all {
		if wanted(b.changes, c.Name) {
			changes = append(changes, c)
		}
	}
	var endings []trial.Ending
	for _, e := range append(trial.PowerCuts(), trial.Others()...) {
		if wanted(b.endings, e.Name) {
			endings = append(endings, e)
		}
	}
	if len(changes)*len(endings) == 0 {
		return nil, nil, errors.New("no change or no ending has such a name")
	}
	return changes, endings, nil
}

// wanted: a list of parts of names, or nothing for all.
func wanted(list, name string) bool {
	for part := range strings.SplitSeq(list, ",") {
		if strings.Contains(name, part) {
			return true
		}
	}
	return false
}

func (b *bench) raiseTrials(ctx context.Context) (*cluster.Cluster, error) {
	topo, err := lab.ParseTopology(trial.Topology)
	if err != nil {
		return nil, err
	}
	options := cluster.Options{
		Lab: lab.Options{
			Name: labName, Topology: topo, Disk: lab.DiskImage, Handler: filepath.Join(b.bin, "handler"), Deploy: "deploy",
			KubebuilderAssets: os.Getenv("KUBEBUILDER_ASSETS"), Progress: func(line string) { b.progress("%s", line) },
		},
		Controllers:    filepath.Join(b.bin, "controllers"),
		ControllersLog: filepath.Join(folder, "trials-controllers.log"),
	}
	options.Lab.HandlerArgs = trial.HandlerArgs()
	if b.revertHelper != "" {
		options.Lab.HandlerArgs = append(options.Lab.HandlerArgs, "--revert-helper", b.revertHelper)
	}
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return nil, err
	}
	c, err := cluster.Up(ctx, options)
	if err != nil {
		return nil, err
	}
	ready, cancel := context.WithTimeoutCause(ctx, time.Minute, errors.New("not all nodes have reported within a minute"))
	defer cancel()
	if err := c.AwaitReported(ready); err != nil {
		return nil, errors.Join(err, context.Cause(ready), cluster.Down(ctx, "", labName))
	}
	return c, nil
}

func (b *bench) printTrials(rows []trial.Row) {
	b.title(fmt.Sprintf("trials that end in the middle (window %.0f s); after a boot with no API server in reach, so without a handler", trial.Window.Seconds()))
	out := tabwriter.NewWriter(b.tables, 0, 0, 3, ' ', 0)
	_, _ = fmt.Fprintln(out, "change\tending\tNetworkManager\tdisk\tprofiles\tkernel\tas before after\tgateway\toutage\tmade permanent in\treported")
	for _, r := range rows {
		k := r.Kinds()
		back := fmt.Sprintf("%.1f s", r.Back.Seconds())
		permanent := "-"
		if r.Permanent > 0 {
			permanent = r.Permanent.Round(time.Millisecond).String()
		}
		switch {
		case r.Kept:
			back = "permanent"
		case !r.Exact():
			back = "never"
		}
		_, _ = fmt.Fprintf(out, "%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\t%.1f s\t%s\t%s\n", r.Change, r.Ending, r.NM, short(k[0]), short(k[1]), short(k[2]),
			back, map[bool]string{true: "answers", false: "NO ANSWER"}[r.Reached], r.Outage.Seconds(), permanent, r.Result)
	}
	_ = out.Flush()
}

func short(text string) string {
	if len(text) > 60 {
		return text[:57] + "..."
	}
	return text
}
