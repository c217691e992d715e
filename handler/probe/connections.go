package probe

import (
	"context"
	"net"
	"net/netip"
	"sync"

	"github.com/go-logr/logr"
)

// Connections are those to the API server. One whose own address has left the node is
// dead, and nobody tells: its requests would wait until HTTP/2's own ping notices, for
// twenty seconds, the report of the very change that took the address among them.
type Connections struct {
	dial      func(ctx context.Context, network, address string) (net.Conn, error)
	addresses func() ([]net.Addr, error)
	log       logr.Logger

	mu   sync.Mutex
	open map[*connection]bool
}

// NewConnections has none yet.
func NewConnections(log logr.Logger) *Connections {
	return &Connections{dial: Dial, addresses: net.InterfaceAddrs, log: log, open: map[*connection]bool{}}
}

// connection forgets itself when it is closed.
type connection struct {
	net.Conn
	of *Connections
}

func (c *connection) Close() error {
	c.of.mu.Lock()
	delete(c.of.open, c)
	c.of.mu.Unlock()
	return c.Conn.Close()
}

// Dial is a dialer of rest.Config.
func (c *Connections) Dial(ctx context.Context, network, address string) (net.Conn, error) {
	made, err := c.dial(ctx, network, address)
	if err != nil {
		return nil, err
	}
	one := &connection{made, c}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.open[one] = true
	return one, nil
}

// CloseDead closes those whose own address is none of the node's any more. Where the
// addresses cannot be read, dead ones are noticed later.
func (c *Connections) CloseDead() {
	addresses, err := c.addresses()
	if err != nil {
		c.log.Error(err, "reading the node's addresses, to close connections that have lost theirs")
		return
	}
	local := map[netip.Addr]bool{}
	for _, address := range addresses {
		if prefix, err := netip.ParsePrefix(address.String()); err == nil {
			local[prefix.Addr().WithZone("")] = true
		}
	}
	for _, one := range c.without(local) {
		c.log.Info("closing a connection whose address has left the node", "from", one.LocalAddr().String(), "to", one.RemoteAddr().String())
		_ = one.Close() // It is dead already.
	}
}

// without are the connections from other addresses than these.
func (c *Connections) without(local map[netip.Addr]bool) []*connection {
	c.mu.Lock()
	defer c.mu.Unlock()
	var dead []*connection
	for one := range c.open {
		if from, err := netip.ParseAddrPort(one.LocalAddr().String()); err == nil && !local[from.Addr().Unmap().WithZone("")] {
			dead = append(dead, one)
		}
	}
	return dead
}
