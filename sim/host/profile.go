package host

// What a profile says, in the words that nmstate has for it.

// baseOf is what a link stands on.
func baseOf(said tree) string {
	for _, section := range []string{"vlan", "vxlan", "mac-vlan", "ipvlan"} {
		if base := text(object(said[section])["base-iface"]); base != "" {
			return base
		}
	}
	return ""
}

func vlanOf(said tree) int {
	id, _ := integer(object(said["vlan"])["id"])
	return id
}

func tableIn(said tree) int {
	id, _ := integer(object(said["vrf"])["route-table-id"])
	return id
}

func peerOf(said tree, l *Link) string {
	if peer := text(object(said["veth"])["peer"]); peer != "" {
		return peer
	}
	return l.Peer
}

func modelled(kind string) bool {
	switch kind {
	case "ethernet", "veth", "dummy", "bond", "vlan", "linux-bridge", "vxlan", "vrf", "mac-vlan", "ipvlan", "ovs-bridge", "ovs-interface", "loopback":
		return true
	}
	return false
}

// ProfileNames are the files of the profiles that are there, on disk and in /run, sorted,
// without those that do nothing for a NIC that had none: NetworkManager keeps such a one
// once it has configured the NIC.
func (h *Host) ProfileNames() []string {
	var names []string
	for _, at := range sortedKeys(h.Files()) {
		p := h.known.read(h.layer(at)[at])
		if p == nil || h.idle(p) {
			continue
		}
		names = append(names, "profile "+at)
	}
	return names
}

func (h *Host) idle(p *profile) bool {
	nic, is := h.nic(p.name)
	return is && !nic.Profile && p.kind == "ethernet" && p.controller() == "" && !p.enabled("ipv4") && !p.enabled("ipv6")
}
