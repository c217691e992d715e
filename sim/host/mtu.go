package host

// mtuOf is the MTU that the link gets: that of the profile, what it had before
// a profile said one, or what it has.
func (h *Host) mtuOf(e *edit, l *Link, p *profile) int {
	if base := e.link(baseOf(p.said), false); base != nil && p.kind == "ipvlan" {
		return base.MTU // NetworkManager 1.52 gives it no other one (seen in the lab's VM).
	}
	if mtu, ok := integer(p.said["mtu"]); ok && mtu > 0 {
		if base := e.link(baseOf(p.said), false); base != nil && (p.kind == "vlan" || p.kind == "mac-vlan") {
			return min(mtu, base.MTU)
		}
		return mtu
	}
	if l.Said["mtu"] == nil {
		return l.MTU
	}
	if nic, ok := h.nic(l.Name); ok {
		return nic.MTU
	}
	if base := e.link(baseOf(p.said), false); base != nil {
		return base.MTU - overhead(p.kind)
	}
	return mtuOfNew(p.kind)
}

// mtuOfNew is what the kernel gives a link that nobody says an MTU of. That of a
// VRF is the largest one of IPv6 (drivers/net/vrf.c).
func mtuOfNew(kind string) int {
	if kind == "vrf" {
		return 65575
	}
	return 1500
}

// overhead is what a tunnel adds to a packet (drivers/net/vxlan, over IPv4).
func overhead(kind string) int {
	if kind == "vxlan" {
		return 50
	}
	return 0
}
