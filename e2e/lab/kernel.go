//go:build linux

package lab

import (
	"context"
	"fmt"
	"strings"

	"github.com/nmstate/kubernetes-nmstate/e2e/kernel"
)

// Kernel is the node's links, addresses, routes and rules as text, one line for
// each object, sorted; what changes by itself (indexes, lifetimes, counters,
// timers) is left out. Equal texts mean an equal configuration: it is the oracle
// of "byte for byte as before".
func (n *Node) Kernel(ctx context.Context) (string, error) {
	res, err := n.lab.at.do(ctx, request{Verb: "kernel", Node: n.Name})
	if err != nil {
		return "", fmt.Errorf("reading the kernel's state of %s: %w", n.Name, err)
	}
	return res.Text, nil
}

func (n *Node) kernel(ctx context.Context) (string, error) {
	var lines []string
	for _, q := range kernel.Queries() {
		out, err := n.ip(ctx, append([]string{"-json"}, q.Args...)...)
		if err != nil {
			return "", fmt.Errorf("ip %s: %w", strings.Join(q.Args, " "), err)
		}
		found, err := kernel.Lines(q.Kind, out)
		if err != nil {
			return "", err
		}
		lines = append(lines, found...)
	}
	return strings.Join(lines, "\n") + "\n", nil
}

// Settled is Kernel once no address is being checked any more, which after a
// change or a rollback takes a second or two.
func (n *Node) Settled(ctx context.Context) (string, error) {
	text := ""
	err := n.lab.until(ctx, "the addresses of "+n.Name+" to settle", func() (bool, error) {
		var err error
		text, err = n.Kernel(ctx)
		return err != nil || !kernel.Settling(text), err
	})
	return text, err
}
