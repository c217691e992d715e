package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/nmstate/kubernetes-nmstate/sim/oracle"
	"github.com/nmstate/kubernetes-nmstate/sim/swarm"
	"github.com/nmstate/kubernetes-nmstate/sim/trace"
)

// kept is a run in a file.
type kept struct {
	// Broke is the rule that it broke when it was kept, and Found what it was.
	Broke string    `json:"broke"`
	Found string    `json:"found"`
	Run   swarm.Run `json:"run"`
}

func (o *options) run(ctx context.Context, in io.Reader, out io.Writer) error {
	switch {
	case o.shards.merge:
		return o.mergeShards(in, out)
	case o.parts.any():
		return o.parts.run(ctx, out, o)
	case o.rollout:
		return o.rollOut(ctx, out)
	case o.seeds > 0:
		return o.many(ctx, out)
	case o.file != "":
		k, err := read(o.file)
		if err != nil {
			return fmt.Errorf("%w: -run: %w", errUsage, err)
		}
		return o.one(ctx, out, k.Run)
	}
	return o.one(ctx, out, swarm.Draw(o.seed, o.size()))
}

func read(file string) (kept, error) {
	raw, err := os.ReadFile(file)
	if err != nil {
		return kept{}, err
	}
	var k kept
	if err := json.Unmarshal(raw, &k); err != nil {
		return kept{}, fmt.Errorf("reading %s: %w", file, err)
	}
	if err := k.Run.Check(); err != nil {
		return kept{}, fmt.Errorf("reading %s: %w", file, err)
	}
	return k, nil
}

// one runs a run with its trace.
func (o *options) one(ctx context.Context, out io.Writer, run swarm.Run) error {
	r := o.replay(out, names(run))
	if !r.silent() {
		_, _ = fmt.Fprintln(r.out, run)
	}
	result := swarm.Execute(ctx, run, swarm.Options{Rule: o.rule, Sink: r.sink()})
	took := r.took()
	if err := r.end(result.Figures.Virtual, result, func() error {
		_, err := fmt.Fprintf(r.out, "\nseed %d: %s\n%s, trace %016x, %s of this machine's time\n",
			run.Seed, verdict(result.Violation), inALine(result.Figures), result.Hash, took)
		return err
	}, func(record *trace.Record) { o.complete(record, run, result) }); err != nil {
		return err
	}
	if result.Violation == nil {
		return ctx.Err()
	}
	if o.shrink {
		if err := o.keep(ctx, out, run, *result.Violation); err != nil {
			return err
		}
	}
	return errBroken
}

// shrinkTries bounds the runs of a shrinking.
const shrinkTries = 400

// keep shrinks the run and writes what is left.
func (o *options) keep(ctx context.Context, out io.Writer, run swarm.Run, found oracle.Violation) error {
	last := found
	tried := 0
	smaller := swarm.Shrink(run, found.Rule, shrinkTries, func(r swarm.Run) string {
		tried++
		v := swarm.Execute(ctx, r, swarm.Options{Rule: o.rule}).Violation
		if v == nil || ctx.Err() != nil {
			return ""
		}
		if v.Rule == found.Rule {
			last = *v
		}
		return v.Rule
	})
	raw, err := json.MarshalIndent(kept{Broke: last.Rule, Found: last.String(), Run: smaller}, "", "  ")
	if err != nil {
		return fmt.Errorf("keeping the run: %w", err)
	}
	name := filepath.Join(o.shrinkDir, fmt.Sprintf("%s-seed-%d.json", plain(found.Rule), run.Seed))
	if err := os.MkdirAll(o.shrinkDir, 0o755); err != nil { //nolint:gosec // For everybody to read, as the rest of the tree.
		return fmt.Errorf("keeping the run: %w", err)
	}
	if err := os.WriteFile(name, append(raw, '\n'), 0o644); err != nil { //nolint:gosec // The same.
		return fmt.Errorf("keeping the run: %w", err)
	}
	_, err = fmt.Fprintf(out, "\nafter %d runs this is left (%s):\n%s\nsim -run %s\n", tried, last, smaller, name)
	return err
}

// plain makes a part of a file's name.
func plain(name string) string {
	return strings.Trim(regexp.MustCompile(`[^a-z0-9]+`).ReplaceAllString(strings.ToLower(name), "-"), "-")
}
