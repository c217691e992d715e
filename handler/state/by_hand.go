package state

import (
	"maps"
	"math"
	"regexp"
)

// rule is what we say of a value of which nmstate's source does not say it in a
// form that can be generated, or where we say something else on purpose.
type rule struct {
	// why it is not generated.
	why string
	is  func(compiler) *schema
}

// byHand are the rules by place ("VlanConfig.id": struct and key) or by the name of
// the code with which nmstate reads a value ("PciAddress").
func byHand() map[string]rule {
	rules := map[string]rule{}
	maps.Copy(rules, readByCode())
	maps.Copy(rules, readAsText())
	maps.Copy(rules, narrower())
	maps.Copy(rules, ours())
	return rules
}

// readByCode are the values that nmstate reads with code of its own.
func readByCode() map[string]rule {
	const own = "nmstate reads it with code of its own"
	return map[string]rule{
		"Interfaces": {own, func(compiler) *schema { return listOf(of(anInterface)) }},
		"InterfaceIpv4": {own, func(c compiler) *schema {
			c.family = IPv4
			return without(c.object("InterfaceIp"), "autoconf")
		}},
		"InterfaceIpv6": {own, func(c compiler) *schema {
			c.family = IPv6
			return without(c.object("InterfaceIp"), "forwarding", "prefix-route-metric")
		}},
		"AddressProtocol": {own, func(compiler) *schema {
			return shaped(`^(lo|ra|kernel_ll|25[0-5]|2[0-4][0-9]|1?[0-9]{1,2}|0x[0-9a-fA-F]{1,2})$`, "lo, ra, kernel_ll or a whole number from 0 to 255")
		}},
		"BridgePortTrunkTag": {own, func(c compiler) *schema {
			id := &schema{kind: aWhole, within: bounds{0, mostVLAN}}
			return &schema{kind: aKeyed, keys: keys{"id": id, "id-range": c.object("BridgePortVlanRange")}, either: []string{"id", "id-range"}}
		}},
		"OvsDbIfaceConfig": {own, func(c compiler) *schema {
			c.yaml = true // It writes numbers, true and false as text.
			return c.object("OvsDbGlobalConfig")
		}},
		"PciAddress": {own, func(compiler) *schema {
			return shaped(`^([0-9a-fA-F]{1,8}:)?[0-9a-fA-F]{1,2}:[0-9a-fA-F]{1,2}\.[0-9]{1,2}$`, "a PCI address such as 0000:07:00.1")
		}},
		"de_multicast_router": {own, func(c compiler) *schema {
			return c.choice(enum{words: []word{{"auto", []string{"1"}}, {"disabled", []string{"0"}}, {"enabled", []string{"2"}}}})
		}},
		"ovs_stp_deserializer": {own, func(c compiler) *schema {
			made := *c.object("LinuxBridgeStpOptions")
			made.kind = aSwitch
			return &made
		}},
		"parse_ethtool_feature": {own, func(compiler) *schema {
			return &schema{kind: aMap, item: of(aBool), first: nmstateFeatures}
		}},
		"parse_ipsec_iface": {own, func(compiler) *schema {
			return shaped(`^(yes|no|[0-9]{1,9})$`, "yes, no or a whole number, in quotes")
		}},
		"skip": {own + ", and reads nothing", func(compiler) *schema { return of(anything) }},
	}
}

// readAsText are texts of a form that nmstate's types do not tell.
func readAsText() map[string]rule {
	rules := map[string]rule{}
	const mac = "a text in nmstate's source; it has two spellings, and policies that mean the same must not conflict"
	for _, place := range []string{
		"BaseInterface.mac-address", "BaseInterface.permanent-mac-address", "BondOptions.ad_actor_system", "LinuxBridgeOptions.group-addr",
		"SrIovVfConfig.mac-address",
	} {
		rules[place] = rule{mac, func(compiler) *schema { return of(aMAC) }}
	}
	const network = "a text in nmstate's source, which reads it at apply and refuses it then"
	for _, place := range []string{"RouteEntry.destination", "RouteRuleEntry.ip-from", "RouteRuleEntry.ip-to"} {
		rules[place] = rule{network, func(compiler) *schema { return of(aNetwork) }}
	}
	rules["BaseInterface.type"] = rule{"any word is a type to nmstate; ours are checked by name", func(compiler) *schema { return of(aText) }}
	return rules
}

// mostVLAN is the last id of a VLAN: 4095 is reserved.
const mostVLAN = 4094

// narrower are numbers of which nmstate takes more than the kernel or
// NetworkManager does, which refuse them at apply.
func narrower() map[string]rule {
	rules := map[string]rule{}
	add := func(least, most int64, why string, places ...string) {
		for _, place := range places {
			rules[place] = rule{why, func(compiler) *schema { return within(place, least, most) }}
		}
	}
	const kernel = "the kernel takes no other"
	add(0, mostVLAN, "4095 is reserved by 802.1Q", "VlanConfig.id", "SrIovVfConfig.vlan-id", "BridgePortVlanConfig.tag",
		"BridgePortVlanRange.min", "BridgePortVlanRange.max", "LinuxBridgeOptions.vlan-default-pvid")
	add(0, 1<<24-1, "a VXLAN has 24 bits for it", "VxlanConfig.id")
	add(0, 7, "802.1p has three bits for it", "SrIovVfConfig.qos")
	add(0, math.MaxUint8, kernel, "BondOptions.resend_igmp")
	add(0, math.MaxUint16, kernel, "BondOptions.packets_per_slave", "LinuxBridgePortConfig.stp-path-cost")
	add(0, 1023, kernel, "BondOptions.ad_user_port_key")
	add(0, 63, kernel, "LinuxBridgePortConfig.stp-priority")
	add(2, 30, kernel, "LinuxBridgeStpOptions.forward-delay")
	add(1, 10, kernel, "LinuxBridgeStpOptions.hello-time")
	add(6, 40, kernel, "LinuxBridgeStpOptions.max-age")
	add(0, 256, "nmstate checks it at apply", "RouteEntry.weight")
	rules["InterfaceIpAddr.prefix-length"] = rule{"an address has no more bits", func(c compiler) *schema {
		if c.family == IPv6 {
			return within("InterfaceIpAddr.prefix-length", 0, 128)
		}
		return within("InterfaceIpAddr.prefix-length", 0, 32)
	}}
	return rules
}

// within is a number as it is generated, but with other bounds.
func within(place string, least, most int64) *schema {
	for name, record := range nmstateStructs {
		for _, field := range record.fields {
			if name+"."+field.key == place {
				return &schema{kind: field.of.kind, within: bounds{least, most}}
			}
		}
	}
	panic("nmstate has no " + place)
}

// ours are what we refuse, or name otherwise.
func ours() map[string]rule {
	refuse := func(why string) rule {
		return rule{why, func(compiler) *schema { return &schema{kind: aRefusal, why: why} }}
	}
	return map[string]rule{
		// nmstate writes them to disk before anything is proven (hack/adr/0012).
		"BaseInterface.alt-names": refuse("nmstate keeps alternative names in /etc/systemd/network, on disk before the change is proven; name the interface by name, mac-address or pci-address"),
		"LinuxBridgeOptions.group-forward-mask": {"nmstate has two keys for one thing", func(compiler) *schema {
			return alias("group-fwd-mask", within("LinuxBridgeOptions.group-fwd-mask", 0, math.MaxUint16))
		}},
	}
}

func of(kind kind) *schema        { return &schema{kind: kind} }
func listOf(item *schema) *schema { return &schema{kind: aList, item: item} }

// shaped is text of a shape.
func shaped(pattern, expected string) *schema {
	return &schema{kind: aShape, shape: regexp.MustCompile(pattern), expected: expected}
}

func without(s *schema, names ...string) *schema {
	for _, name := range names {
		delete(s.keys, name)
	}
	return s
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

// reportedTypes are those that nmstate reports by the kernel's name and does not
// make. Of one that is there it takes the state and what every interface has. Any
// other word is a misspelt type.
func reportedTypes() []string {
	return []string{
		"amt", "bareudp", "can", "erspan", "geneve", "gre", "gretap", "gtp", "ifb", "ip6erspan", "ip6gre", "ip6gretap",
		"netdevsim", "nlmon", "ppp", "team", "vcan", "vti", "vti6", "wifi", "wifi-p2p", "wireguard", "wpan", "wwan",
	}
}
