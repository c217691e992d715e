package host

// What a profile says, in the words that nmstate has for it.

// baseOf is what a link stands on.
func baseOf(said tree) string {
	for _, section := range []string{"vlan", "vxlan", "mac-vlan"} {
		if base := text(object(said[section])["base-iface"]); base != "" {
			return base
		}
	}
	return ""
}

func vlanOf(said tree) int {
	id, _ := whole(object(said["vlan"])["id"])
	return id
}

func tableIn(said tree) int {
	id, _ := whole(object(said["vrf"])["route-table-id"])
	return id
}

func peerOf(said tree, l *Link) string {
	if peer := text(object(said["veth"])["peer"]); peer != "" {
		return peer
	}
	return l.Peer
}
