package network

import (
	"fmt"
	"net/netip"
	"slices"
	"strings"
	"time"
)

// Machine is a station of the network's own: a gateway, a server, a peer.
type Machine struct {
	name     string
	network  *Network
	stack    *Stack
	changed  []func()
	down     bool
	services []*Service
}

// State of a service.
type State int

// The states of a service.
const (
	Answers State = iota
	// Refuses: nobody listens, and the machine says so.
	Refuses
	// Silent: what arrives is dropped.
	Silent
)

// Service is what listens at a machine, on all of its addresses.
type Service struct {
	// Name in blocks and scenarios.
	Name    string
	Machine *Machine
	Port    uint16
	// Status is what it says over HTTP; a code of 400 and more is a failure.
	// Empty: it speaks no HTTP.
	Status string
	// Zone is what it answers over DNS; nil for none.
	Zone *Zone
	// State may be set at any time.
	State State
}

// Zone is what name servers know. Its fields may be set at any time.
type Zone struct {
	// Hosts by name, without a dot at the end.
	Hosts map[string][]netip.Addr
	// Code is what it answers instead of knowing: "SERVFAIL", "REFUSED". Empty
	// for an honest one, which says NXDOMAIN of what it does not know.
	Code string
	// Lie is the only address that it gives, for every name, if valid.
	Lie netip.Addr
}

// Names of services that probes and scenarios speak of.
const (
	APIServer = "api-server"
	DNS       = "dns"
)

const (
	dnsPort = 53
	// APIPort is where a gateway, or whatever APIServer stands on, offers it.
	APIPort = 6443
)

// AddMachine makes one, which is in no switch yet. One that forwards is a router.
func (n *Network) AddMachine(name string, forwards bool) *Machine {
	if n.machines[name] != nil {
		panic(fmt.Sprintf("network: there are two machines %s", name))
	}
	m := &Machine{name: name, network: n, stack: &Stack{Forwards: forwards}}
	n.machines[name] = m
	n.Add(m)
	return m
}

// Machine finds one by its name; nil for none.
func (n *Network) Machine(name string) *Machine { return n.machines[name] }

// Service finds one by its name; nil for none. The first one of several counts.
func (n *Network) Service(name string) *Service {
	for _, machine := range sortedKeys(n.machines) {
		for _, s := range n.machines[machine].services {
			if s.Name == name {
				return s
			}
		}
	}
	return nil
}

// Name implements Station.
func (m *Machine) Name() string { return m.name }

// Stack implements Station.
func (m *Machine) Stack() *Stack { return m.stack }

// OnChange implements Station.
func (m *Machine) OnChange(f func()) { m.changed = append(m.changed, f) }

// SetCarrier implements Station: a machine does not mind.
func (m *Machine) SetCarrier(string, bool) {}

// AskAgain implements Station: a machine's addresses are its own.
func (m *Machine) AskAgain() {}

// change replaces the stack, which may be in use.
func (m *Machine) change(by func(s *Stack)) {
	next := *m.stack
	next.Links, next.Routes = slices.Clone(next.Links), slices.Clone(next.Routes)
	by(&next)
	m.stack = &next
	for _, f := range m.changed {
		f()
	}
}

// Attach puts a NIC with these addresses into a switch; it returns the NIC's name.
func (m *Machine) Attach(to *Switch, prefixes ...netip.Prefix) string {
	nic := fmt.Sprintf("nic%d", len(m.stack.Links)+1)
	link := Link{Name: nic, Kind: Ethernet, MAC: MACOf("machine", m.name, nic), Up: !m.down, Carrier: true, MTU: 1500}
	for _, p := range prefixes {
		link.Addresses = append(link.Addresses, Address{Prefix: p})
	}
	m.change(func(s *Stack) { s.Links = append(s.Links, link) })
	m.network.Plug(m, nic, to)
	return nic
}

// AddRoute gives it a route, by a gateway.
func (m *Machine) AddRoute(to netip.Prefix, gateway netip.Addr) {
	m.change(func(s *Stack) {
		for _, l := range s.Links {
			for _, a := range l.Addresses {
				if a.Prefix.Contains(gateway) {
					s.Routes = append(s.Routes, Route{Destination: to, Gateway: gateway, Link: l.Name})
					return
				}
			}
		}
		panic(fmt.Sprintf("network: %s has no link to %s", m.name, gateway))
	})
}

// SetPower switches the machine off, or on.
func (m *Machine) SetPower(on bool) {
	if m.down == !on {
		return
	}
	m.down = !on
	m.change(func(s *Stack) {
		for i := range s.Links {
			s.Links[i].Up = on
		}
	})
}

// On tells whether it runs.
func (m *Machine) On() bool { return !m.down }

// SetForwarding lets a router drop what is not for itself.
func (m *Machine) SetForwarding(on bool) { m.change(func(s *Stack) { s.Forwards = on }) }

// SetPing lets it ignore everybody's pings.
func (m *Machine) SetPing(answers bool) { m.network.Block(Everybody, Pings+m.name, !answers) }

// Flap switches it off and on, each for d, until the time is over; it ends on.
func (m *Machine) Flap(d, total time.Duration) {
	m.SetPower(!m.On())
	m.network.world.After(min(d, total), func() {
		if total > d {
			m.Flap(d, total-d)
			return
		}
		m.SetPower(true)
	})
}

// Serve has something listen.
func (m *Machine) Serve(s Service) *Service {
	s.Machine = m
	kept := &s
	m.services = append(m.services, kept)
	return kept
}

// at finds what listens on a port of a member.
func (n *Network) at(m *member, port uint16) *Service {
	machine, is := m.station.(*Machine)
	if !is {
		return nil
	}
	for _, s := range machine.services {
		if s.Port == port {
			return s
		}
	}
	return nil
}

// Connect tells who answers at an address and port; the error is a *Cut, with
// Said where the kernel says it at once.
func (n *Network) Connect(s Station, to netip.AddrPort) (*Service, error) {
	service, there, back := n.Ways(s, to)
	if there != nil {
		return nil, there
	}
	if back != nil {
		return nil, back
	}
	return service, nil
}

// Refused is what the kernel says when nobody listens.
const Refused = "connection refused"

// Ways is Connect for a connection that is open already: what is sent may arrive
// although no answer comes back.
func (n *Network) Ways(s Station, to netip.AddrPort) (service *Service, there, back error) {
	m := n.member(s)
	a := n.ask(m, to.Addr())
	if a.there != nil {
		return nil, a.there, nil
	}
	service = n.at(a.at, to.Port())
	switch {
	case service == nil || service.State == Refuses:
		return nil, &Cut{Why: fmt.Sprintf("%s refuses port %d", a.at.name(), to.Port()), Said: Refused}, nil
	case service.State == Silent:
		return nil, &Cut{Why: fmt.Sprintf("%s of %s is silent", service.Name, a.at.name())}, nil
	}
	if cut := n.lost(m.name(), service.Name); cut != nil {
		return service, cut, nil
	}
	if a.back != nil {
		return service, nil, a.back
	}
	if cut := n.lost(service.Name, m.name()); cut != nil {
		return service, nil, cut
	}
	return service, nil, nil
}

// look resolves a name.
func (z *Zone) look(name string) []netip.Addr {
	if z.Lie.IsValid() {
		return []netip.Addr{z.Lie}
	}
	return z.Hosts[strings.ToLower(strings.TrimSuffix(name, "."))]
}
