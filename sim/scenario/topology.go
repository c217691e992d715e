package scenario

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// Topology is what a scenario runs on. Unless the script says more, each node
// has eth0 on the switch "lan", with a static address and the way to the API
// server, and eth1 and eth2, without a profile, on a segment of its own.
type Topology struct {
	// Nodes are node1 and so on.
	Nodes []Node
	// Switches, lan first.
	Switches []Switch
	// Later are nodes that join in the course of the scenario.
	Later []string
	// rewired: the script has said more of lan.
	rewired bool
}

// Node is one node. Its first NIC leads to the API server.
type Node struct {
	Name string
	NICs []NIC
}

// NIC of a node.
type NIC struct {
	Name, Switch string
	// Address with prefix length, "dhcp", or "none" for a NIC that is up
	// without a profile. Address6 may be "auto"; it is empty for none.
	Address, Address6 string
}

// Switch is an Ethernet segment with a gateway on it.
type Switch struct {
	Name string
	// Gateway and Gateway6 have a prefix length; Gateway6 may be empty.
	Gateway, Gateway6 string
	// DHCPFrom and DHCPTo are the range that the gateway leases, both ends
	// included; empty for none.
	DHCPFrom, DHCPTo string
	// DNS: the gateway answers questions for names. RA: it sends router advertisements.
	// LACP: a node's NICs in it are one link to it, if the node says so too.
	DNS, RA, LACP bool
	// ChassisID makes the switch announce itself to every NIC in it (LLDP),
	// with SystemName, which may be empty, and VLANs.
	ChassisID, SystemName string
	VLANs                 []string
}

// The API server is behind lan's gateway, as is a web server on port 80 and an
// echo server on port 7, and nothing on port 9.
const lan = "lan"

func newTopology(nodes int) Topology {
	t := Topology{Switches: []Switch{{Name: lan, Gateway: "192.0.2.1/24", Gateway6: "2001:db8::1/64", DNS: true}}}
	for i := 1; i <= nodes; i++ {
		t.Switches = append(t.Switches, sideOf(i))
		t.Nodes = append(t.Nodes, nodeOf(i))
	}
	return t
}

func sideOf(i int) Switch {
	return Switch{
		Name: fmt.Sprintf("side%d", i), Gateway: fmt.Sprintf("10.0.%d.1/24", i),
		DHCPFrom: fmt.Sprintf("10.0.%d.100", i), DHCPTo: fmt.Sprintf("10.0.%d.150", i),
	}
}

func nodeOf(i int) Node {
	side := fmt.Sprintf("side%d", i)
	return Node{Name: fmt.Sprintf("node%d", i), NICs: []NIC{
		{Name: "eth0", Switch: lan, Address: fmt.Sprintf("192.0.2.%d/24", 10+i), Address6: fmt.Sprintf("2001:db8::%d/64", 10+i)},
		{Name: "eth1", Switch: side, Address: "none"},
		{Name: "eth2", Switch: side, Address: "none"},
	}}
}

// names of all nodes, those that join later included.
func (t *Topology) names() []string {
	var all []string
	for _, n := range t.Nodes {
		all = append(all, n.Name)
	}
	return append(all, t.Later...)
}

// Grown is the topology when the later nodes have come.
func (t Topology) Grown() Topology {
	for _, name := range t.Later {
		number, _ := strconv.Atoi(strings.TrimPrefix(name, "node"))
		t.Nodes = append(slices.Clip(t.Nodes), nodeOf(number))
		t.Switches = append(slices.Clip(t.Switches), sideOf(number))
	}
	return t
}

// plug puts a NIC into the node, or into another switch.
func (t *Topology) plug(node string, nic NIC) error {
	if !slices.ContainsFunc(t.Switches, func(s Switch) bool { return s.Name == nic.Switch }) {
		return fmt.Errorf("there is no switch %q before this line", nic.Switch)
	}
	for i := range t.Nodes {
		n := &t.Nodes[i]
		if node != every && node != n.Name {
			continue
		}
		at := slices.IndexFunc(n.NICs, func(other NIC) bool { return other.Name == nic.Name })
		if at < 0 {
			n.NICs = append(n.NICs, nic)
			continue
		}
		n.NICs[at] = nic
	}
	return nil
}

// wire adds a switch.
func (t *Topology) wire(name string, settings []string) error {
	s := Switch{Name: name}
	at := slices.IndexFunc(t.Switches, func(s Switch) bool { return s.Name == name })
	switch {
	case name == lan && !t.rewired:
		s, t.rewired = t.Switches[at], true
	case at >= 0:
		return fmt.Errorf("there is a switch %q already", name)
	}
	for _, setting := range settings {
		key, value, _ := strings.Cut(setting, "=")
		switch key {
		case "dns":
			s.DNS = true
		case "ra":
			s.RA = true
		case "lacp":
			s.LACP = true
		case "gateway":
			s.Gateway = value
		case "gateway6":
			s.Gateway6 = value
		case "dhcp":
			s.DHCPFrom, s.DHCPTo, _ = strings.Cut(value, "-")
		case "chassis":
			s.ChassisID = value
		case "system":
			s.SystemName = value
		case "vlans":
			s.VLANs = strings.Split(value, ",")
		}
	}
	if s.Gateway == "" {
		return errors.New("gateway=ADDRESS/LENGTH is missing")
	}
	if name == lan {
		t.Switches[at] = s
		return nil
	}
	t.Switches = append(t.Switches, s)
	return nil
}
