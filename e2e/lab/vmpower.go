//go:build linux

package lab

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"golang.org/x/sync/errgroup"
)

// VMPower cuts the power of the whole VM ("off": QEMU is killed), gives it back ("on"), or
// both ("cut"). Memory and /run of all nodes are gone, and the fabric with them; the
// nodes' disks are as the machine has them. What the VM had not written yet is lost.
func (l *Lab) VMPower(ctx context.Context, verb string) error {
	if l.rec.VM == nil {
		return errors.New("this lab has no VM (lab up --vm)")
	}
	switch verb {
	case "off":
		return l.vmOff(ctx)
	case "on":
		return l.vmOn(ctx)
	case "cut":
		if err := l.vmOff(ctx); err != nil {
			return err
		}
		return l.vmOn(ctx)
	}
	return fmt.Errorf("%q is none of cut, off, on", verb)
}

func (l *Lab) vmOff(ctx context.Context) error {
	p, err := findOne(roleVM, l.vmDir())
	if err != nil {
		return nil // it is off
	}
	return p.kill(ctx)
}

// vmOn boots the VM, and everything in it as lab up does. One that is on stays as it is.
func (l *Lab) vmOn(ctx context.Context) error {
	if _, err := findOne(roleVM, l.vmDir()); err == nil {
		return nil
	}
	for _, old := range []string{"control", "port"} {
		if err := os.RemoveAll(filepath.Join(l.vmDir(), old)); err != nil {
			return fmt.Errorf("removing an old socket: %w", err)
		}
	}
	l.at = here{l} // The VM's own process is on this machine.
	if err := l.startVM(ctx); err != nil {
		return err
	}
	if _, err := l.at.do(ctx, request{Verb: "fabric"}); err != nil {
		return err
	}
	if l.rec.APITarget != "" {
		if err := l.ConnectAPI(ctx); err != nil {
			return err
		}
	}
	group, groupCtx := errgroup.WithContext(ctx)
	for _, n := range l.Nodes() {
		group.Go(func() error { return n.Power(groupCtx, "on") })
	}
	return group.Wait()
}
