//go:build linux

package main

import (
	"context"
	"fmt"
	"text/tabwriter"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "github.com/nmstate/kubernetes-nmstate/api/v1"
	"github.com/nmstate/kubernetes-nmstate/e2e/lab"
	"github.com/nmstate/kubernetes-nmstate/handler/txn"
)

const (
	// window is what the bad policy's probes get.
	window = 10 * time.Second
	// killAfter is when, in the probe window, something is killed.
	killAfter = 3 * time.Second
	// calm is how long after the last word nothing may happen any more.
	calm = 5 * time.Second
)

// outages shows a bad policy on the NIC that carries the API server.
func (b *bench) outages(ctx context.Context) error {
	b.title(fmt.Sprintf("a policy that cuts its node off (probe window %.0f s), as seen from outside", window.Seconds()))
	out := tabwriter.NewWriter(b.tables, 0, 0, 3, ' ', 0)
	_, _ = fmt.Fprintln(out, "case\toutages\tlongest\tall together\tenactment\tapplies\tkernel as before")
	for _, c := range []struct {
		name  string
		fault func(context.Context) error
	}{
		{"nothing else", nil},
		{"handler killed (-9) once", func(ctx context.Context) error { return b.one.Handler(ctx, "kill") }},
		{"NetworkManager killed (-9) once", func(ctx context.Context) error {
			if err := b.one.NM(ctx, "kill"); err != nil {
				return err
			}
			b.settle(ctx, time.Second) // as a service manager would
			return b.one.NM(ctx, "start")
		}},
	} {
		b.progress("outage: %s", c.name)
		row, err := b.outage(ctx, c.name, c.fault)
		if err != nil {
			return fmt.Errorf("%s: %w", c.name, err)
		}
		_, _ = fmt.Fprintf(out, "%s\t%s\n", c.name, row)
	}
	return out.Flush()
}

func (b *bench) outage(ctx context.Context, name string, fault func(context.Context) error) (string, error) {
	before, err := b.one.Settled(ctx)
	if err != nil {
		return "", err
	}
	watch, err := b.cluster.Watch(ctx, b.one)
	if err != nil {
		return "", err
	}
	defer watch.Stop()
	p := b.policyFor("cut-off", cutOff)
	seconds := int32(window.Seconds())
	p.Spec.ProbeTimeoutSeconds = &seconds
	began := time.Now()
	if err := b.cluster.Client.Create(ctx, p); err != nil {
		return "", err
	}
	if fault != nil {
		if err := b.inProbing(ctx, began, fault); err != nil {
			return "", err
		}
	}
	verdict, err := b.lastWord(ctx, p.Name)
	if err != nil {
		return "", err
	}
	b.settle(ctx, calm)
	seen := watch.Stop()
	log, err := logSince(b.one, began)
	if err != nil {
		return "", err
	}
	after, err := b.one.Settled(ctx)
	if err != nil {
		return "", err
	}
	as := "yes"
	if after != before {
		as = "NO"
	}
	b.figure("cut off, "+name+": longest outage", "s", nil, seen.Longest().Seconds())
	if err := b.remove(ctx, p.Name); err != nil {
		return "", err
	}
	b.settle(ctx, calm)
	return fmt.Sprintf("%d\t%.1f s\t%.1f s\t%s\t%d\t%s", len(seen.Gaps), seen.Longest().Seconds(), together(seen).Seconds(),
		verdict, countPhase(log, string(txn.Applying)), as), nil
}

func together(seen lab.Outage) time.Duration {
	var sum time.Duration
	for _, g := range seen.Gaps {
		sum += g.Length()
	}
	return sum
}

// inProbing does something some seconds after the trial's probes began.
func (b *bench) inProbing(ctx context.Context, began time.Time, fault func(context.Context) error) error {
	err := b.until(ctx, "the probes to begin", func() (bool, error) {
		log, err := logSince(b.one, began)
		return !phaseAt(log, string(txn.Probing)).IsZero(), err
	})
	if err != nil {
		return err
	}
	b.settle(ctx, killAfter)
	return fault(ctx)
}

// lastWord waits until the enactment fails for good, and tells the condition.
func (b *bench) lastWord(ctx context.Context, policy string) (string, error) {
	verdict := ""
	key := client.ObjectKey{Name: v1.EnactmentName(b.one.Name, policy)}
	err := b.until(ctx, "the enactment to fail for good", func() (bool, error) {
		var e v1.NodeNetworkConfigurationEnactment
		if err := b.cluster.Client.Get(ctx, key, &e); err != nil {
			return false, client.IgnoreNotFound(err)
		}
		if c := v1.TrueCondition(e.Status.Conditions, v1.EnactmentFailing); c != nil && (e.Status.Retry == nil || e.Status.Retry.After == nil) {
			verdict = string(c.Type)
			return true, nil
		}
		return false, nil
	})
	return verdict, err
}
