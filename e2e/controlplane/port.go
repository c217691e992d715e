package controlplane

import (
	"context"
	"fmt"
	"hash/fnv"
	"net"
	"os"
	"strconv"
	"time"

	"k8s.io/apimachinery/pkg/util/wait"
)

const (
	// The API server's port stays below the range from which the kernel takes
	// ports for outgoing connections: otherwise one of these could sit on it
	// while the API server is stopped.
	portFirst = 20000
	portCount = 10000
	// portTries is how many ports in a row are tried.
	portTries = 200
	// portWait is how long the processes of a killed control plane may take
	// to die and give up the port.
	portWait = 5 * time.Second
)

// ensurePort returns the wanted port, or that of the last start, or a free one,
// and remembers it.
func (f Files) ensurePort(ctx context.Context, wanted int) (int, error) {
	before := readNumber(f.port())
	port := wanted
	if port == 0 {
		port = before
	}
	if port == 0 {
		free, err := freePort(f.Dir)
		if err != nil {
			return 0, err
		}
		port = free
	} else if err := waitUntilFree(ctx, port, port == before); err != nil {
		return 0, err
	}
	return port, os.WriteFile(f.port(), []byte(strconv.Itoa(port)+"\n"), 0o644)
}

func waitUntilFree(ctx context.Context, port int, ours bool) error {
	err := tryPort(port)
	if err != nil && ours {
		_ = wait.PollUntilContextTimeout(ctx, 20*time.Millisecond, portWait, true, func(context.Context) (bool, error) {
			err = tryPort(port)
			return err == nil, nil
		})
	}
	if err != nil {
		return fmt.Errorf("port %d of 127.0.0.1 cannot be used: %w; choose another one", port, err)
	}
	return nil
}

// freePort starts to look at a place that depends on the folder, so that
// control planes that start at the same time do not meet.
func freePort(dir string) (int, error) {
	hash := fnv.New32a()
	_, _ = hash.Write([]byte(dir))
	first := int(hash.Sum32() % portCount)
	for i := range portTries {
		port := portFirst + (first+i)%portCount
		if tryPort(port) == nil {
			return port, nil
		}
	}
	return 0, fmt.Errorf("no free port on 127.0.0.1: tried %d of them from %d on", portTries, portFirst+first)
}

func tryPort(port int) error {
	if port < 1 || port > 65535 {
		return fmt.Errorf("a port is a number from 1 to 65535")
	}
	listener, err := net.Listen("tcp", address(port))
	if err != nil {
		return err
	}
	return listener.Close()
}
