//go:build linux

package main

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/nmstate/kubernetes-nmstate/e2e/cluster"
	"github.com/nmstate/kubernetes-nmstate/e2e/controlplane"
	"github.com/nmstate/kubernetes-nmstate/e2e/lab"
)

// Exit codes: what the machine lacks is told apart from what went wrong.
const (
	exitFailed      = 1
	exitUnavailable = 2
	exitInterrupted = 130
)

const (
	labName = "bench"
	// folder keeps the logs, the audit log among them.
	folder = "out/bench"
	// partScale is the only part without a lab.
	partScale = "scale"
)

// partNames are what --only takes.
var partNames = []string{"", "apply", "requests", "outage", "quiet", "large", partScale, partTrials}

//go:embed topology.yaml
var topology []byte

// bench is one run.
type bench struct {
	bin, revertHelper string
	repeats           int
	// sizes of large changes, in bridges.
	sizes []int
	only  string
	// changes and endings are parts of names, for trials.
	changes, endings, nm string
	began                time.Time

	// output is how the figures are printed; the tables of each part go to tables.
	output  string
	tables  io.Writer
	figures []figure

	cluster *cluster.Cluster
	audit   string
	// one is the node that is measured.
	one *lab.Node
}

func main() {
	ctx := context.Background()
	if code, ok := lab.Child(ctx, os.Args); ok {
		os.Exit(code)
	}
	if len(os.Args) > 1 && os.Args[1] == "bare" {
		os.Exit(bare(os.Args[2:], os.Stdin, os.Stdout))
	}
	ctx, stop := signal.NotifyContext(ctx, os.Interrupt, syscall.SIGTERM)
	code := 0
	err := command(&code).ExecuteContext(ctx)
	stop()
	if err != nil {
		fmt.Fprintf(os.Stderr, "bench: %v; see bench --help\n", err)
		code = exitUnavailable
	}
	os.Exit(code)
}

// version is stamped by the linker.
var version = "devel"

// command is the benchmarks. The exit code goes to code: what went wrong is told
// where it is known what is left.
func command(code *int) *cobra.Command {
	b := &bench{began: time.Now()}
	cmd := &cobra.Command{
		Use:   "bench",
		Short: "Measure what a policy costs: time, requests, outages, idling",
		Long: `Brings a lab up and measures on it the time of a policy beside a bare apply, API
requests, outages, the cost of idling and large changes; then, without the lab, how the
requests of a rollout grow with the nodes. Tables go to standard output, the last one with
all figures beside their goals; progress goes to standard error, logs to ` + folder + `.

Exit codes: 0 measured, 1 failed, 2 wrong usage or the machine lacks something,
130 interrupted.`,
		Example: `  make bench                          # builds what is needed, too
  bench --only apply -n 15
  bench --only large --sizes 10,100,300
  bench -o json > figures.json        # the figures only, for a script
  make bench-compare BASE=HEAD~10     # this commit beside an older one
  bench --only trials --changes bond --endings 'power cut' --nm 1.42`,
		Version:       version,
		Args:          cobra.NoArgs,
		SilenceUsage:  true,
		SilenceErrors: true,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if !slices.Contains(partNames, b.only) {
				return fmt.Errorf("--only %s: there are %s", b.only, strings.Join(partNames[1:], ", "))
			}
			if !slices.Contains(outputs, b.output) {
				return fmt.Errorf("--output %s: there are %s", b.output, strings.Join(outputs, ", "))
			}
			if b.tables = cmd.OutOrStdout(); b.output != outputTable {
				b.tables = cmd.ErrOrStderr()
			}
			*code = b.run(cmd.Context())
			if err := printFigures(cmd.OutOrStdout(), b.output, b.figures); err != nil {
				return fmt.Errorf("printing the figures: %w", err)
			}
			return nil
		},
	}
	flags := cmd.Flags()
	flags.StringVar(&b.bin, "bin", "bin", "folder with the programs handler, controllers and bench")
	flags.StringVar(&b.revertHelper, "revert-helper", os.Getenv("NMSTATE_REVERT"), "program nmstate-revert (default: environment NMSTATE_REVERT)")
	flags.IntVarP(&b.repeats, "repeats", "n", 5, "how often an apply is repeated; the tables have medians")
	flags.StringVar(&b.only, "only", "", "one part: "+strings.Join(partNames[1:], ", ")+"; empty: all but trials")
	flags.StringVarP(&b.output, "output", "o", outputTable, "how the figures are printed: "+strings.Join(outputs, ", ")+" (benchmark is what benchstat reads)")
	flags.IntSliceVar(&b.sizes, "sizes", []int{10, 100}, "with large: how many bridges one policy makes")
	flags.StringVar(&b.changes, "changes", "", "with trials: only changes whose names have one of these parts, comma between")
	flags.StringVar(&b.endings, "endings", "", "with trials: only endings whose names have one of these parts, comma between")
	flags.StringVar(&b.nm, "nm", "", "with trials: only the node with this NetworkManager, 1.42 or 1.52")
	return cmd
}

// run measures, where no other benchmark runs.
func (b *bench) run(ctx context.Context) int {
	release, err := cluster.Claim(ctx, labName)
	if err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		return exitFailed
	}
	defer release()
	switch b.only {
	case partScale:
	case partTrials:
		err = b.trials(ctx)
	default:
		err = b.measureAndCleanUp(ctx)
	}
	if err == nil && (b.only == "" || b.only == partScale) {
		err = b.scale(ctx)
	}
	missing := &lab.UnavailableError{}
	switch {
	case err == nil:
		return 0
	case ctx.Err() != nil:
		fmt.Fprintln(os.Stderr, "bench: interrupted; nothing is left behind")
		return exitInterrupted
	case errors.As(err, &missing):
		fmt.Fprintln(os.Stderr, "bench:", err)
		return exitUnavailable
	}
	fmt.Fprintf(os.Stderr, "bench: %v; logs are in %s; nothing is left behind\n", err, folder)
	return exitFailed
}

func (b *bench) measureAndCleanUp(ctx context.Context) error {
	err := b.raise(ctx)
	if err == nil {
		err = b.measure(ctx)
	}
	cleanup, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Minute)
	defer cancel()
	err = errors.Join(err, cluster.SaveLogs("", labName, folder))
	if down := cluster.Down(cleanup, "", labName); down != nil {
		return errors.Join(err, fmt.Errorf("cleaning up: %w", down))
	}
	return err
}

func (b *bench) measure(ctx context.Context) error {
	for _, part := range []struct {
		name string
		run  func(context.Context) error
	}{
		{"requests", b.requests},
		{"quiet", b.quiet},
		// Not at first: a young API server keeps the machine busy.
		{"apply", b.applies},
		{"outage", b.outages},
		{"large", b.large},
	} {
		if b.only != "" && b.only != part.name {
			continue
		}
		if err := part.run(ctx); err != nil {
			return fmt.Errorf("measuring (%s): %w", part.name, err)
		}
	}
	return nil
}

// raise brings the cluster up.
func (b *bench) raise(ctx context.Context) error {
	if err := os.RemoveAll(folder); err != nil {
		return err
	}
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return err
	}
	assets, err := controlplane.Locate(ctx, controlplane.Search{KubebuilderAssets: os.Getenv("KUBEBUILDER_ASSETS"), Log: os.Stderr})
	if err != nil {
		return err
	}
	topo, err := lab.ParseTopology(topology)
	if err != nil {
		return err
	}
	if b.audit, err = filepath.Abs(filepath.Join(folder, "audit.log")); err != nil {
		return err
	}
	options := cluster.Options{
		Lab: lab.Options{
			Name: labName, Topology: topo, Handler: filepath.Join(b.bin, "handler"), Deploy: "deploy",
			KubebuilderAssets: assets.Dir, AuditLog: b.audit, Progress: func(line string) { b.progress("%s", line) },
		},
		Controllers:    filepath.Join(b.bin, "controllers"),
		ControllersLog: filepath.Join(folder, "controllers.log"),
	}
	if b.revertHelper != "" {
		options.Lab.HandlerArgs = []string{"--revert-helper", b.revertHelper}
	}
	if b.cluster, err = cluster.Up(ctx, options); err != nil {
		return err
	}
	b.one = b.cluster.Nodes()[0]
	ready, cancel := context.WithTimeoutCause(ctx, time.Minute, errors.New("not all nodes have reported within a minute"))
	defer cancel()
	if err := b.cluster.AwaitReported(ready); err != nil {
		return errors.Join(err, context.Cause(ready))
	}
	b.settle(ctx, baselineWarm)
	return nil
}

// baselineWarm is how long after its start a handler knows which probes pass.
const baselineWarm = 5 * time.Second

func (b *bench) progress(format string, args ...any) {
	fmt.Fprintf(os.Stderr, "%7.1fs  %s\n", time.Since(b.began).Seconds(), fmt.Sprintf(format, args...))
}

// settle lets echoes die away before the next measurement.
func (b *bench) settle(ctx context.Context, d time.Duration) {
	select {
	case <-ctx.Done():
	case <-time.After(d):
	}
}
