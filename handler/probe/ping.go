package probe

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/binary"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"os"
	"time"

	"golang.org/x/net/icmp"
	"golang.org/x/net/ipv4"
	"golang.org/x/net/ipv6"
	"k8s.io/utils/clock"
)

const (
	// echoInterval is the time between two echo requests of one attempt: the
	// first one may be lost while the gateway's link address is looked up.
	echoInterval = 250 * time.Millisecond
	// The protocol numbers by which icmp.ParseMessage tells the families apart.
	protocolICMPv4 = 1
	protocolICMPv6 = 58
)

// errNoAnswer: the requests went out, nothing came back until ctx ended.
var errNoAnswer = errors.New("no answer")

// echo is one conversation with a target.
type echo struct {
	conn   *icmp.PacketConn
	target netip.Addr
	to     net.Addr
	// raw sockets see everybody's packets, others only their own, under an
	// identifier that the kernel picks.
	raw bool
	id  int
	// token makes the payload unlike that of anybody else's ping.
	token []byte
	v6    bool
}

// ping sends echo requests until one is answered or ctx ends.
func ping(ctx context.Context, clock clock.PassiveClock, target netip.Addr) error {
	e, err := openEcho(target)
	if err != nil {
		return err
	}
	defer func() { _ = e.conn.Close() }()
	stop := context.AfterFunc(ctx, func() { _ = e.conn.SetReadDeadline(time.Unix(1, 0)) })
	defer stop()

	for seq := 1; ; seq++ {
		if err := e.send(seq); err != nil {
			return readable(err)
		}
		if err := e.conn.SetReadDeadline(clock.Now().Add(echoInterval)); err != nil {
			return err
		}
		// The deadline above may have replaced the one that ctx's end had set.
		if ctx.Err() != nil {
			return errNoAnswer
		}
		err := e.receive(seq)
		if err == nil || !errors.Is(err, os.ErrDeadlineExceeded) {
			return err
		}
		if ctx.Err() != nil {
			return errNoAnswer
		}
	}
}

// openEcho takes a raw socket and, where the process may not have one, one of
// the kernel's unprivileged ping sockets.
func openEcho(target netip.Addr) (*echo, error) {
	to, err := onLink(target)
	if err != nil {
		return nil, err
	}
	e := &echo{target: target, v6: target.Is6(), raw: true, token: make([]byte, 16)}
	_, _ = rand.Read(e.token) // It never fails.
	e.id = int(binary.BigEndian.Uint16(e.token))
	raw, unprivileged, local := "ip4:icmp", "udp4", "0.0.0.0"
	if e.v6 {
		raw, unprivileged, local = "ip6:ipv6-icmp", "udp6", "::"
	}
	ip := net.IP(target.AsSlice())
	e.to = &net.IPAddr{IP: ip, Zone: to.Zone()}
	conn, rawErr := icmp.ListenPacket(raw, local)
	if rawErr != nil {
		var err error
		if conn, err = icmp.ListenPacket(unprivileged, local); err != nil {
			return nil, fmt.Errorf("neither a raw nor a ping socket can be had: %w, %w", readable(rawErr), readable(err))
		}
		e.raw, e.to = false, &net.UDPAddr{IP: ip, Zone: to.Zone()}
	}
	e.conn = conn
	return e, nil
}

func (e *echo) send(seq int) error {
	request := icmp.Message{Type: ipv4.ICMPTypeEcho, Body: &icmp.Echo{ID: e.id, Seq: seq & 0xffff, Data: e.token}}
	if e.v6 {
		request.Type = ipv6.ICMPTypeEchoRequest
	}
	packet, err := request.Marshal(nil) // The kernel fills in ICMPv6's checksum.
	if err != nil {
		return err
	}
	_, err = e.conn.WriteTo(packet, e.to)
	return err
}

// receive waits for an answer to a request of ours, the last one or an earlier.
func (e *echo) receive(last int) error {
	buffer := make([]byte, 1500)
	for {
		n, from, err := e.conn.ReadFrom(buffer)
		if err != nil {
			return err
		}
		if e.isFromTarget(from) && e.isAnswer(buffer[:n], last) {
			return nil
		}
	}
}

func (e *echo) isFromTarget(from net.Addr) bool {
	var ip net.IP
	switch a := from.(type) {
	case *net.IPAddr:
		ip = a.IP
	case *net.UDPAddr:
		ip = a.IP
	}
	address, ok := netip.AddrFromSlice(ip)
	return ok && address.Unmap() == e.target.WithZone("")
}

func (e *echo) isAnswer(packet []byte, last int) bool {
	protocol, reply := protocolICMPv4, icmp.Type(ipv4.ICMPTypeEchoReply)
	if e.v6 {
		protocol, reply = protocolICMPv6, ipv6.ICMPTypeEchoReply
	}
	message, err := icmp.ParseMessage(protocol, packet)
	if err != nil || message.Type != reply {
		return false
	}
	body, ok := message.Body.(*icmp.Echo)
	return ok && bytes.Equal(body.Data, e.token) && (!e.raw || body.ID == e.id) && body.Seq >= 1 && body.Seq <= last
}

// readable takes off what net wraps around an error of the kernel: addresses
// and calls that the message names already, or that mean nothing to people.
func readable(err error) error {
	if call := (*os.SyscallError)(nil); errors.As(err, &call) {
		return call.Err
	}
	return err
}
