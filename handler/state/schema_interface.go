package state

import "math"

// interfaceStates are what an interface can be asked to be. "unknown" is
// accepted, as nmstate does, and means nothing.
func interfaceStates() *schema { return choice("up", "down", "absent", "ignore", "unknown") }

// baseKeys are the keys that interfaces of every type have.
func baseKeys() keys {
	return joinKeys(
		all(aText,
			"name", "profile-name", "description", "driver", "controller", "copy-mac-from",
		),
		all(aMAC, "mac-address", "permanent-mac-address"),
		each(shaped(`^([0-9a-fA-F]{1,8}:)?[0-9a-fA-F]{1,2}:[0-9a-fA-F]{1,2}\.[0-9]{1,2}$`, "a PCI address such as 0000:07:00.1"), "pci-address"),
		large(aWhole, "mtu"), // At most mostMTU of the type.
		large(aNumber, "min-mtu", "max-mtu"),
		all(aBool, "accept-all-mac-addresses"),
		keys{
			"type":       of(aText),
			"state":      interfaceStates(),
			"identifier": choice("name", "mac-address", "pci-address"),
			"wait-ip":    choice("any", "ipv4", "ipv6", "ipv4+ipv6"),
			"ipv4":       ipSchema(IPv4, "autoconf"),
			"ipv6":       ipSchema(IPv6, "forwarding", "prefix-route-metric"),
			"mptcp":      keyed(keys{"address-flags": mptcpFlags()}),
			"ovs-db":     ovsDBSchema(),
			"802.1x":     ieee8021xSchema(),
			"lldp":       keyed(all(aBool, "enabled"), all(anything, "neighbors")).needs("enabled"),
			"ethtool":    ethtoolSchema(),
			// nmstate writes both to disk before anything is proven
			// (hack/adr/0012).
			"dispatch":  refused("a desired state is no program; it would be a script that the node runs as root, on disk before the change is proven"),
			"alt-names": refused("nmstate keeps alternative names in /etc/systemd/network, on disk before the change is proven; name the interface by name, mac-address or pci-address"),
		},
	)
}

// mostMTU is the most that an interface of a type can have: the kernel's limit for
// links that carry Ethernet frames. Others have none, or it is the device's.
func mostMTU(kind string) int64 {
	switch kind {
	case "bond", "ethernet", "veth", "hsr", "ipvlan", "linux-bridge", "mac-vlan", "mac-vtap", "macsec", "ovs-interface", "vlan", "vxlan":
		return 65535
	}
	return math.MaxInt32
}

// hasKernelName tells whether an interface of this type, where it is not there yet,
// is made with its name in the kernel, which may be short only. What is there
// already may be written by another name.
func hasKernelName(kind string) bool {
	switch kind {
	case "bond", "dummy", "hsr", "ip-tunnel", "ipvlan", "linux-bridge", "mac-vlan", "mac-vtap", "macsec", "veth", "vlan", "vrf", "vxlan", "xfrm":
		return true
	}
	return false
}

// mostName is the most that an interface's name has, in bytes.
const mostName = 15

// ipSchema is that of both families without the keys that one does not have.
func ipSchema(family Family, without ...string) *schema {
	longest := int64(32)
	if family == IPv6 {
		longest = 128
	}
	table := joinKeys(
		all(aBool, "enabled", "dhcp", "autoconf", "auto-dns", "auto-gateway", "auto-routes"),
		all(aFlag, "allow-extra-address", "dhcp-send-hostname", "forwarding"),
		each(between(0, math.MaxUint32), "auto-route-table-id"),
		all(aSigned, "auto-route-metric", "prefix-route-metric"),
		all(aText, "dhcp-client-id", "dhcp-duid", "addr-gen-mode", "token", "dhcp-custom-hostname"),
		keys{"address": listOf(keyed(
			keys{"ip": {kind: anIP, family: family}, "prefix-length": between(0, longest)},
			all(aText, "valid-life-time", "preferred-life-time"),
			each(alias("valid-life-time", of(aText)), "valid-left", "valid-lft"),
			each(alias("preferred-life-time", of(aText)), "preferred-left", "preferred-lft"),
			each(shaped(`^(lo|ra|kernel_ll|25[0-5]|2[0-4][0-9]|1?[0-9]{1,2}|0x[0-9a-fA-F]{1,2})$`, "lo, ra, kernel_ll or a whole number from 0 to 255"), "protocol"),
			keys{"mptcp-flags": mptcpFlags()},
		).needs("ip", "prefix-length"))},
	)
	for _, key := range without {
		delete(table, key)
	}
	return keyed(table)
}

func mptcpFlags() *schema { return listOf(choice("signal", "subflow", "backup", "fullmesh")) }

func ieee8021xSchema() *schema {
	return keyed(
		all(aText,
			"identity", "private-key", "client-cert", "ca-cert", "private-key-password", "phase2-auth", "password",
		),
		keys{"eap-methods": listOf(of(aText))},
	)
}

// typeKeys are the sections that an interface of each type has beside the
// base. A type that is not here is not known.
func typeKeys() map[string]keys {
	ethernet := keys{"ethernet": ethernetSchema(), "veth": keyed(all(aText, "peer")).needs("peer")}
	macVLAN := macVLANSchema()
	types := map[string]keys{
		"bond":          {"link-aggregation": bondSchema(), "bond": alias("link-aggregation", bondSchema())},
		"dummy":         {},
		"ethernet":      ethernet,
		"veth":          ethernet,
		"hsr":           {"hsr": hsrSchema()},
		"infiniband":    {"infiniband": infinibandSchema()},
		"ip-tunnel":     {"ip-tunnel": ipTunnelSchema()},
		"ipsec":         {"libreswan": libreswanSchema()},
		"ipvlan":        {"ipvlan": ipvlanSchema()},
		"linux-bridge":  {"bridge": linuxBridgeSchema()},
		"loopback":      {},
		"mac-vlan":      {"mac-vlan": macVLAN},
		"mac-vtap":      {"mac-vtap": macVLAN},
		"macsec":        {"macsec": macsecSchema()},
		"ovs-bridge":    {"bridge": ovsBridgeSchema()},
		"ovs-interface": {"patch": keyed(all(aText, "peer")).needs("peer"), "dpdk": dpdkSchema()},
		"vlan":          {"vlan": vlanSchema()},
		"vrf":           {"vrf": vrfSchema()},
		"vxlan":         {"vxlan": vxlanSchema()},
		"xfrm":          {},
	}
	for _, kind := range reportedTypes() {
		types[kind] = nil
	}
	return types
}

// reportedTypes are those that nmstate does not make. Of one that is there it takes
// the state and what every interface has. Any other word is a misspelt type.
func reportedTypes() []string {
	return []string{
		"tun", "unknown", "amt", "bareudp", "can", "erspan", "geneve", "gre", "gretap", "gtp", "ifb", "ip6erspan", "ip6gre", "ip6gretap",
		"netdevsim", "nlmon", "ppp", "team", "vcan", "vti", "vti6", "wifi", "wifi-p2p", "wireguard", "wpan", "wwan",
	}
}
