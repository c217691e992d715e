package state

// ParseDesired reads what a user wrote and refuses what nmstate would not
// understand, by name.
func ParseDesired(raw []byte) (State, error) { return Parse(raw) }

func interfaceSchemas() map[string]bool {
	all := map[string]bool{}
	for _, kind := range []string{"bond", "linux-bridge", "dummy", "hsr", "ip-tunnel", "mac-vlan", "mac-vtap", "ovs-bridge", "ovs-interface", "vlan", "vrf", "vxlan", "macsec", "ipsec", "xfrm", "ipvlan"} {
		all[kind] = true
	}
	return all
}
