//go:build linux

package lab

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strings"
	"sync"
	"time"

	"golang.org/x/net/icmp"
	"golang.org/x/net/ipv4"
	"k8s.io/utils/clock"
)

// watchInterval is the time between two pings of a Watch, and so the resolution
// of what it measures.
const watchInterval = 50 * time.Millisecond

// Watch pings a node from the gateway all the time and notes when there is no
// answer: how long an outage looks from outside.
type Watch struct {
	clock  clock.WithTicker
	conn   net.PacketConn
	target net.IP
	id     int
	cancel context.CancelFunc
	done   sync.WaitGroup

	mu       sync.Mutex
	sent     []time.Time
	answered []bool
}

// Gap is a time without answers: From the first ping that got none to the first
// that got one again. It is Open if none did before the watch stopped.
type Gap struct {
	From, To time.Time
	Lost     int
	Open     bool
}

// Length of the gap.
func (g Gap) Length() time.Duration { return g.To.Sub(g.From) }

// Outage is what a watch saw.
type Outage struct {
	Sent, Answered int
	Gaps           []Gap
}

// Longest is the longest gap, zero if there was none.
func (o Outage) Longest() time.Duration {
	var longest time.Duration
	for _, g := range o.Gaps {
		longest = max(longest, g.Length())
	}
	return longest
}

// Watch starts to ping the address that the node's first NIC has now. Stop ends
// it.
func (l *Lab) Watch(ctx context.Context, n *Node) (*Watch, error) {
	target, err := n.primaryIP(ctx)
	if err != nil {
		return nil, err
	}
	if l.rec.VM != nil {
		return nil, errors.New("watching a node from its gateway: not with --vm, whose gateway is not on this machine")
	}
	p, err := findOne(roleFabric, l.fabricDir())
	if err != nil {
		return nil, err
	}
	w := &Watch{clock: l.opts.Clock, target: target}
	w.id = int(l.opts.Clock.Now().UnixNano() & 0xffff)
	err = inside(p.pid, netOnly, func() error {
		var err error
		w.conn, err = icmp.ListenPacket("ip4:icmp", n.Gateway())
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("opening a socket to ping from: %w", err)
	}
	ctx, w.cancel = context.WithCancel(ctx)
	w.done.Go(func() { w.send(ctx) })
	w.done.Go(w.receive)
	return w, nil
}

func (n *Node) primaryIP(ctx context.Context) (net.IP, error) {
	if a := n.Address(); a != "" {
		return net.ParseIP(a), nil
	}
	all, err := n.Addresses(ctx)
	if err != nil {
		return nil, err
	}
	for _, a := range all {
		text, ok := strings.CutPrefix(a, n.spec.way().Name+" ")
		if ip, _, err := net.ParseCIDR(text); ok && err == nil && ip.To4() != nil {
			return ip, nil
		}
	}
	return nil, fmt.Errorf("%s of %s has no IPv4 address to watch", n.spec.way().Name, n.Name)
}

func (w *Watch) send(ctx context.Context) {
	defer func() { _ = w.conn.Close() }() // ends receive
	tick := w.clock.NewTicker(watchInterval)
	defer tick.Stop()
	for {
		w.mu.Lock()
		seq := len(w.sent)
		w.sent, w.answered = append(w.sent, w.clock.Now()), append(w.answered, false)
		w.mu.Unlock()
		echo := icmp.Message{Type: ipv4.ICMPTypeEcho, Body: &icmp.Echo{ID: w.id, Seq: seq & 0xffff}}
		if raw, err := echo.Marshal(nil); err == nil {
			// What cannot be sent is not answered: no more needs to be known.
			_, _ = w.conn.WriteTo(raw, &net.IPAddr{IP: w.target})
		}
		select {
		case <-ctx.Done():
			return
		case <-tick.C():
		}
	}
}

func (w *Watch) receive() {
	buffer := make([]byte, 1500)
	for {
		n, from, err := w.conn.ReadFrom(buffer)
		if err != nil {
			return
		}
		ip, ok := from.(*net.IPAddr)
		m, err := icmp.ParseMessage(1, buffer[:n]) // 1 is ICMP for IPv4
		if err != nil || !ok || !ip.IP.Equal(w.target) {
			continue
		}
		if echo, ok := m.Body.(*icmp.Echo); ok && m.Type == ipv4.ICMPTypeEchoReply && echo.ID == w.id {
			w.note(echo.Seq)
		}
	}
}

// note marks the newest ping with that number, of which only 16 bits travel.
func (w *Watch) note(seq int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for i := len(w.sent) - 1; i >= 0; i-- {
		if i&0xffff == seq {
			w.answered[i] = true
			return
		}
	}
}

// Outage tells what was seen up to now. The last ping does not count: its answer
// may be on its way.
func (w *Watch) Outage() Outage {
	w.mu.Lock()
	defer w.mu.Unlock()
	return outage(w.sent, w.answered)
}

func outage(sent []time.Time, answered []bool) Outage {
	var o Outage
	var open *Gap
	for i := range max(0, len(sent)-1) {
		o.Sent++
		if answered[i] {
			o.Answered++
			if open != nil {
				open.To = sent[i]
				o.Gaps = append(o.Gaps, *open)
				open = nil
			}
			continue
		}
		if open == nil {
			open = &Gap{From: sent[i]}
		}
		open.Lost++
	}
	if open != nil {
		open.To, open.Open = sent[len(sent)-1], true
		o.Gaps = append(o.Gaps, *open)
	}
	return o
}

// Stop ends the watch and tells what it saw.
func (w *Watch) Stop() Outage {
	w.cancel()
	w.done.Wait()
	return w.Outage()
}
