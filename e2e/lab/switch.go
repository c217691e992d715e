//go:build linux

package lab

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"strconv"
	"strings"
	"syscall"

	"github.com/vishvananda/netlink"
	"golang.org/x/sys/unix"
)

// What can go wrong with a switch.
const (
	// SwitchDown forwards nothing any more; the carrier of its ports stays. Of a VLAN it
	// is the trunk that does not carry it any more.
	SwitchDown = "down"
	SwitchUp   = "up"
	// LACPSilent has a switch with lacp send no LACP any more: each NIC is a port of its
	// own. LACPSpeaks is as it was.
	LACPSilent = "lacp-silent"
	LACPSpeaks = "lacp-speaks"
	// Claim has another host of the segment use an address, and answer for it.
	Claim   = "claim"
	Release = "release"
	// DHCPSilent has the segment's DHCP server answer nobody. DHCPAnswers is as the topology
	// says; DHCPOther is another server in its place, which leases other addresses.
	DHCPSilent  = "dhcp-silent"
	DHCPAnswers = "dhcp-answers"
	DHCPOther   = "dhcp-other"
	// Frames has a switch carry packets of at most so many bytes and drop larger ones without a
	// word, while its gateway takes jumbo frames.
	Frames = "frames"
)

// jumbo is the MTU of a host whose network is said to carry it.
const jumbo = 9000

// SwitchFaults are all of these, in the words of whoever breaks it.
func SwitchFaults() []string {
	return []string{SwitchDown, SwitchUp, LACPSilent, LACPSpeaks, Claim, Release, DHCPSilent, DHCPAnswers, DHCPOther, Frames}
}

// Switch breaks a switch, or mends it. Address is for Claim and Release, for DHCPOther
// a range of addresses: FROM-TO, and for Frames a number of bytes.
func (l *Lab) Switch(ctx context.Context, name, what, address string) error {
	if _, err := l.ask(ctx, l.fabricDir(), request{Verb: "switch", Target: name, Args: []string{what, address}}); err != nil {
		return fmt.Errorf("switch %s: %w", name, err)
	}
	return nil
}

// faulty carries that out, in the fabric.
func (f *fabric) faulty(ctx context.Context, name, what, address string) error {
	s := f.topo.switchOf(name)
	if s.Name == "" {
		return errors.New("there is no such switch")
	}
	segment, err := netlink.LinkByName(bridgeName(name))
	if err != nil {
		return fmt.Errorf("finding it: %w", err)
	}
	switch what {
	case SwitchDown:
		return netlink.LinkSetDown(segment)
	case SwitchUp:
		// The kernel has dropped its IPv6 addresses with it.
		return errors.Join(netlink.LinkSetUp(segment), addAddresses(s, segment))
	case LACPSilent, LACPSpeaks:
		if !s.LACP {
			return errors.New("it speaks no LACP: lacp is not set in the topology")
		}
		return f.aggregates(s, segment, what == LACPSpeaks)
	case Claim, Release:
		return claim(s, segment, address, what == Claim)
	case DHCPSilent, DHCPAnswers, DHCPOther:
		return f.dhcp(ctx, s, what, address)
	case Frames:
		return f.frames(s, segment, address)
	}
	return fmt.Errorf("%q is none of %s", what, strings.Join(SwitchFaults(), ", "))
}

// dhcp starts the segment's DHCP server anew, as it is to be from now on.
func (f *fabric) dhcp(ctx context.Context, s SwitchSpec, what, leases string) error {
	if s.DHCP == nil {
		return errors.New("it has no DHCP server: dhcp is not set in the topology")
	}
	more := ""
	switch what {
	case DHCPSilent:
		more = "dhcp-ignore=tag:!nobody\n"
	case DHCPOther:
		from, to, _ := strings.Cut(leases, "-")
		for _, end := range []string{from, to} {
			if _, err := netip.ParseAddr(end); err != nil {
				return fmt.Errorf("%q is no range of addresses: FROM-TO", leases)
			}
		}
		s.DHCP = &DHCPSpec{From: from, To: to}
	}
	u, err := f.dnsmasq(s, more)
	if err != nil {
		return err
	}
	if err := f.sup.stop(ctx, u.name, syscall.SIGTERM, false); err != nil {
		return err
	}
	return f.sup.start(ctx, u.name)
}

// frames gives the ports an MTU of so many bytes, and the gateway that of jumbo frames.
func (f *fabric) frames(s SwitchSpec, segment netlink.Link, size string) error {
	most, err := strconv.Atoi(size)
	if err != nil || most < 1280 || most > jumbo {
		return fmt.Errorf("%q is no size of a packet: 1280 to %d bytes", size, jumbo)
	}
	if s.Over != "" {
		return fmt.Errorf("it is a VLAN of %s: say it of that one", s.Over)
	}
	// A packet of many segments is no packet that a wire carries.
	err = errors.Join(netlink.LinkSetMTU(segment, jumbo), netlink.LinkSetGSOMaxSegs(segment, 1))
	for _, n := range f.topo.Nodes {
		for _, nic := range n.NICs {
			port, findErr := netlink.LinkByName(peerName(n.Name, nic.Name))
			if nic.Switch == s.Name && findErr == nil {
				err = errors.Join(err, netlink.LinkSetMTU(port, most))
			}
		}
	}
	return err
}

// claim adds an address to the segment's own host, or takes it away.
func claim(s SwitchSpec, segment netlink.Link, address string, adds bool) error {
	given, err := netip.ParseAddr(address)
	if err != nil {
		return fmt.Errorf("%q is not an IP address", address)
	}
	if given.String() == gatewayOf(s.Gateway) || given.String() == gatewayOf(s.Gateway6) {
		return fmt.Errorf("%s is the gateway's own address", given)
	}
	addr, err := netlink.ParseAddr(netip.PrefixFrom(given, given.BitLen()).String())
	if err != nil {
		return fmt.Errorf("reading %s: %w", address, err)
	}
	addr.Flags = unix.IFA_F_NODAD
	if !adds {
		return netlink.AddrDel(segment, addr)
	}
	return netlink.AddrReplace(segment, addr)
}

// aggregates puts the NICs of each node into the aggregate that the switch makes of them,
// or into the switch itself.
func (f *fabric) aggregates(s SwitchSpec, segment netlink.Link, speaks bool) error {
	for _, n := range f.topo.Nodes {
		aggregate, err := netlink.LinkByName(peerName(n.Name+"."+s.Name, "lacp"))
		if err != nil {
			continue // None of its NICs is plugged in.
		}
		to := segment
		if speaks {
			to = aggregate
		}
		for _, nic := range n.NICs {
			far, err := netlink.LinkByName(peerName(n.Name, nic.Name))
			if nic.Switch != s.Name || err != nil {
				continue
			}
			// A bond takes no link that is up, and leaves one down that it lets go.
			err = errors.Join(netlink.LinkSetDown(far), netlink.LinkSetNoMaster(far), netlink.LinkSetMaster(far, to), netlink.LinkSetUp(far))
			if err != nil {
				return fmt.Errorf("moving %s of %s: %w", nic.Name, n.Name, err)
			}
		}
	}
	return nil
}
