//go:build linux

package cluster

import (
	"context"
	"errors"
	"fmt"
	"net"

	"golang.org/x/sys/unix"
)

// Claim makes sure that one process at a time works on the cluster of a name:
// Up takes away what another one has under it. The claim ends with release, or
// with the process.
func Claim(ctx context.Context, name string) (release func(), err error) {
	// A name in the abstract namespace is no file that could be left behind.
	var config net.ListenConfig
	ln, err := config.Listen(ctx, "unix", "@kubernetes-nmstate-cluster-"+name)
	if errors.Is(err, unix.EADDRINUSE) {
		return nil, errors.New("another one is running on this machine; wait for its end, or end it")
	}
	if err != nil {
		return nil, fmt.Errorf("claiming the name %s: %w", name, err)
	}
	return func() { _ = ln.Close() }, nil
}
