package host

import (
	"fmt"
	"net/netip"
	"slices"
	"strings"
	"time"
)

// activation is a profile's being active: what comes later (leases, addresses
// after a rollback) belongs to it, and is void with the next one.
type activation struct {
	profile *profile
	leases  map[string]*Lease // By family.
	asking  map[string]bool
	// waiting to ask again after nobody has answered, the last time for so long.
	waiting  bool
	patience time.Duration
	// claimed are the addresses that somebody else answers for.
	claimed []netip.Prefix
	// idle: it has lost its carrier for so long that its addresses are gone.
	idle bool
	// stays: it has failed, and the device is disconnected, as the kernel does not show.
	stays bool
}

const (
	// carrierPatience is how long NetworkManager waits for a carrier to come
	// back before it takes a device for unavailable.
	carrierPatience = 4 * time.Second
	// addressesTake at most so long to come back after a rollback.
	addressesTake = 300 * time.Millisecond
)

// inOrder are the profiles so that each comes after what it stands on.
func (h *Host) inOrder(profiles []*profile) []*profile { return h.inOrderOf(h.settings, profiles) }

// inOrderOf is the same for other settings.
func (h *Host) inOrderOf(s settings, profiles []*profile) []*profile {
	depths := map[*profile]int{}
	var depth func(p *profile, guard int) int
	depth = func(p *profile, guard int) int {
		if p == nil || guard > 8 {
			return 0
		}
		if known, ok := depths[p]; ok {
			return known
		}
		deepest := 0
		for _, below := range []string{p.controller(), baseOf(p.said)} {
			for _, userspace := range []bool{false, true} {
				if on := s.profile(below, userspace); below != "" && on != nil && on != p {
					deepest = max(deepest, depth(on, guard+1)+1)
				}
			}
		}
		depths[p] = deepest
		return deepest
	}
	sorted := slices.Clone(profiles)
	slices.SortStableFunc(sorted, func(a, b *profile) int {
		if d := depth(a, 0) - depth(b, 0); d != 0 {
			return d
		}
		return strings.Compare(a.key(), b.key())
	})
	return sorted
}

// autoconnect activates a profile without anybody's waiting for it.
func (h *Host) autoconnect(p *profile) {
	if err := h.activate(p); err != nil {
		h.world.Trace(h.Name, "activation", p.name+": "+err.Error())
	}
}

// activate makes the kernel as the profile says. An error is NetworkManager's
// word about its device.
func (h *Host) activate(p *profile) error {
	e := h.kernel.edit()
	if err := h.realize(e, p); err != nil {
		return err
	}
	a := &activation{profile: p, leases: map[string]*Lease{}, asking: map[string]bool{}}
	if before := h.activations[p.key()]; before != nil {
		for _, family := range []string{"ipv4", "ipv6"} {
			if lease, ok := before.leases[family]; ok && p.dynamic(family) {
				a.leases[family] = lease
				h.lasts(a, family, lease)
			}
		}
	}
	h.activations[p.key()] = a
	h.detect(a)
	h.address(e, a)
	h.put(e)
	h.ask(a)
	return nil
}

// realize makes the link and everything of it but its addresses.
func (h *Host) realize(e *edit, p *profile) error {
	l := e.link(p.name, p.userspace())
	if l != nil && isSoftware(p.kind) && isSoftware(l.Type) && remade(l, p) {
		e.remove(l)
		l = nil
	}
	if l != nil && !p.up() && l.software() {
		e.remove(l)
		return nil
	}
	if l == nil {
		switch {
		case !isSoftware(p.kind):
			return fmt.Errorf("device %s is not there", p.name)
		case h.lacks[p.kind]:
			return fmt.Errorf("failed to create %s of type %s: operation not supported", p.name, p.kind)
		case !p.up():
			return nil
		}
		l = h.create(e, p)
	}
	observed := l.Said == nil
	e.dropRoutes(func(r Route) bool {
		return r.Dev == p.name && (r.Protocol == Boot || r.Protocol == RA || r.Protocol == DHCP || observed != (r.Protocol == Static))
	})
	controller := p.within()
	if controller != "" && e.link(controller, false) == nil && e.link(controller, true) == nil {
		return fmt.Errorf("device %s: its controller %s is not there", p.name, controller)
	}
	if p.ovsPort != "" && h.settings.port(p.ovsPort) == nil {
		return fmt.Errorf("device %s: the port %s, which it is in, has no profile", p.name, p.ovsPort)
	}
	if l.Controller != controller {
		l = e.change(l, func(l *Link) { l.Controller = "" })
	}
	mtu := h.mtuOf(e, l, p)
	l = e.change(l, func(l *Link) {
		// A NIC that is to be down keeps its link, for its carrier: it is disconnected.
		l.Up, l.MTU, l.Controller, l.Said = p.up() || !l.software(), mtu, controller, p.said
		l.touches++
		l.Unused, l.given = false, [2]int{}
		l.Base, l.VLAN, l.Table, l.Peer = baseOf(p.said), vlanOf(p.said), tableIn(p.said), peerOf(p.said, l)
		if mac := text(p.said["mac-address"]); mac != "" {
			l.MAC = capitals(mac)
		} else if l.Permanent != "" {
			l.MAC = l.Permanent
		}
	})
	h.join(e, l)
	return nil
}

// remade tells whether the kernel can make the link so only by making it anew.
func remade(l *Link, p *profile) bool {
	return l.Type != p.kind && p.kind != "ethernet" || l.Base != baseOf(p.said) || l.VLAN != vlanOf(p.said) ||
		l.Type == "vxlan" && l.Said != nil && text(object(l.Said["vxlan"])["id"]) != text(object(p.said["vxlan"])["id"])
}

func (h *Host) create(e *edit, p *profile) *Link {
	made := Link{Name: p.name, Type: p.kind, MTU: mtuOfNew(p.kind), MAC: h.randomMAC()}
	if base := e.link(baseOf(p.said), false); base != nil {
		made.MTU = base.MTU - overhead(p.kind)
		if p.kind == "vlan" || p.kind == "ipvlan" {
			made.MAC = base.MAC
		}
	}
	if p.userspace() {
		made.MTU, made.MAC = 0, ""
	}
	l := e.add(made)
	if peer := text(object(p.said["veth"])["peer"]); peer != "" && e.link(peer, false) == nil {
		e.add(Link{Name: peer, Type: "veth", MTU: 1500, MAC: h.randomMAC(), Peer: p.name, Up: true})
	}
	return l
}

func (h *Host) randomMAC() string {
	return fmt.Sprintf("%02X:%02X:%02X:%02X:%02X:%02X", 2, h.rand.IntN(256), h.rand.IntN(256), h.rand.IntN(256), h.rand.IntN(256), h.rand.IntN(256))
}

// join is what a port does to its bridge or bond, and that to the port.
func (h *Host) join(e *edit, port *Link) {
	controller := e.link(port.Controller, false)
	if port.Controller == "" || controller == nil || controller.Said == nil {
		return
	}
	first := len(e.ports(controller.Name)) == 1
	switch controller.Type {
	case "linux-bridge", "bond":
		if first && controller.Said["mac-address"] == nil {
			controller = e.change(controller, func(c *Link) { c.MAC = port.MAC })
		}
	}
	if controller.Type == "bond" {
		e.change(port, func(p *Link) {
			if p.Alone == 0 {
				p.Alone = p.MTU
			}
			p.MAC, p.MTU = controller.MAC, controller.MTU
		})
	}
	if controller.Type == "linux-bridge" && controller.Said["mtu"] == nil {
		least := port.MTU
		for _, other := range e.ports(controller.Name) {
			least = min(least, other.MTU)
		}
		e.change(controller, func(c *Link) { c.MTU = least })
	}
}

// address gives the link the addresses and routes of its profile and leases.
func (h *Host) address(e *edit, a *activation) {
	p := a.profile
	l := e.link(p.name, p.userspace())
	if l == nil || l.userspace() {
		return
	}
	var addresses []Address
	if p.up() && !a.idle {
		for _, family := range []string{"ipv4", "ipv6"} {
			for _, address := range addressesOf(p, family) {
				if !slices.Contains(a.claimed, address.Prefix) {
					addresses = append(addresses, address)
				}
			}
			if lease, ok := a.leases[family]; ok && lease.Address.IsValid() {
				addresses = append(addresses, Address{Prefix: lease.Address, Dynamic: true, Managed: true})
			}
		}
	}
	l = e.number(e.change(l, func(l *Link) { l.Addresses, l.IPv6Off = addresses, !p.enabled("ipv6") }), p)
	e.dropRoutes(func(r Route) bool {
		return r.Dev == l.Name && (r.Protocol == Static || r.Protocol == DHCP || r.Protocol == RA)
	})
	if !l.Up || !p.up() || a.idle {
		return
	}
	for _, r := range p.routes {
		if r.Table == MainTable {
			r.Table = e.tableOf(l) // That of its VRF, if it is in one.
		}
		if p.enabled(familyOf(r.To.Addr())) {
			e.addRoute(r)
		}
	}
	for _, family := range []string{"ipv4", "ipv6"} {
		if lease, ok := a.leases[family]; ok {
			h.addLeased(e, p, family, lease)
		}
	}
}

// detect finds IPv4 addresses that somebody else has: NetworkManager 1.52 takes
// none of those.
func (h *Host) detect(a *activation) {
	if h.Claimed == nil || !h.Carrier(a.profile.name) {
		return
	}
	for _, address := range addressesOf(a.profile, "ipv4") {
		l := h.Link(a.profile.name)
		if l != nil && !l.has(address.Prefix) && h.Claimed(a.profile.name, address.Prefix.Addr()) {
			a.claimed = append(a.claimed, address.Prefix)
		}
	}
}

func addressesOf(p *profile, family string) []Address {
	ip := p.family(family)
	if !truth(ip["enabled"]) {
		return nil
	}
	var found []Address
	for _, entry := range objects(ip["address"]) {
		if prefix, ok := addressOf(entry); ok && !prefix.Addr().IsLinkLocalUnicast() &&
			!slices.ContainsFunc(found, func(a Address) bool { return a.Prefix == prefix }) {
			found = append(found, Address{Prefix: prefix, Managed: p.kind != "loopback"})
		}
	}
	return found
}

// configure is the rest of a rollback: addresses come back a moment later.
func (h *Host) configure(p *profile) {
	a := &activation{profile: p, leases: map[string]*Lease{}, asking: map[string]bool{}}
	h.activations[p.key()] = a
	h.world.After(h.some(addressesTake/10, addressesTake), func() {
		if h.activations[p.key()] != a || h.settings.profile(p.name, p.userspace()) != p {
			return
		}
		h.readdress(a)
		h.ask(a)
	})
}

// deactivate is a profile's end: the interface is gone, or is nobody's.
func (h *Host) deactivate(name string, userspace bool, kind string) {
	delete(h.activations, keyOf(name, kind))
	e := h.kernel.edit()
	l := e.link(name, userspace)
	switch {
	case l == nil:
		return
	case l.software():
		e.remove(l)
	case l.Type == "loopback":
		e.change(l, func(l *Link) {
			l.Addresses = []Address{{Prefix: netip.MustParsePrefix("127.0.0.1/8")}, {Prefix: netip.MustParsePrefix("::1/128")}}
			l.Said = nil
		})
	default:
		e.dropRoutes(func(r Route) bool { return r.Dev == name })
		e.change(l, func(l *Link) {
			l.Addresses, l.Controller, l.Said, l.Up = nil, "", nil, false
			l.number, l.aspired, l.given = 0, 0, [2]int{}
			l.touches++
		})
	}
	h.put(e)
}

// carriersChanged has the devices follow that gained or lost their carrier.
func (h *Host) carriersChanged(before *kernel) {
	if !h.nm.running {
		return
	}
	for _, l := range h.kernel.links {
		a := h.activations[keyOf(l.Name, l.Type)]
		if a == nil || !a.profile.up() {
			continue
		}
		was := before.link(l.Name, l.userspace())
		had, has := was != nil && before.carrier(was), h.kernel.carrier(l)
		switch {
		case has && !had:
			h.regained(a)
		case had && !has && (l.Type == "ethernet" || l.Type == "veth" || l.Type == "vlan"):
			h.world.After(carrierPatience, func() { h.suspend(a) })
		}
	}
}

// regained: a device that has a carrier asks for what it has not got.
func (h *Host) regained(a *activation) {
	if a.idle {
		a.idle = false
		h.readdress(a)
	}
	h.ask(a)
}

// suspend takes the addresses of a device that has had no carrier for long.
func (h *Host) suspend(a *activation) {
	p := a.profile
	l := h.kernel.link(p.name, p.userspace())
	if h.activations[p.key()] != a || l == nil || !h.nm.running || h.kernel.carrier(l) || a.idle {
		return
	}
	a.idle = true
	clear(a.leases)
	h.readdress(a)
}
