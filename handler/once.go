package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/nmstate/kubernetes-nmstate/handler/deadline"
	"github.com/nmstate/kubernetes-nmstate/handler/once"
)

// onceGrace is what a pass that was cut short has to take a transaction back.
const onceGrace = 30 * time.Second

// single is client mode: bring the node to what is approved for it, report, and
// say with the exit code how it went.
func single(ctx context.Context, o options) error {
	var last once.Verdict
	err := pass(ctx, o, &last)
	if o.output == outputJSON && !errors.Is(err, errUsage) {
		return errors.Join(err, last.Write(os.Stdout, o.node, err))
	}
	return err
}

func pass(ctx context.Context, o options, last *once.Verdict) error {
	p, err := newParts(ctx, o)
	if err != nil {
		return err
	}
	direct, err := client.New(p.config, client.Options{Scheme: p.scheme})
	if err != nil {
		return fmt.Errorf("reaching the API server: %w", err)
	}
	wall := deadline.On(clock.RealClock{})
	h, err := p.handlers(direct, direct, wall, nil)
	if err != nil {
		return err
	}
	one := once.Pass{Node: o.node, Timeout: o.onceTimeout, Client: direct, Clock: wall, State: h.state}
	if h.policy != nil {
		one.Policy = h.policy
	}
	if err = one.Run(ctx, last); err == nil || !h.state.Busy() {
		return err
	}
	// Cut short, by its time or a signal.
	end(context.WithoutCancel(ctx), h.state, onceGrace, 0)
	return err
}
