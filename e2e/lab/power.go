//go:build linux

package lab

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
)

// Power carries out off, on or cut, which is off and on again at once. What goes
// with the power is every process, at one stroke, all memory, /run and the
// kernel's network; what stays is the disk: /etc and /var. With Options.Disk
// DiskImage it is what had been synced.
func (n *Node) Power(ctx context.Context, verb string) error {
	_, err := n.lab.at.do(ctx, request{Verb: "power", Node: n.Name, Target: verb})
	return err
}

func (n *Node) power(ctx context.Context, verb string) error {
	switch verb {
	case "off":
		return n.powerOff(ctx)
	case "on":
		return n.powerOn(ctx)
	case "cut":
		if err := n.powerOff(ctx); err != nil {
			return err
		}
		return n.powerOn(ctx)
	}
	return fmt.Errorf("%q is none of cut, off, on", verb)
}

// Reboot is a power cut that everything written outlives. The handler, if the lab
// has one, starts once the node has reached the API server, which Reboot does
// not wait for.
func (n *Node) Reboot(ctx context.Context) error {
	if err := n.Sync(); err != nil {
		return err
	}
	return n.Power(ctx, "cut")
}

// powerOn boots the node. One that is on stays as it is.
func (n *Node) powerOn(ctx context.Context) error {
	if _, err := n.process(); err == nil {
		return nil
	}
	if err := os.RemoveAll(filepath.Join(n.dir(), "control")); err != nil {
		return fmt.Errorf("removing the old control socket: %w", err)
	}
	if err := n.boot(ctx); err != nil {
		return fmt.Errorf("booting %s: %w", n.Name, err)
	}
	if len(n.lab.rec.Handler) == 0 {
		return nil
	}
	return n.Handler(ctx, "start")
}

// powerOff ends the node. What is on its disk is settled before its processes
// die: they stop first, and the end of the mount would write everything.
func (n *Node) powerOff(ctx context.Context) error {
	p, err := n.process()
	if err != nil {
		return nil // it is off
	}
	cut, err := n.cutDisk(ctx)
	if err != nil {
		return err
	}
	if err := p.kill(ctx); err != nil {
		return err
	}
	return cut()
}
