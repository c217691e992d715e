package probe

import (
	"context"
	"fmt"
	"sync"
	"time"

	"k8s.io/utils/clock"

	"github.com/nmstate/kubernetes-nmstate/handler/deadline"
)

// Until repeats a probe until it passes or ctx ends. An attempt may take as
// long as attempt, and the next one starts interval after it failed. The error
// is that of the last attempt that had its full time: what ctx cut short says
// nothing about the network.
func Until(ctx context.Context, clock deadline.Clock, prober Asker, name string, interval, attempt time.Duration) error {
	var last error
	for {
		err := once(ctx, clock, prober, name, attempt)
		if err == nil {
			return nil
		}
		if last == nil || ctx.Err() == nil {
			last = err
		}
		if !clock.Wait(ctx, nil, interval) {
			return last
		}
	}
}

// Once tries the probes side by side, each for as long as attempt, and returns
// what each of them said; nil means that it passed.
func Once(ctx context.Context, clock clock.WithDelayedExecution, prober Asker, names []string, attempt time.Duration) map[string]error {
	answers := make([]error, len(names))
	var group sync.WaitGroup
	for i, name := range names {
		group.Go(func() { answers[i] = once(ctx, clock, prober, name, attempt) })
	}
	group.Wait()

	outcome := make(map[string]error, len(names))
	for i, name := range names {
		outcome[name] = answers[i]
	}
	return outcome
}

func once(ctx context.Context, clock clock.WithDelayedExecution, prober Asker, name string, attempt time.Duration) error {
	// A probe that ignores its context must not pass after the end.
	if err := ctx.Err(); err != nil {
		return fmt.Errorf("%s: not tried: %w", name, err)
	}
	ctx, cancel := deadline.After(ctx, clock, attempt)
	defer cancel()
	return prober.Probe(ctx, name)
}
