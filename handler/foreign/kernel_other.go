//go:build !linux

package foreign

import (
	"context"
	"errors"
)

// Kernel is the Keeper of the node that this process runs on.
type Kernel struct{}

var errNotLinux = errors.New("the kernel's network is only noted on Linux")

// Note implements Keeper.
func (Kernel) Note(context.Context) (Snapshot, error) { return Snapshot{}, errNotLinux }

// PutBack implements Keeper.
func (Kernel) PutBack(context.Context, Loss) error { return errNotLinux }
