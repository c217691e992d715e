package arp

import (
	"encoding/binary"
	"net"
	"net/netip"
	"testing"
)

func TestNote(t *testing.T) {
	about, another := netip.MustParseAddr("192.0.2.10"), netip.MustParseAddr("192.0.2.11")
	own, other := [6]byte{2, 0, 0, 0, 0, 1}, [6]byte{2, 0, 0, 0, 0, 2}
	const reply = 2
	cases := map[string]struct {
		operation uint16
		from      [6]byte
		sender    netip.Addr
		target    netip.Addr
		change    func(*message)
		holds     bool
	}{
		"a host answers for the address":                {reply, other, about, netip.IPv4Unspecified(), nil, true},
		"a host that has it asks for another one":       {request, other, about, another, nil, true},
		"a host that has it announces it":               {request, other, about, about, nil, true},
		"a host is about to take it, and asks as we do": {request, other, netip.IPv4Unspecified(), about, nil, true},
		"a host that has none yet is told of it":        {reply, other, netip.IPv4Unspecified(), about, nil, false},
		"a host looks for whoever has it":               {request, other, another, about, nil, false},
		"a host answers for another address":            {reply, other, another, about, nil, false},
		"this node answers by another interface":        {reply, own, about, netip.IPv4Unspecified(), nil, false},
		"this node's NetworkManager asks as we do":      {request, own, netip.IPv4Unspecified(), about, nil, false},
		"it is not for Ethernet":                        {reply, other, about, another, func(m *message) { m.Hardware = 6 }, false},
		"it is not about IPv4":                          {reply, other, about, another, func(m *message) { m.Protocol = 0x86dd }, false},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			m := message{Hardware: ethernet, Protocol: ipv4, Operation: c.operation, SenderMAC: c.from, SenderIP: c.sender.As4(), TargetIP: c.target.As4()}
			if c.change != nil {
				c.change(&m)
			}
			packed, err := binary.Append(nil, binary.BigEndian, m)
			if err != nil {
				t.Fatal(err)
			}
			q := question{own: map[[6]byte]bool{own: true}, about: []netip.Addr{about}, found: map[netip.Addr]net.HardwareAddr{}}
			q.note(append(packed, make([]byte, 18)...)) // Ethernet fills a frame up.
			if got, holds := q.found[about]; holds != c.holds || holds && got.String() != "02:00:00:00:00:02" {
				t.Errorf("found %v", q.found)
			}
			q.note(packed[:20])
		})
	}
}
