package network

import (
	"fmt"
	"net/netip"
	"slices"

	"github.com/nmstate/kubernetes-nmstate/sim/world"
)

// Network is everything between the stations.
type Network struct {
	world *world.World
	// revision counts what changes for everybody: blocks.
	revision uint64
	members  map[string]*member
	switches map[string]*Switch
	slots    map[netip.Addr]*slot
	// stale members have to be looked at again before the next answer.
	stale    []*member
	blocked  map[pair]bool
	deceits  map[deceitKey]Deceit
	machines map[string]*Machine
	// asked is what the answer in the making depends on.
	asked []dependence
}

// member is a station with what the network knows of it.
type member struct {
	station Station
	ports   map[string]*port // by NIC
	// revision counts the views; view is nil for a station that never was looked at.
	revision uint64
	view     *view
	isStale  bool
	// owned is what the slots say of it.
	owned   []local
	answers map[netip.Addr]*answer
}

func (m *member) name() string { return m.station.Name() }

// slot is who has an address.
type slot struct {
	revision uint64
	owners   []*member
}

// New makes an empty network.
func New(w *world.World) *Network {
	return &Network{
		world: w, members: map[string]*member{}, switches: map[string]*Switch{}, slots: map[netip.Addr]*slot{},
		blocked: map[pair]bool{}, deceits: map[deceitKey]Deceit{}, machines: map[string]*Machine{},
	}
}

// Add makes a station known; Plug does it too. A name that is taken is an error
// of the caller.
func (n *Network) Add(s Station) {
	if m := n.members[s.Name()]; m != nil {
		if m.station != s {
			panic(fmt.Sprintf("network: there are two stations %s", s.Name()))
		}
		return
	}
	m := &member{station: s, ports: map[string]*port{}}
	n.members[s.Name()] = m
	n.touch(m)
	s.OnChange(func() { n.touch(m) })
}

// Remove takes a station out, with its cables.
func (n *Network) Remove(s Station) {
	m := n.members[s.Name()]
	if m == nil || m.station != s {
		return
	}
	for _, nic := range sortedKeys(m.ports) {
		n.Unplug(s, nic)
	}
	n.own(m, nil)
	delete(n.members, s.Name())
	m.revision++
	m.isStale = true // A late change of it is nobody's concern.
}

// member of a station that was added.
func (n *Network) member(s Station) *member {
	m := n.members[s.Name()]
	if m == nil || m.station != s {
		panic(fmt.Sprintf("network: station %s was never plugged in", s.Name()))
	}
	return m
}

// touch has a member looked at again before the next answer.
func (n *Network) touch(m *member) {
	if !m.isStale {
		m.isStale = true
		n.stale = append(n.stale, m)
	}
}

// refresh looks at the members that changed.
func (n *Network) refresh() {
	if len(n.stale) == 0 {
		return
	}
	for _, m := range n.stale {
		if n.members[m.name()] != m {
			continue
		}
		m.isStale = false
		m.revision++
		m.view = look(m)
		n.own(m, m.view.local)
	}
	n.stale = n.stale[:0]
}

// own notes which addresses a member has now.
func (n *Network) own(m *member, now []local) {
	before := m.owned
	for _, l := range before {
		if !has(now, l.address) {
			s := n.slot(l.address)
			s.revision++
			s.owners = slices.DeleteFunc(s.owners, func(o *member) bool { return o == m })
		}
	}
	for _, l := range now {
		if l.address.IsLoopback() {
			continue // Everybody has it, and nobody asks for it.
		}
		if s := n.slot(l.address); !slices.Contains(s.owners, m) {
			s.revision++
			s.owners = append(s.owners, m)
		}
	}
	m.owned = now
}

func has(list []local, a netip.Addr) bool {
	return slices.ContainsFunc(list, func(l local) bool { return l.address == a })
}

func (n *Network) slot(a netip.Addr) *slot {
	s := n.slots[a]
	if s == nil {
		s = &slot{}
		n.slots[a] = s
	}
	return s
}

func sortedKeys[V any](m map[string]V) []string {
	keys := make([]string, 0, len(m))
	for key := range m {
		keys = append(keys, key)
	}
	slices.Sort(keys)
	return keys
}
