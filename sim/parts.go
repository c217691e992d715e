package main

import (
	"context"
	"io"

	"github.com/spf13/pflag"
)

// parts are what other packages of the simulator run: scenarios, the sweep.
type parts struct {
	scenario string
	sweep    bool
	pairs    int
	share    int
	// at and faults are the calls of a scenario that are struck, and how.
	at, faults string
	timeline   string
}

func (p *parts) addFlags(flags *pflag.FlagSet) {
	flags.StringVar(&p.scenario, "scenario", "", "run a scenario, by its file or its name")
	flags.BoolVar(&p.sweep, "sweep", false, "fail, stall and crash every port call of scenarios in turn; with -scenario of that one, with -long of all")
	flags.IntVar(&p.pairs, "pairs", 2000, "with -sweep: so many runs with two faults")
	flags.IntVar(&p.share, "share", 1, "with -sweep: of scenarios that are not chosen for every change, one in so many of the runs, beginning with number -from")
	flags.StringVar(&p.at, "at", "", "with -scenario: run its actions with a fault on the port call of this number; \"17,40\" for two")
	flags.StringVar(&p.faults, "fault", "", "with -at: fail, lose, stall, crash-before or crash-after; one for each call")
	flags.StringVar(&p.timeline, "timeline", "", "with -seed, -run or -scenario: write a timeline to this file, for ui.perfetto.dev or chrome://tracing")
}

func (p *parts) any() bool { return p.scenario != "" || p.sweep }

func (*parts) names() string { return "-scenario FILE, -sweep" }

func (p *parts) run(ctx context.Context, out io.Writer, o *options) error {
	if p.sweep {
		return o.sweep(ctx, out)
	}
	return o.play(ctx, out)
}
