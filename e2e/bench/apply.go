//go:build linux

package main

import (
	"context"
	"fmt"
	"slices"
	"text/tabwriter"
	"time"

	"github.com/nmstate/kubernetes-nmstate/handler/txn"
)

// sample is one bare apply and one policy of the same state, on a node that was
// the same before both.
type sample struct {
	bare bareTimes
	// unverified is the bare apply without libnmstate's verification.
	unverified bareTimes
	// volatile is the bare apply in memory only.
	volatile bareTimes
	policy   time.Duration
	steps    []time.Duration
}

// steps are the parts of a policy's time, in order: up to the phase that begins,
// and after the last one up to what the API shows.
var steps = []struct{ name, until string }{
	{"select, grant, write the desired state", string(txn.Baseline)},
	{"baseline: which probes pass now", string(txn.Arming)},
	{"arming: live read, way back, journal", string(txn.Applying)},
	{"applying: libnmstate in a child", string(txn.Probing)},
	{"probing and reading back", string(txn.Committing)},
	{"committing, closing the journal", string(txn.Idle)},
	{"reporting, enactment Available", ""},
	{"policy Available", ""},
}

// applyStep is the one that the bare apply has too.
const applyStep = 3

// applies compares a policy with a bare apply on three kinds of node.
func (b *bench) applies(ctx context.Context) error {
	kinds := []struct {
		name string
		make func(context.Context) error
	}{
		{"gateway and DNS answer", func(context.Context) error { return nil }},
		{"DNS does not answer", b.silenceDNS},
		{"neither answers", b.silenceGateway},
	}
	names, columns := []string{}, [][]sample{}
	for _, kind := range kinds {
		if err := kind.make(ctx); err != nil {
			return fmt.Errorf("%s: %w", kind.name, err)
		}
		samples, err := b.samples(ctx, kind.name)
		if err != nil {
			return fmt.Errorf("%s: %w", kind.name, err)
		}
		names, columns = append(names, kind.name), append(columns, samples)
	}
	b.printApplies(names, columns)
	return b.healFabric(ctx)
}

// samples measures alternately, so that a busy moment of the machine is in both.
// The first pair only warms up.
func (b *bench) samples(ctx context.Context, kind string) ([]sample, error) {
	var all []sample
	for i := range b.repeats + 1 {
		s, err := b.sample(ctx)
		if err != nil {
			return nil, err
		}
		if i == 0 {
			continue
		}
		all = append(all, s)
		b.progress("%s: %d of %d: bare %s, policy %s", kind, i, b.repeats, inSeconds(s.bare.total()), inSeconds(s.policy))
	}
	return all, nil
}

func (b *bench) sample(ctx context.Context) (sample, error) {
	var s sample
	// Frozen, the handler does not read the network while libnmstate works alone.
	if err := b.signalHandler(ctx, "STOP"); err != nil {
		return s, err
	}
	var err error
	if s.unverified, err = b.bareOn(ctx, b.one, bridge, noVerify); err != nil {
		return s, err
	}
	if err := b.tidyUp(ctx); err != nil {
		return s, err
	}
	if s.volatile, err = b.bareOn(ctx, b.one, bridge, memoryOnly); err != nil {
		return s, err
	}
	if err := b.tidyUp(ctx); err != nil {
		return s, err
	}
	if s.bare, err = b.bareOn(ctx, b.one, bridge); err != nil {
		return s, err
	}
	if err := b.signalHandler(ctx, "CONT"); err != nil {
		return s, err
	}
	if err := b.tidyUp(ctx); err != nil {
		return s, err
	}
	t, err := b.create(ctx, b.policyFor("bridge", bridge))
	if err != nil {
		return s, err
	}
	s.policy = t.policy.Sub(t.created)
	log, err := logSince(b.one, t.created)
	if err != nil {
		return s, err
	}
	s.steps = stepsOf(log, t)
	if err := b.remove(ctx, "bridge"); err != nil {
		return s, err
	}
	return s, b.tidyUp(ctx)
}

// tidyUp makes the node as before and lets the handler's reports die away.
func (b *bench) tidyUp(ctx context.Context) error {
	_, err := b.bareOn(ctx, b.one, noBridge)
	b.settle(ctx, time.Second)
	return err
}

func stepsOf(log []line, t times) []time.Duration {
	var all []time.Duration
	from := t.created
	for _, step := range steps {
		to := phaseAt(log, step.until)
		switch step.name {
		case "reporting, enactment Available":
			to = t.enactment
		case "policy Available":
			to = t.policy
		}
		if to.IsZero() {
			to = from
		}
		all = append(all, to.Sub(from))
		from = to
	}
	return all
}

func median(all []time.Duration) time.Duration {
	sorted := slices.Sorted(slices.Values(all))
	if len(sorted) == 0 {
		return 0
	}
	return sorted[len(sorted)/2]
}

// each is one figure of all samples.
func each(samples []sample, figure func(sample) time.Duration) []time.Duration {
	var all []time.Duration
	for _, s := range samples {
		all = append(all, figure(s))
	}
	return all
}

func inSeconds(d time.Duration) string { return fmt.Sprintf("%.3f s", d.Seconds()) }

func (b *bench) printApplies(names []string, columns [][]sample) {
	b.title("a small policy (bridge over a NIC, address, route), created to Available, and a bare libnmstate apply and commit")
	out := tabwriter.NewWriter(b.tables, 0, 0, 3, ' ', 0)
	row := func(name string, cell func([]sample) string) {
		_, _ = fmt.Fprint(out, name)
		for _, samples := range columns {
			_, _ = fmt.Fprint(out, "\t", cell(samples))
		}
		_, _ = fmt.Fprintln(out)
	}
	_, _ = fmt.Fprint(out, "median of the runs")
	for _, name := range names {
		_, _ = fmt.Fprint(out, "\t", name)
	}
	_, _ = fmt.Fprintln(out)
	bareOf := func(s sample) time.Duration { return s.bare.total() }
	policyOf := func(s sample) time.Duration { return s.policy }
	stepOf := func(i int) func(sample) time.Duration { return func(s sample) time.Duration { return s.steps[i] } }
	row("runs", func(s []sample) string { return fmt.Sprint(len(s)) })
	row("bare apply and commit", func(s []sample) string { return spread(each(s, bareOf)) })
	row("the same in memory only, as a trial", func(s []sample) string {
		return spread(each(s, func(s sample) time.Duration { return s.volatile.total() }))
	})
	row("policy created to Available", func(s []sample) string { return spread(each(s, policyOf)) })
	for i, name := range names {
		for _, s := range columns[i] {
			b.figure("bridge, "+name+": policy", "s", nil, s.policy.Seconds())
			b.figure("bridge, "+name+": bare", "s", nil, s.bare.total().Seconds())
			b.figure("bridge, "+name+": policy over bare", "ratio", new(0.35), s.policy.Seconds()/s.bare.total().Seconds())
		}
	}
	row("RATIO (goal 0.35)", func(s []sample) string {
		return fmt.Sprintf("%.2f", median(each(s, policyOf)).Seconds()/median(each(s, bareOf)).Seconds())
	})
	row("all but libnmstate's own apply", func(s []sample) string {
		return inSeconds(median(each(s, func(s sample) time.Duration { return s.policy - s.steps[applyStep] })))
	})
	row("of the bare one: its verification", func(s []sample) string {
		part := median(each(s, func(s sample) time.Duration { return s.bare.total() - s.unverified.total() }))
		return fmt.Sprintf("%s  %2.0f %%", inSeconds(part), 100*part.Seconds()/median(each(s, bareOf)).Seconds())
	})
	row("share of each step:", func([]sample) string { return "" })
	for i, step := range steps {
		row("  "+step.name, func(s []sample) string {
			part := median(each(s, stepOf(i)))
			return fmt.Sprintf("%s  %2.0f %%", inSeconds(part), 100*part.Seconds()/median(each(s, policyOf)).Seconds())
		})
	}
	_ = out.Flush()
}

func spread(all []time.Duration) string {
	return fmt.Sprintf("%s (%.2f to %.2f)", inSeconds(median(all)), slices.Min(all).Seconds(), slices.Max(all).Seconds())
}

func (b *bench) title(text string) { _, _ = fmt.Fprintf(b.tables, "\n== %s\n\n", text) }
