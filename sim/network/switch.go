package network

import "fmt"

// Switch is an Ethernet segment. Until a port says otherwise it passes frames as
// they are, tagged ones too.
type Switch struct {
	name    string
	network *Network
	down    bool
	ports   []*port
	// LLDP is what it announces; nil for nothing. Set it before the first NIC
	// is plugged in.
	LLDP *LLDP
	dhcp []*DHCPServer
	ra   *Advertisement
}

// Name of the switch.
func (s *Switch) Name() string { return s.name }

// port is where a NIC is plugged in.
type port struct {
	owner *member
	nic   string
	on    *Switch
	// cut: the cable has no carrier, as if pulled.
	cut bool
	// vlan is nil where the switch passes everything as it is.
	vlan *PortVLAN
}

// Domain is where a frame arrives: a switch and the VLAN within it, 0 for what
// has no tag.
type domain struct {
	on   *Switch
	vlan uint16
}

func (d domain) String() string {
	if d.vlan == 0 {
		return "switch " + d.on.name
	}
	return fmt.Sprintf("VLAN %d of switch %s", d.vlan, d.on.name)
}

// AddSwitch makes a switch; a name that is taken is an error of the caller.
func (n *Network) AddSwitch(name string) *Switch {
	if n.switches[name] != nil {
		panic(fmt.Sprintf("network: there are two switches %s", name))
	}
	s := &Switch{name: name, network: n}
	n.switches[name] = s
	return s
}

// Switch finds one by its name; nil for none.
func (n *Network) Switch(name string) *Switch { return n.switches[name] }

// Plug connects a NIC to a switch. What it was plugged into before it leaves.
func (n *Network) Plug(s Station, nic string, to *Switch) {
	n.Add(s)
	m := n.member(s)
	n.pull(m, nic)
	p := &port{owner: m, nic: nic, on: to}
	m.ports[nic] = p
	to.ports = append(to.ports, p)
	n.touch(m)
	s.SetCarrier(nic, !to.down)
}

// Unplug pulls a NIC's cable out, for good.
func (n *Network) Unplug(s Station, nic string) {
	m := n.member(s)
	if n.pull(m, nic) {
		n.touch(m)
		s.SetCarrier(nic, false)
	}
}

func (n *Network) pull(m *member, nic string) bool {
	p := m.ports[nic]
	if p == nil {
		return false
	}
	delete(m.ports, nic)
	for i, other := range p.on.ports {
		if other == p {
			p.on.ports = append(p.on.ports[:i:i], p.on.ports[i+1:]...)
			break
		}
	}
	return true
}

// SetCable cuts the cable of a NIC, or mends it.
func (n *Network) SetCable(s Station, nic string, intact bool) {
	m := n.member(s)
	p := m.ports[nic]
	if p == nil {
		panic(fmt.Sprintf("network: %s of %s is plugged in nowhere", nic, s.Name()))
	}
	if p.cut == !intact {
		return
	}
	p.cut = !intact
	n.touch(m)
	s.SetCarrier(nic, p.carrier())
}

// SetPower switches the switch off, with the carrier of all that is in it, or on.
func (s *Switch) SetPower(on bool) {
	if s.down == !on {
		return
	}
	s.down = !on
	for _, p := range s.ports {
		s.network.touch(p.owner)
		p.owner.station.SetCarrier(p.nic, p.carrier())
	}
}

// SetPortVLAN says which VLANs the switch passes at a NIC's port; nil for all
// of them, as they are. As with Port of a Link, VLAN 1 untagged is the default
// of nobody here: say it.
func (n *Network) SetPortVLAN(s Station, nic string, vlan *PortVLAN) {
	m := n.member(s)
	p := m.ports[nic]
	if p == nil {
		panic(fmt.Sprintf("network: %s of %s is plugged in nowhere", nic, s.Name()))
	}
	p.vlan = vlan
	n.touch(m)
}

// Carrier tells whether a NIC is plugged into a switch that runs, by a whole cable.
func (n *Network) Carrier(s Station, nic string) bool {
	p := n.member(s).ports[nic]
	return p != nil && p.carrier()
}

func (p *port) carrier() bool { return !p.cut && !p.on.down }

// domain is where a frame arrives that the NIC sends, with that tag.
func (p *port) domain(tag uint16) (domain, bool) {
	switch {
	case p.vlan == nil:
		return domain{p.on, tag}, true
	case tag == 0:
		return domain{p.on, p.vlan.Untagged}, p.vlan.Untagged != 0
	}
	for _, r := range p.vlan.Tagged {
		if r.holds(tag) {
			return domain{p.on, tag}, true
		}
	}
	return domain{}, false
}
