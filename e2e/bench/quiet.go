//go:build linux

package main

import (
	"context"
	"fmt"
	"os"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/nmstate/kubernetes-nmstate/e2e/controlplane"
	"github.com/nmstate/kubernetes-nmstate/handler/txn"
)

const (
	// idleFor is how long an idle node is looked at.
	idleFor = 30 * time.Second
	// reaction is how long a handler has to do what it should not.
	reaction = 10 * time.Second
)

// quiet counts what happens when nothing should.
func (b *bench) quiet(ctx context.Context) error {
	if _, err := b.create(ctx, b.policyFor("bridge", bridge)); err != nil {
		return err
	}
	b.settle(ctx, time.Second)
	b.title("what happens when nothing should (one policy is Available)")
	out := tabwriter.NewWriter(b.tables, 0, 0, 3, ' ', 0)
	_, _ = fmt.Fprintln(out, "event\tapplies (goal 0)\twrites to the API\tof what")
	for _, event := range []struct {
		name string
		do   func(context.Context) error
	}{
		{"the handler is restarted", func(ctx context.Context) error { return b.one.Handler(ctx, "restart") }},
		{"an unrelated label on the node", b.label},
	} {
		b.progress("quiet: %s", event.name)
		since := time.Now()
		if err := event.do(ctx); err != nil {
			return err
		}
		b.settle(ctx, reaction)
		log, err := logSince(b.one, since)
		if err != nil {
			return err
		}
		writes, err := b.writes(since)
		if err != nil {
			return err
		}
		b.figure(event.name+": applies", "count", new(0.0), float64(countPhase(log, string(txn.Applying))))
		_, _ = fmt.Fprintf(out, "%s\t%d\t%d\t%s\n", event.name, countPhase(log, string(txn.Applying)), len(writes), kinds(writes))
	}
	_ = out.Flush()
	if err := b.idle(ctx); err != nil {
		return err
	}
	if err := b.remove(ctx, "bridge"); err != nil {
		return err
	}
	return b.tidyUp(ctx)
}

func (b *bench) label(ctx context.Context) error {
	var node corev1.Node
	if err := b.cluster.Client.Get(ctx, client.ObjectKey{Name: b.one.Name}, &node); err != nil {
		return err
	}
	base := node.DeepCopy()
	node.Labels["example.com/bench"] = strconv.FormatInt(time.Now().Unix(), 10)
	return b.cluster.Client.Patch(ctx, &node, client.MergeFrom(base))
}

// idle looks at a node on which nothing happens.
func (b *bench) idle(ctx context.Context) error {
	b.progress("quiet: an idle node for %s", idleFor)
	before, err := b.cost(ctx)
	if err != nil {
		return err
	}
	since := time.Now()
	b.settle(ctx, idleFor)
	after, err := b.cost(ctx)
	if err != nil {
		return err
	}
	all, err := controlplane.ReadRequests(b.audit, controlplane.Filter{Since: since, Node: b.one.Name})
	if err != nil {
		return err
	}
	writes, err := b.writes(since)
	if err != nil {
		return err
	}
	b.title(fmt.Sprintf("an idle node, for %.0f s", idleFor.Seconds()))
	out := tabwriter.NewWriter(b.tables, 0, 0, 3, ' ', 0)
	cpu := after.cpu - before.cpu
	b.figure("idle node: writes to the API", "requests", new(0.0), float64(len(writes)))
	b.figure("idle node: handler's CPU", "percent", nil, 100*cpu.Seconds()/idleFor.Seconds())
	b.figure("idle node: handler's memory (RSS)", "MiB", new(40.0), after.rss/(1<<20))
	_, _ = fmt.Fprintf(out, "writes to the API (goal 0)\t%d\t%s\n", len(writes), kinds(writes))
	_, _ = fmt.Fprintf(out, "other requests\t%d\t%s\n", len(all)-len(writes), kinds(all))
	_, _ = fmt.Fprintf(out, "CPU time of the handler\t%s\t%.2f %% of one CPU\n", inSeconds(cpu), 100*cpu.Seconds()/idleFor.Seconds())
	_, _ = fmt.Fprintf(out, "memory of the handler (RSS)\t%.0f MiB\t\n", after.rss/(1<<20))
	return out.Flush()
}

// cost is what the handler has used so far.
type cost struct {
	cpu time.Duration
	rss float64 // bytes
}

// ticks is USER_HZ, which is 100 wherever Linux runs Go.
const ticks = 100

func (b *bench) cost(ctx context.Context) (cost, error) {
	pid, err := b.handlerPID(ctx)
	if err != nil {
		return cost{}, err
	}
	raw, err := b.one.Exec(ctx, "cat", "/proc/"+strconv.Itoa(pid)+"/stat")
	if err != nil {
		return cost{}, err
	}
	// After the name in parentheses, which may have blanks: the state is field 3,
	// utime 14, stime 15, rss in pages 24.
	_, rest, _ := strings.Cut(string(raw), ") ")
	fields := strings.Fields(rest)
	if len(fields) < 22 {
		return cost{}, fmt.Errorf("the kernel tells too little of the handler: %q", raw)
	}
	var numbers [3]float64
	for i, field := range []string{fields[11], fields[12], fields[21]} {
		if numbers[i], err = strconv.ParseFloat(field, 64); err != nil {
			return cost{}, fmt.Errorf("reading the handler's cost: %w", err)
		}
	}
	return cost{
		cpu: time.Duration((numbers[0] + numbers[1]) / ticks * float64(time.Second)),
		rss: numbers[2] * float64(os.Getpagesize()),
	}, nil
}
