package main

import (
	"context"
	"errors"
	"io"

	"github.com/spf13/pflag"
)

// parts are what other packages of the simulator run: scenarios, the sweep.
type parts struct {
	scenario string
	sweep    bool
	html     string
}

func (p *parts) addFlags(flags *pflag.FlagSet) {
	flags.StringVar(&p.scenario, "scenario", "", "run a scenario, by its file or its name")
	flags.BoolVar(&p.sweep, "sweep", false, "fail, stall and crash every port call of every scenario in turn")
	flags.StringVar(&p.html, "html", "", "with -seed, -run or -scenario: write a timeline for the browser to this file")
}

func (p *parts) any() bool { return p.scenario != "" || p.sweep }

func (*parts) names() string { return "-scenario FILE, -sweep" }

func (p *parts) run(ctx context.Context, out io.Writer, o *options) error {
	if p.scenario != "" {
		return o.play(ctx, out)
	}
	return errors.New("the sweep is not there yet")
}
