package arp

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"os"
	"time"

	"github.com/mdlayher/packet"
	"k8s.io/utils/clock"
)

const (
	// probes are sent for each address: one may be lost.
	probes = 3
	// interval is the time between two of them, and how long answers to the last one are
	// waited for. RFC 5227 has a second, for networks of its time; NetworkManager takes
	// 200 ms for all.
	interval = 60 * time.Millisecond

	protocol       = 0x0806
	ethernet, ipv4 = 1, 0x0800
	request        = 1
)

// message is an ARP packet for Ethernet and IPv4 (RFC 826).
type message struct {
	Hardware, Protocol         uint16
	HardwareSize, ProtocolSize uint8
	Operation                  uint16
	SenderMAC                  [6]byte
	SenderIP                   [4]byte
	TargetMAC                  [6]byte
	TargetIP                   [4]byte
}

// Holders tells which of the addresses another host of the link's network has, with the
// MAC address of that host, or is about to take. It takes two tenths of a second, less once all are known.
// Answers of this node's own interfaces do not count: the kernel answers by each of them.
//
// Error: the link is not there, is down, is no Ethernet, or the process may not open a packet socket.
func Holders(ctx context.Context, clock clock.PassiveClock, link string, addresses []netip.Addr) (map[netip.Addr]net.HardwareAddr, error) {
	found, err := ask(ctx, clock, link, addresses)
	if err != nil {
		return nil, fmt.Errorf("asking on %s who has %s: %w", link, addresses, err)
	}
	return found, nil
}

func ask(ctx context.Context, clock clock.PassiveClock, link string, addresses []netip.Addr) (map[netip.Addr]net.HardwareAddr, error) {
	on, err := net.InterfaceByName(link)
	if err != nil {
		return nil, err
	}
	if len(on.HardwareAddr) != 6 {
		return nil, errors.New("it has no MAC address")
	}
	own, err := ownMACs()
	if err != nil {
		return nil, err
	}
	conn, err := packet.Listen(on, packet.Datagram, protocol, nil)
	if err != nil {
		return nil, err
	}
	defer func() { _ = conn.Close() }()
	q := question{conn: conn, from: [6]byte(on.HardwareAddr), own: own, about: addresses, found: map[netip.Addr]net.HardwareAddr{}}
	for range probes {
		if err := q.round(clock.Now().Add(interval)); err != nil {
			return nil, err
		}
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		if len(q.found) == len(addresses) {
			break
		}
	}
	return q.found, nil
}

// ownMACs are those of all interfaces of this node.
func ownMACs() (map[[6]byte]bool, error) {
	all, err := net.Interfaces()
	if err != nil {
		return nil, err
	}
	own := map[[6]byte]bool{}
	for _, one := range all {
		if len(one.HardwareAddr) == 6 {
			own[[6]byte(one.HardwareAddr)] = true
		}
	}
	return own, nil
}

// question is asked on one link.
type question struct {
	conn  net.PacketConn
	from  [6]byte
	own   map[[6]byte]bool
	about []netip.Addr
	found map[netip.Addr]net.HardwareAddr
}

// round asks once for each address and notes what is answered until then.
func (q *question) round(until time.Time) error {
	everybody := &packet.Addr{HardwareAddr: net.HardwareAddr{0xff, 0xff, 0xff, 0xff, 0xff, 0xff}}
	for _, address := range q.about {
		asked := message{
			Hardware: ethernet, Protocol: ipv4, HardwareSize: 6, ProtocolSize: 4,
			Operation: request, SenderMAC: q.from, TargetIP: address.As4(),
		}
		packed, err := binary.Append(nil, binary.BigEndian, asked)
		if err != nil {
			return err
		}
		if _, err := q.conn.WriteTo(packed, everybody); err != nil {
			return err
		}
	}
	if err := q.conn.SetReadDeadline(until); err != nil {
		return err
	}
	buffer := make([]byte, 128)
	for len(q.found) < len(q.about) {
		n, _, err := q.conn.ReadFrom(buffer)
		if errors.Is(err, os.ErrDeadlineExceeded) {
			return nil
		}
		if err != nil {
			return err
		}
		q.note(buffer[:n])
	}
	return nil
}

// note keeps who has an address that was asked about, or asks for it as well in order to take it.
func (q *question) note(received []byte) {
	var m message
	if _, err := binary.Decode(received, binary.BigEndian, &m); err != nil || m.Hardware != ethernet || m.Protocol != ipv4 || q.own[m.SenderMAC] {
		return
	}
	subject := netip.AddrFrom4(m.SenderIP)
	if subject.IsUnspecified() && m.Operation == request {
		subject = netip.AddrFrom4(m.TargetIP)
	}
	for _, address := range q.about {
		if address == subject {
			q.found[address] = m.SenderMAC[:]
		}
	}
}
