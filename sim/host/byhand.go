package host

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"net/netip"
	"slices"
)

// What people, CNIs and faults do behind NetworkManager's back. Each tells the
// watcher, and none asks NetworkManager.

// Edit changes a link by hand, as ip does; false: there is no such link.
func (h *Host) Edit(name string, change func(*Link)) bool {
	e := h.kernel.edit()
	l := e.link(name, false)
	if l == nil {
		return false
	}
	was := l.Controller
	l = e.change(l, change)
	h.put(e)
	if l.Controller != was {
		h.mend(name)
	}
	return true
}

// mend is what NetworkManager does by itself about what was done by hand: it
// makes links again, and puts ports back.
func (h *Host) mend(names ...string) {
	h.world.After(h.some(leastStep, mostStep), func() {
		if !h.nm.running || h.nm.hung {
			return
		}
		var again []*profile
		for _, name := range names {
			p, l := h.settings.profile(name, false), h.kernel.link(name, false)
			if p == nil || p.bare || !p.up() {
				continue
			}
			if isSoftware(p.kind) && l == nil || l != nil && l.Controller != p.controller() {
				again = append(again, p)
			}
		}
		for _, p := range h.inOrder(again) {
			h.autoconnect(p)
		}
	})
}

// SetController makes a link a port by hand, or with an empty name no port.
func (h *Host) SetController(name, controller string) bool {
	return h.Edit(name, func(l *Link) { l.Controller = controller })
}

// SetMTU by hand.
func (h *Host) SetMTU(name string, mtu int) bool {
	return h.Edit(name, func(l *Link) { l.MTU = mtu })
}

// SetUp sets a link up or down by hand.
func (h *Host) SetUp(name string, up bool) bool {
	return h.Edit(name, func(l *Link) {
		l.Up = up
		if !up { // The kernel keeps those of IPv4 only.
			l.Addresses = slices.DeleteFunc(slices.Clone(l.Addresses), func(a Address) bool { return a.Prefix.Addr().Is6() })
		}
	})
}

// AddAddress by hand.
func (h *Host) AddAddress(name string, prefix netip.Prefix) bool {
	return h.Edit(name, func(l *Link) {
		if !l.has(prefix) {
			l.Addresses = append(slices.Clone(l.Addresses), Address{Prefix: prefix})
		}
	})
}

// RemoveAddress by hand.
func (h *Host) RemoveAddress(name string, prefix netip.Prefix) bool {
	return h.Edit(name, func(l *Link) {
		l.Addresses = slices.DeleteFunc(slices.Clone(l.Addresses), func(a Address) bool { return a.Prefix == prefix })
	})
}

// AddRoute by hand, of any protocol; the kernel may refuse it.
func (h *Host) AddRoute(r Route) error {
	if r.Table == 0 {
		r.Table = MainTable
	}
	e := h.kernel.edit()
	if err := e.take(r); err != nil {
		return fmt.Errorf("adding a route to %s by %s: %w", r.To, r.Dev, err)
	}
	h.put(e)
	return nil
}

// RemoveRoute removes the routes to a destination by hand; false: there is none.
func (h *Host) RemoveRoute(to netip.Prefix) bool {
	e := h.kernel.edit()
	e.dropRoutes(func(r Route) bool { return r.To == to })
	if len(e.routes) == len(h.kernel.routes) {
		return false
	}
	h.put(e)
	return true
}

// AddLink makes a link as somebody else does: a pod's veth (Foreign), a bridge
// by hand. Index and, where it is empty, MAC are chosen.
func (h *Host) AddLink(l Link) error {
	if h.kernel.link(l.Name, l.userspace()) != nil {
		return errors.New("file exists")
	}
	if l.MAC == "" {
		l.MAC = h.randomMAC()
	}
	if l.MTU == 0 {
		l.MTU = 1500
	}
	e := h.kernel.edit()
	e.add(l)
	h.put(e)
	return nil
}

// RemoveLink takes a link away by hand; false: there is none.
func (h *Host) RemoveLink(name string) bool {
	e := h.kernel.edit()
	l := e.link(name, false)
	if l == nil {
		return false
	}
	e.remove(l)
	before := h.kernel
	h.put(e)
	var names []string
	for _, was := range before.links {
		is := h.kernel.link(was.Name, was.userspace())
		if !was.userspace() && (is == nil || is.Controller != was.Controller) {
			names = append(names, was.Name)
		}
	}
	h.mend(names...)
	return true
}

// NeighboursChanged tells that LLDP neighbours are others.
func (h *Host) NeighboursChanged() { h.changed() }

// Drift changes something that NetworkManager does not mend, by chance: the MTU
// or an address of a link that it manages, or a route by it; mostly of one of the
// named links, if there is any. It says what; empty for nothing to change. It never
// cuts the host off: what no policy owns nobody would put right again.
func (h *Host) Drift(r *rand.Rand, named ...string) string {
	var links, known []*Link
	for _, l := range h.kernel.links {
		if l.Foreign || l.userspace() || l.Type == "loopback" || !h.isUp(l) {
			continue
		}
		links = append(links, l)
		if slices.Contains(named, l.Name) {
			known = append(known, l)
		}
	}
	if len(known) > 0 && r.IntN(4) > 0 {
		links = known
	}
	if len(links) == 0 {
		return ""
	}
	all := h.drifts(links[r.IntN(len(links))], r)
	return all[r.IntN(len(all))]()
}

// drifts are the ways in which a link can drift.
func (h *Host) drifts(l *Link, r *rand.Rand) []func() string {
	all := []func() string{func() string {
		mtu := 1300 + r.IntN(100)
		if mtu == l.MTU {
			mtu++
		}
		h.SetMTU(l.Name, mtu)
		return fmt.Sprintf("MTU of %s set to %d by hand", l.Name, mtu)
	}}
	if l.Controller == "" {
		all = append(all, func() string {
			added := netip.PrefixFrom(netip.AddrFrom4([4]byte{203, 0, 113, byte(1 + r.IntN(250))}), 32)
			h.AddAddress(l.Name, added)
			return fmt.Sprintf("address %s of %s added by hand", added, l.Name)
		})
	}
	for _, a := range l.Addresses {
		if !h.leadsOut(l) {
			all = append(all, func() string {
				h.RemoveAddress(l.Name, a.Prefix)
				return fmt.Sprintf("address %s of %s removed by hand", a.Prefix, l.Name)
			})
		}
	}
	for _, route := range h.kernel.routes {
		if route.Dev == l.Name && !route.IsDefault() && route.Protocol != Kernel {
			all = append(all, func() string {
				h.RemoveRoute(route.To)
				return fmt.Sprintf("route %s removed by hand", route.To)
			})
		}
	}
	return all
}

// Disconnect lets a NIC go by hand (nmcli device disconnect), by chance one of the named
// ones. It says which; empty for none. Its link stays up. It never cuts the host off, and
// takes nothing from what stands on a NIC.
func (h *Host) Disconnect(r *rand.Rand, named ...string) string {
	var held []*Link
	for _, l := range h.kernel.links {
		a := h.activations[keyOf(l.Name, l.Type)]
		if slices.Contains(named, l.Name) && !l.software() && l.Controller == "" && a != nil && a.profile.up() && !h.leadsOut(l) && !h.carries(l) {
			held = append(held, l)
		}
	}
	if len(held) == 0 || !h.nm.running || h.nm.hung {
		return ""
	}
	l := held[r.IntN(len(held))]
	h.disconnect(l)
	h.changed()
	return l.Name + " disconnected"
}

// carries tells whether another link stands on this one.
func (h *Host) carries(l *Link) bool {
	return slices.ContainsFunc(h.kernel.links, func(other *Link) bool { return other.Base == l.Name })
}

// leadsOut tells whether a default route leaves by the link.
func (h *Host) leadsOut(l *Link) bool {
	return slices.ContainsFunc(h.kernel.routes, func(r Route) bool { return r.IsDefault() && r.Dev == l.Name })
}
