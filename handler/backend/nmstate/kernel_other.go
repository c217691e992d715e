//go:build !linux

package nmstate

import (
	"context"

	"github.com/godbus/dbus/v5"

	"github.com/nmstate/kubernetes-nmstate/handler/state"
)

// KernelFiltersVLANs is about Linux; elsewhere there is nothing to try.
func KernelFiltersVLANs() (bool, error) { return false, nil }

func knowsLink(string) (bool, error) { return true, nil }

func loadsNothing(string) bool { return false }

func standingOn(string) (string, bool) { return "", false }

type claim struct{}

func (b *Backend) refuseClaimed(context.Context, state.State) ([]claim, error) { return nil, nil }

func (b *Backend) refuseTaken(context.Context, *trial, underCheckpoint, <-chan *dbus.Signal) error {
	return nil
}
