package observe

import (
	"encoding/binary"
	"net"
	"testing"

	"github.com/vishvananda/netlink"
	"golang.org/x/sys/unix"
)

func TestChangesOfTheKernelAreNoticed(t *testing.T) {
	loopback := privateNetwork(t)
	w := run(t, Options{BusAddress: "unix:path=" + t.TempDir() + "/none"})
	if got := receive(t, w); got != Network {
		t.Fatal(got)
	}
	address := &netlink.Addr{IPNet: &net.IPNet{IP: net.IPv4(192, 0, 2, 1), Mask: net.CIDRMask(32, 32)}}
	_, subnet, err := net.ParseCIDR("198.51.100.0/24")
	if err != nil {
		t.Fatal(err)
	}
	route := &netlink.Route{LinkIndex: loopback.Attrs().Index, Dst: subnet, Scope: netlink.SCOPE_LINK}
	rule := netlink.NewRule()
	rule.Priority, rule.Table = 100, 100
	usual := loopback.Attrs().MTU
	steps := []struct {
		name string
		do   func() error
	}{
		{"an address is added", func() error { return netlink.AddrAdd(loopback, address) }},
		{"a route is added", func() error { return netlink.RouteAdd(route) }},
		{"a route is deleted", func() error { return netlink.RouteDel(route) }},
		{"a rule is added", func() error { return netlink.RuleAdd(rule) }},
		{"a rule is deleted", func() error { return netlink.RuleDel(rule) }},
		{"the MTU changes", func() error { return netlink.LinkSetMTU(loopback, 60000) }},
		{"the MTU changes back", func() error { return netlink.LinkSetMTU(loopback, usual) }},
		{"an address is deleted", func() error { return netlink.AddrDel(loopback, address) }},
	}
	for _, step := range steps {
		if err := step.do(); err != nil {
			t.Fatalf("%s: %v", step.name, err)
		}
		if got := receive(t, w); got != Network {
			t.Fatalf("%s: %s", step.name, got)
		}
	}
}

// The messages between two rules are exactly those of the chatter.
func TestChatterOfTheKernelTriggersNothing(t *testing.T) {
	loopback := privateNetwork(t)
	address := &netlink.Addr{
		IPNet:    &net.IPNet{IP: net.IPv4(203, 0, 113, 1), Mask: net.CIDRMask(32, 32)},
		ValidLft: 1000, PreferedLft: 500,
	}
	t.Cleanup(func() { _ = netlink.AddrDel(loopback, address) })
	socket, err := subscribeKernel()
	if err != nil {
		t.Fatal(err)
	}
	defer socket.Close()
	renew := func() {
		t.Helper()
		address.ValidLft += 1000
		if err := netlink.AddrReplace(loopback, address); err != nil {
			t.Fatal(err)
		}
	}
	mark := func(priority int) {
		t.Helper()
		rule := netlink.NewRule()
		rule.Priority, rule.Table = priority, 100
		if err := netlink.RuleAdd(rule); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = netlink.RuleDel(rule) })
	}

	renew()
	mark(200)
	renew()
	neighbour := &netlink.Neigh{
		LinkIndex: loopback.Attrs().Index, IP: net.IPv4(192, 0, 2, 9), State: netlink.NUD_PERMANENT,
		HardwareAddr: net.HardwareAddr{2, 0, 0, 0, 0, 9},
	}
	if err := netlink.NeighSet(neighbour); err != nil {
		t.Fatal(err)
	}
	local := &netlink.Route{
		LinkIndex: loopback.Attrs().Index, Table: unix.RT_TABLE_LOCAL, Type: unix.RTN_LOCAL, Scope: netlink.SCOPE_HOST,
		Dst: &net.IPNet{IP: net.IPv4(192, 0, 2, 77), Mask: net.CIDRMask(32, 32)},
	}
	if err := netlink.RouteAdd(local); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = netlink.RouteDel(local) })
	mark(201)

	f, marks, chatter := newFilter(), 0, 0
	for marks < 2 {
		messages, _, err := socket.Receive()
		if err != nil {
			t.Fatal(err)
		}
		for _, message := range messages {
			matters := f.matters(message.Header.Type, message.Data)
			switch {
			case message.Header.Type == unix.RTM_NEWRULE:
				marks++
			case marks == 1 && matters:
				t.Errorf("message of type %d matters", message.Header.Type)
			case marks == 1:
				chatter++
			}
		}
	}
	if chatter == 0 {
		t.Error("the test made no chatter")
	}
}

func attribute(kind uint16, value ...byte) []byte {
	packet := binary.NativeEndian.AppendUint16(nil, uint16(unix.SizeofNlAttr+len(value)))
	packet = binary.NativeEndian.AppendUint16(packet, kind)
	packet = append(packet, value...)
	for len(packet)%4 != 0 {
		packet = append(packet, 0)
	}
	return packet
}

func linkMessage(family uint8, index uint32, parts ...[]byte) []byte {
	message := make([]byte, unix.SizeofIfInfomsg)
	message[0] = family
	binary.NativeEndian.PutUint32(message[4:], index)
	for _, part := range parts {
		message = append(message, part...)
	}
	return message
}

func TestFilterOfLinks(t *testing.T) {
	mtu := attribute(unix.IFLA_MTU, 0, 5, 0, 0)
	inet6 := func(kind uint16, value byte) []byte {
		return attribute(unix.IFLA_AF_SPEC, attribute(unix.AF_INET6|unix.NLA_F_NESTED, attribute(kind, value)...)...)
	}
	base := linkMessage(0, 7, mtu)
	tests := map[string]struct {
		kind  uint16
		again []byte
		want  bool
	}{
		"the same again is nothing":                   {unix.RTM_NEWLINK, base, false},
		"another MTU matters":                         {unix.RTM_NEWLINK, linkMessage(0, 7, attribute(unix.IFLA_MTU, 0, 6, 0, 0)), true},
		"statistics are nothing":                      {unix.RTM_NEWLINK, linkMessage(0, 7, mtu, attribute(unix.IFLA_STATS64, 1, 2)), false},
		"a wireless event is nothing":                 {unix.RTM_NEWLINK, linkMessage(0, 7, mtu, attribute(unix.IFLA_WIRELESS, 1)), false},
		"a new attribute matters":                     {unix.RTM_NEWLINK, linkMessage(0, 7, mtu, attribute(unix.IFLA_MASTER, 9, 0, 0, 0)), true},
		"another link matters":                        {unix.RTM_NEWLINK, linkMessage(0, 8, mtu), true},
		"a deletion matters":                          {unix.RTM_DELLINK, base, true},
		"neighbour entries are nothing":               {unix.RTM_NEWNEIGH, base, false},
		"a bridge port's VLANs matter":                {unix.RTM_NEWLINK, linkMessage(unix.AF_BRIDGE, 7, attribute(unix.IFLA_AF_SPEC, 1)), true},
		"an attribute that lies on its length is not": {unix.RTM_NEWLINK, append(linkMessage(0, 7, mtu), 200, 0, 1, 0), false},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			f := newFilter()
			if !f.matters(unix.RTM_NEWLINK, base) {
				t.Fatal("the first message about a link matters")
			}
			if got := f.matters(test.kind, test.again); got != test.want {
				t.Errorf("matters: %v", got)
			}
		})
	}

	t.Run("counters of IPv6 are nothing, its settings matter", func(t *testing.T) {
		f := newFilter()
		f.matters(unix.RTM_NEWLINK, linkMessage(0, 7, inet6(unix.IFLA_INET6_STATS, 1)))
		if f.matters(unix.RTM_NEWLINK, linkMessage(0, 7, inet6(unix.IFLA_INET6_STATS, 2))) {
			t.Error("counters matter")
		}
		if !f.matters(unix.RTM_NEWLINK, linkMessage(0, 7, inet6(unix.IFLA_INET6_ADDR_GEN_MODE, 1))) {
			t.Error("settings do not matter")
		}
	})
	t.Run("a bridge port's spanning tree is nothing", func(t *testing.T) {
		f := newFilter()
		f.matters(unix.RTM_NEWLINK, linkMessage(unix.AF_BRIDGE, 7, attribute(unix.IFLA_PROTINFO, 1)))
		if f.matters(unix.RTM_NEWLINK, linkMessage(unix.AF_BRIDGE, 7, attribute(unix.IFLA_PROTINFO, 2))) {
			t.Error("it matters")
		}
	})
}
