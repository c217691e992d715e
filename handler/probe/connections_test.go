package probe

import (
	"context"
	"errors"
	"net"
	"slices"
	"testing"

	"github.com/go-logr/logr"
)

// ended is a connection that tells whether it was closed.
type ended struct {
	net.Conn
	from   string
	closed bool
}

func (e *ended) LocalAddr() net.Addr {
	address, err := net.ResolveTCPAddr("tcp", e.from)
	if err != nil {
		panic(err)
	}
	return address
}

func (e *ended) RemoteAddr() net.Addr { return e.LocalAddr() }

func (e *ended) Close() error {
	e.closed = true
	return nil
}

func TestAConnectionEndsWithItsAddress(t *testing.T) {
	addresses := func(prefixes ...string) func() ([]net.Addr, error) {
		var all []net.Addr
		for _, prefix := range prefixes {
			ip, network, err := net.ParseCIDR(prefix)
			if err != nil {
				t.Fatal(err)
			}
			all = append(all, &net.IPNet{IP: ip, Mask: network.Mask})
		}
		return func() ([]net.Addr, error) { return all, nil }
	}
	for sentence, c := range map[string]struct {
		from      string
		addresses func() ([]net.Addr, error)
		closed    bool
	}{
		"the node has its address":                  {"192.0.2.11:40000", addresses("127.0.0.1/8", "192.0.2.11/24"), false},
		"it has it in another network":              {"192.0.2.11:40000", addresses("192.0.2.11/32"), false},
		"its address has gone":                      {"192.0.2.11:40000", addresses("127.0.0.1/8", "192.0.2.12/24"), true},
		"an IPv6 address":                           {"[2001:db8::11]:40000", addresses("2001:db8::11/64"), false},
		"an IPv6 address that has gone":             {"[2001:db8::11]:40000", addresses("2001:db8::12/64"), true},
		"a link-local address, by an interface":     {"[fe80::1%lo]:40000", addresses("fe80::1/64"), false},
		"an IPv4 address of a socket of both kinds": {"[::ffff:192.0.2.11]:40000", addresses("192.0.2.11/24"), false},
		"nobody can tell":                           {"192.0.2.11:40000", func() ([]net.Addr, error) { return nil, errors.New("no netlink") }, false},
	} {
		t.Run(sentence, func(t *testing.T) {
			under := &ended{from: c.from}
			all := NewConnections(logr.Discard())
			all.dial, all.addresses = func(context.Context, string, string) (net.Conn, error) { return under, nil }, c.addresses
			if _, err := all.Dial(t.Context(), "tcp", "192.0.2.1:6443"); err != nil {
				t.Fatal(err)
			}
			all.CloseDead()
			if under.closed != c.closed {
				t.Errorf("closed: %v, want %v", under.closed, c.closed)
			}
		})
	}
}

func TestAConnectionThatWasClosedIsForgotten(t *testing.T) {
	var made []*ended
	all := NewConnections(logr.Discard())
	all.dial = func(context.Context, string, string) (net.Conn, error) {
		made = append(made, &ended{from: "192.0.2.11:40000"})
		return made[len(made)-1], nil
	}
	for range 2 {
		one, err := all.Dial(t.Context(), "tcp", "192.0.2.1:6443")
		if err != nil {
			t.Fatal(err)
		}
		if err := one.Close(); err != nil {
			t.Fatal(err)
		}
	}
	if slices.ContainsFunc(made, func(e *ended) bool { return !e.closed }) {
		t.Error("a connection is still open")
	}
	if len(all.open) != 0 {
		t.Errorf("%d connections are still known", len(all.open))
	}
}
