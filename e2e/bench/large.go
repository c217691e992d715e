//go:build linux

package main

import (
	"context"
	"fmt"
	"strings"
	"text/tabwriter"
	"time"
)

// largeWindow is the probe window of a policy that makes hundreds of interfaces:
// the state is read back within it, and one read takes seconds.
const largeWindow = 5 * time.Minute

// large compares policies that make many interfaces, and a small one beside
// them, with bare applies of the same states.
func (b *bench) large(ctx context.Context) error {
	b.title("large changes (bridges with an address each), created to Available, and bare libnmstate applies and commits")
	out := tabwriter.NewWriter(b.tables, 0, 0, 3, ' ', 0)
	_, _ = fmt.Fprintln(out, "change\tpolicy\tbare\tpolicy over bare")
	small := map[string]float64{}
	for _, size := range b.sizes {
		for _, step := range []struct {
			name    string
			goal    *float64
			desired string
			back    string
		}{
			{fmt.Sprintf("%d bridges", size), new(1.1), bridges(1, size, "up"), bridges(1, size, "absent")},
			{fmt.Sprintf("one bridge beside %d", size), new(1.0), bridges(9999, 1, "up"), bridges(9999, 1, "absent")},
		} {
			beside := strings.HasPrefix(step.name, "one")
			if beside {
				if _, err := b.bareOn(ctx, b.one, bridges(1, size, "up")); err != nil {
					return err
				}
			}
			b.progress("large: %s", step.name)
			policy, bare, err := b.pair(ctx, step.desired, step.back)
			if err != nil {
				return fmt.Errorf("%s: %w", step.name, err)
			}
			if beside {
				small[step.name] = policy.Seconds()
				if _, err := b.bareOn(ctx, b.one, bridges(1, size, "absent")); err != nil {
					return err
				}
			}
			b.figure(step.name+": policy", "s", nil, policy.Seconds())
			b.figure(step.name+": policy over bare", "ratio", step.goal, policy.Seconds()/bare.Seconds())
			_, _ = fmt.Fprintf(out, "%s\t%s\t%s\t%.2f\n", step.name, inSeconds(policy), inSeconds(bare), policy.Seconds()/bare.Seconds())
		}
	}
	if len(b.sizes) > 1 {
		first, last := b.sizes[0], b.sizes[len(b.sizes)-1]
		ratio := small[fmt.Sprintf("one bridge beside %d", last)] / small[fmt.Sprintf("one bridge beside %d", first)]
		b.figure(fmt.Sprintf("one bridge beside %d over one beside %d", last, first), "ratio", new(2.0), ratio)
	}
	return out.Flush()
}

// pair is how long a policy takes and how long a bare apply does, on a node that is
// the same before both.
func (b *bench) pair(ctx context.Context, desired, back string) (policy, bare time.Duration, err error) {
	if err := b.signalHandler(ctx, "STOP"); err != nil {
		return 0, 0, err
	}
	times, err := b.bareOn(ctx, b.one, desired)
	if err != nil {
		return 0, 0, err
	}
	if _, err := b.bareOn(ctx, b.one, back); err != nil {
		return 0, 0, err
	}
	if err := b.signalHandler(ctx, "CONT"); err != nil {
		return 0, 0, err
	}
	b.settle(ctx, calm)
	p := b.policyFor("large", desired)
	window := int32(largeWindow.Seconds())
	p.Spec.ProbeTimeoutSeconds = &window
	t, err := b.create(ctx, p)
	if err != nil {
		return 0, 0, err
	}
	if err := b.remove(ctx, "large"); err != nil {
		return 0, 0, err
	}
	if _, err := b.bareOn(ctx, b.one, back); err != nil {
		return 0, 0, err
	}
	b.settle(ctx, calm)
	return t.policy.Sub(t.created), times.total(), nil
}

// bridges is a state of count bridges from br<first> on, with an address each.
func bridges(first, count int, state string) string {
	var all []string
	for i := range count {
		number := first + i
		one := fmt.Sprintf(`{"name": "lb%d", "type": "linux-bridge", "state": %q`, number, state)
		if state == "up" {
			one += fmt.Sprintf(`, "bridge": {"options": {"stp": {"enabled": false}}, "port": []}, "ipv6": {"enabled": false},
				"ipv4": {"enabled": true, "dhcp": false, "address": [{"ip": "10.%d.%d.1", "prefix-length": 24}]}`, number/250, number%250)
		}
		all = append(all, one+"}")
	}
	return `{"interfaces": [` + strings.Join(all, ",") + `]}`
}
