package controlplane_test

import (
	"io"
	"net"
	"testing"
)

// forward carries every connection on an address to another one, as the lab's
// proxy does for its nodes, and returns the address it took.
func forward(t *testing.T, from, to string) string {
	t.Helper()
	listener, err := net.Listen("tcp", from)
	if err != nil {
		t.Skipf("this machine has no %s: %v", from, err)
	}
	t.Cleanup(func() { _ = listener.Close() })
	go func() {
		for {
			client, err := listener.Accept()
			if err != nil {
				return
			}
			go join(client, to)
		}
	}()
	return listener.Addr().String()
}

func join(client net.Conn, to string) {
	defer func() { _ = client.Close() }()
	server, err := net.Dial("tcp", to)
	if err != nil {
		return
	}
	defer func() { _ = server.Close() }()
	go func() {
		_, _ = io.Copy(server, client)
		_ = server.Close()
	}()
	_, _ = io.Copy(client, server)
}
