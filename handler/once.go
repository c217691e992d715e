package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/client"

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

// pass takes back first what an earlier handler left open, and then asks for the
// API server.
func pass(ctx context.Context, o options, last *once.Verdict) error {
	limited, cancel := context.WithTimeout(ctx, o.onceTimeout)
	defer cancel()
	n, err := newNode(limited, o, nil)
	if err != nil {
		return err
	}
	if err = n.state.Recover(limited); err != nil {
		err = fmt.Errorf("taking back what an earlier handler left open: %w", err)
	} else {
		err = n.pass(limited, last)
	}
	if err != nil && n.state.Busy() {
		// Cut short, by its time or a signal.
		end(context.WithoutCancel(ctx), n.state, onceGrace, 0)
	}
	return err
}

func (n *node) pass(ctx context.Context, last *once.Verdict) error {
	p, err := n.parts()
	if err != nil {
		return err
	}
	direct, err := client.New(n.config, client.Options{Scheme: p.scheme})
	if err != nil {
		return fmt.Errorf("reaching the API server: %w", err)
	}
	policies, err := p.connect(ctx, direct, direct, nil)
	if err != nil {
		return err
	}
	one := once.Pass{Node: n.options.node, Timeout: n.options.onceTimeout, Client: direct, Clock: n.clock, State: n.state}
	if policies != nil {
		one.Policy = policies
	}
	return one.Run(ctx, last)
}
