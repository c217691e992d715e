//go:build linux

package lab

import (
	"context"
	"fmt"
	"os/exec"
	"strings"

	"github.com/nmstate/kubernetes-nmstate/e2e/kernel"
)

// Kernel is the node's links, addresses, routes and rules as text, one line for
// each object, sorted; what changes by itself (indexes, lifetimes, counters,
// timers) is left out. Equal texts mean an equal configuration: it is the oracle
// of "byte for byte as before".
func (n *Node) Kernel(ctx context.Context) (string, error) {
	p, err := n.process()
	if err != nil {
		return "", err
	}
	var lines []string
	err = inside(p.pid, netOnly, func() error {
		for _, q := range kernel.Queries() {
			found, err := kernelObjects(ctx, q.Kind, q.Args...)
			if err != nil {
				return err
			}
			lines = append(lines, found...)
		}
		return nil
	})
	if err != nil {
		return "", fmt.Errorf("reading the kernel's state of %s: %w", n.Name, err)
	}
	return strings.Join(lines, "\n") + "\n", nil
}

// Settled is Kernel once no address is tentative any more, which after a change
// or a rollback takes a second or two.
func (n *Node) Settled(ctx context.Context) (string, error) {
	text := ""
	err := n.lab.until(ctx, "the addresses of "+n.Name+" to settle", func() (bool, error) {
		var err error
		text, err = n.Kernel(ctx)
		return err != nil || !strings.Contains(text, `"tentative":true`), err
	})
	return text, err
}

func kernelObjects(ctx context.Context, kind string, args ...string) ([]string, error) {
	out, err := exec.CommandContext(ctx, "ip", append([]string{"-json"}, args...)...).Output()
	if err != nil {
		return nil, fmt.Errorf("ip %s: %w", strings.Join(args, " "), err)
	}
	return kernel.Lines(kind, out)
}
