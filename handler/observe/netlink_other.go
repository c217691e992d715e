//go:build !linux

package observe

import (
	"context"
	"errors"
)

func (w *Watcher) watchKernel(context.Context, func()) error {
	return errors.New("the kernel's network is only watched on Linux")
}
