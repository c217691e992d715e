package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/nmstate/kubernetes-nmstate/sim/swarm"
	"github.com/nmstate/kubernetes-nmstate/sim/trace"
)

// Exit codes.
const (
	exitViolation = 1
	exitUsage     = 2
)

var (
	// errUsage marks what the caller has to change on the command line.
	errUsage = errors.New("usage")
	// errBroken: a rule did not hold, or something was never reached; it was
	// printed already.
	errBroken = errors.New("broken")
)

// version is stamped by the linker.
var version = "devel"

// garbage, in percent of what is kept, may wait until it is collected: a world keeps ten
// megabytes.
const garbage = 1600

func main() {
	// A run makes much garbage and keeps little.
	debug.SetGCPercent(garbage)
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	cmd := command()
	cmd.SetArgs(twoDashes(os.Args[1:]))
	switch err := cmd.ExecuteContext(ctx); {
	case err == nil:
	case errors.Is(err, errBroken):
		os.Exit(exitViolation)
	default:
		fmt.Fprintln(os.Stderr, "sim: "+strings.ReplaceAll(err.Error(), "\n", " "))
		if errors.Is(err, errUsage) {
			os.Exit(exitUsage)
		}
		os.Exit(exitViolation)
	}
}

// twoDashes lets flags be written as Go's tools write theirs: -seed 7.
func twoDashes(args []string) []string {
	var out []string
	for _, a := range args {
		if len(a) > 2 && a[0] == '-' && a[1] != '-' {
			a = "-" + a
		}
		out = append(out, a)
	}
	return out
}

// options are the flags.
type options struct {
	seed, from     uint64
	seeds          uint64
	seedSet        bool
	workers        int
	shrink         bool
	shrinkDir      string
	file           string
	long           bool
	lean           bool
	rollout        bool
	nodes          int
	maxUnavailable string
	centralized    bool
	json           bool
	quiet          bool
	coverage       bool
	profile        string
	known          string
	most           int
	// atMost is how long a search may go on; zero is to its end.
	atMost     time.Duration
	rule       string
	always     []string
	traceKinds []string
	traceNodes []string
	parts      parts
	shards     shards
}

func command() *cobra.Command {
	o := options{}
	cmd := &cobra.Command{
		Use:   "sim",
		Short: "Runs the product in a simulated cluster in which everything goes wrong",
		Long: `sim runs handlers and controllers of a whole cluster in one process on virtual
time, against models of the API server, the hosts and the network. A seed stands for a
run: its nodes, what people do, what goes wrong. The rules of the design are
checked at every step; when the faults have stopped, everything must come to an end
and then be quiet.

Exit code 0: all rules held. 1: one did not (its seed is printed). 2: wrong usage.`,
		Example: `  # One run, with its trace; of the trace, what happens to one node
  sim -seed 7
  sim -seed 7 -trace-nodes node2 -trace-kinds call,fault,log

  # Many, on all cores; then the figures
  sim -seeds 2000
  sim -seeds 100000 -from 1000000

  # The same on two machines, and one report of both
  sim -seeds 100000 -from 1000000 -shard 0/2 -json >0.json
  sim -seeds 100000 -from 1000000 -shard 1/2 -json >1.json
  sim -merge 0.json 1.json

  # A run that breaks a rule, with all that it does not need left out
  sim -seed 7 -shrink

  # A run that was kept
  sim -run sim/testdata/seed-7.json

  # A scenario of sim/scenario, or of a file; with a seed, other latencies
  sim -scenario a-bridge-takes-a-nic

  # Every port call of scenarios failed, stalled and crashed; one such run again
  sim -sweep
  sim -scenario a-bridge-takes-a-nic -at 30 -fault crash-after

  # A good policy rolled out over a large cluster
  sim -rollout -nodes 1000`,
		Args:          func(_ *cobra.Command, args []string) error { return o.shards.args(args) },
		Version:       version,
		SilenceUsage:  true,
		SilenceErrors: true,
		RunE: func(cmd *cobra.Command, _ []string) error {
			o.seedSet = cmd.Flags().Changed("seed")
			if err := o.check(); err != nil {
				return err
			}
			return profiled(o.profile, func() error { return o.run(cmd.Context(), cmd.InOrStdin(), cmd.OutOrStdout()) })
		},
	}
	o.addFlags(cmd)
	cmd.SetFlagErrorFunc(func(_ *cobra.Command, err error) error { return fmt.Errorf("%w: %w", errUsage, err) })
	return cmd
}

func (o *options) addFlags(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.Uint64Var(&o.seed, "seed", 0, "run this seed and write its trace")
	flags.Uint64Var(&o.seeds, "seeds", 0, "run so many seeds and print the figures")
	flags.Uint64Var(&o.from, "from", 1, "with -seeds: the first one; with -sweep: what the pairs, and the share of the runs, are drawn from")
	flags.IntVar(&o.workers, "workers", runtime.GOMAXPROCS(0), "with -seeds: how many run at once")
	flags.IntVar(&o.most, "failures", 10, "with -seeds: stop after so many that broke a rule")
	flags.StringSliceVar(&o.always, "arm", nil, "kinds of faults that every run has, with commas between (a wrong one lists them)")
	flags.DurationVar(&o.atMost, "at-most", 0, "with -seeds or -sweep: begin nothing more after so long (5m), and tell how much was not run; that alone is no failure. A sweep then goes in a drawn order")
	flags.StringVar(&o.rule, "rule", "", "look at this rule only (a wrong one lists them)")
	flags.StringVar(&o.known, "known", "", "with -seeds: a file of violations that do not count, \"SEED RULE why\" a line")
	flags.BoolVar(&o.coverage, "coverage", false, "with -seeds: print which faults were at work in which phases; one at zero is a failure")
	flags.BoolVar(&o.long, "long", false, "longer runs: two hours of faults instead of half an hour")
	flags.BoolVar(&o.lean, "lean", false, "people act in the middle of something, and faults come by threes")
	flags.StringVar(&o.file, "run", "", "run what this file says (-shrink writes such files)")
	flags.BoolVar(&o.shrink, "shrink", false, "with -seed or -run: when a rule breaks, leave out what it does not need, and keep the rest")
	flags.StringVar(&o.shrinkDir, "shrink-dir", "sim/testdata", "with -shrink: where it is kept")
	flags.BoolVar(&o.rollout, "rollout", false, "roll a good policy out, without faults, over -nodes nodes")
	flags.IntVar(&o.nodes, "nodes", 0, "with -rollout: how many nodes (1000 without); otherwise the most that a run has (7 without)")
	flags.StringVar(&o.maxUnavailable, "max-unavailable", "10%", "with -rollout: of the policy")
	flags.BoolVar(&o.centralized, "centralized", false, "with -rollout: the controllers do the policies of all nodes")
	flags.BoolVar(&o.json, "json", false, "print the result as JSON")
	flags.BoolVar(&o.quiet, "quiet", false, "with -seed or -run: no trace, only the result")
	flags.StringSliceVar(&o.traceKinds, "trace-kinds", nil, "of the trace, only lines of these kinds: call, fault, log, host, ... (a wrong one lists them)")
	flags.StringSliceVar(&o.traceNodes, "trace-nodes", nil, "of the trace, only lines about these nodes")
	flags.StringVar(&o.profile, "cpuprofile", "", "write a profile of the processor's time to this file")
	o.parts.addFlags(flags)
	o.shards.addFlags(flags)
}

func (o *options) check() error {
	modes := 0
	for _, is := range []bool{o.seedSet && o.parts.scenario == "", o.seeds > 0, o.file != "", o.rollout, o.parts.any(), o.shards.merge} {
		if is {
			modes++
		}
	}
	switch {
	case modes == 0:
		return fmt.Errorf("%w: say what to run: -seed N, -seeds N, -run FILE, -rollout, -merge FILES, %s; -help has examples", errUsage, o.parts.names())
	case modes > 1:
		return fmt.Errorf("%w: -seed, -seeds, -run, -rollout, -merge, %s: one of them", errUsage, o.parts.names())
	case o.shrink && !o.seedSet && o.file == "":
		return fmt.Errorf("%w: -shrink needs -seed or -run", errUsage)
	case o.workers < 1 || o.most < 1 || o.nodes < 0:
		return fmt.Errorf("%w: -workers, -failures and -nodes: want at least 1", errUsage)
	case (o.parts.at != "" || o.parts.faults != "") && (o.parts.scenario == "" || o.parts.sweep):
		return fmt.Errorf("%w: -at and -fault need -scenario", errUsage)
	case o.parts.share < 1:
		return fmt.Errorf("%w: -share: want at least 1", errUsage)
	case o.coverage && o.seeds == 0 && !o.shards.merge:
		return fmt.Errorf("%w: -coverage needs -seeds or -merge", errUsage)
	case o.shards.shard != "" && o.seeds == 0:
		return fmt.Errorf("%w: -shard needs -seeds", errUsage)
	}
	return errors.Join(o.shards.check(), o.checkNames())
}

// checkNames: a name that nothing has would find nothing, and look like success.
func (o *options) checkNames() error {
	if rules := swarm.Rules(); o.rule != "" && !slices.Contains(rules, o.rule) {
		return fmt.Errorf("%w: -rule: there is no %q; there are %s", errUsage, o.rule, strings.Join(rules, ", "))
	}
	for _, kind := range o.traceKinds {
		if kinds := trace.Kinds(); !slices.Contains(kinds, kind) {
			return fmt.Errorf("%w: -trace-kinds: there is no %q; there are %s", errUsage, kind, strings.Join(kinds, ", "))
		}
	}
	kinds := swarm.Kinds()
	for _, kind := range o.always {
		if !slices.Contains(kinds, kind) {
			return fmt.Errorf("%w: -arm: there is no %q; there are %s", errUsage, kind, strings.Join(kinds, ", "))
		}
	}
	return nil
}

// longSafety is how long the faults last in a long run.
const longSafety = 2 * time.Hour

func (o *options) size() swarm.Size {
	size := swarm.Size{MostNodes: o.nodes, Always: o.always, Lean: o.lean}
	if o.long {
		size.Safety = longSafety
	}
	return size
}
