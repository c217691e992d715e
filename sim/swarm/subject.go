package swarm

import (
	"encoding/json"
	"maps"
	"math/rand/v2"
	"strings"
)

// tree and items are YAML as literals.
type (
	tree  = map[string]any
	items = []any
)

// subject is what a policy is about; each draw of its state is another variant
// of the same.
type subject struct {
	what string
	// node: the state has {{ var.address }} and {{ var.number }}, which each
	// node has its own values for.
	node  bool
	state func(r *rand.Rand) tree
}

func (p *people) subject() subject {
	all := subjects()
	return all[p.r.IntN(len(all))]
}

// subjects that a node can be brought to.
func subjects() []subject {
	return append([]subject{
		{what: "a dummy", state: func(r *rand.Rand) tree {
			return interfaces(with(link(pick(r, "dummy0", "dummy1"), "dummy"), maybe(r, "ipv4", static("198.51.100.200")), maybe(r, "mtu", 1400)))
		}},
		{what: "a veth pair", state: func(r *rand.Rand) tree {
			return interfaces(
				with(link("veth0", "veth"), tree{"veth": tree{"peer": "veth1"}}, maybe(r, "mtu", 1400)),
				with(link("veth1", "veth"), tree{"veth": tree{"peer": "veth0"}}, maybe(r, "mtu", 1400)))
		}},
		{what: "a bond", state: func(r *rand.Rand) tree {
			ports := pick(r, items{"eth1"}, items{"eth1", "eth2"})
			return interfaces(with(link("bond0", "bond"),
				tree{"link-aggregation": tree{"mode": pick(r, "active-backup", "balance-rr"), "port": ports}}, maybe(r, "ipv4", dhcp()), maybe(r, "mtu", 1400)))
		}},
		{what: "a VLAN", node: true, state: func(r *rand.Rand) tree {
			return interfaces(with(link("eth1.100", "vlan"), tree{"vlan": tree{"base-iface": "eth1", "id": 100}},
				maybe(r, "ipv4", static("203.0.113.{{ var.number }}")), maybe(r, "mtu", 1400)))
		}},
		{what: "a bridge", node: true, state: func(r *rand.Rand) tree {
			b := bridge(pick(r, "eth1", "eth2"), chance(r, 50))
			if chance(r, 30) { // It becomes a trunk of all VLANs.
				b["port"] = items{tree{"name": "eth1"}}
			}
			return interfaces(with(link("br1", "linux-bridge"), tree{"bridge": b},
				maybe(r, "ipv4", pick(r, dhcp(), static("198.51.101.{{ var.number }}"))), maybe(r, "mtu", 1400)))
		}},
		{what: "a VXLAN", state: func(r *rand.Rand) tree {
			return interfaces(with(link("vxlan7", "vxlan"),
				tree{"vxlan": tree{"base-iface": "eth1", "id": pick(r, 7, 8), "remote": "192.0.2.250", "destination-port": 4789}}))
		}},
		{what: "a VRF", state: func(r *rand.Rand) tree {
			return interfaces(with(link("vrf0", "vrf"), tree{"vrf": tree{"route-table-id": pick(r, 100, 101), "port": items{"eth1"}}}))
		}},
		{what: "Open vSwitch", state: func(r *rand.Rand) tree {
			return interfaces(
				with(link("ovs0", "ovs-interface"), maybe(r, "ipv4", dhcp())),
				with(link("br-ex", "ovs-bridge"), tree{"bridge": tree{"port": items{tree{"name": "eth1"}, tree{"name": "ovs0"}}}}))
		}},
	}, nicSubjects()...)
}

func nicSubjects() []subject {
	return []subject{
		{what: "a NIC's address", node: true, state: func(r *rand.Rand) tree {
			nic := pick(r, "eth1", "eth2")
			return interfaces(with(link(nic, "ethernet"), tree{"ipv4": static("198.51.100.{{ var.number }}")}, maybe(r, "mtu", 1400)))
		}},
		{what: "a NIC's MTU", state: func(r *rand.Rand) tree {
			return interfaces(with(link("eth1", "ethernet"), tree{"mtu": pick(r, 1400, 1450, 1500)}))
		}},
		{what: "LLDP", state: func(r *rand.Rand) tree {
			return interfaces(
				with(link("eth1", "ethernet"), tree{"lldp": tree{"enabled": chance(r, 80)}}),
				with(link("eth2", "ethernet"), tree{"lldp": tree{"enabled": chance(r, 80)}}))
		}},
		{what: "DHCP", state: func(r *rand.Rand) tree {
			return interfaces(with(link(pick(r, "eth1", "eth2"), "ethernet"), tree{"ipv4": dhcp()}, maybe(r, "mtu", 1400)))
		}},
		{what: "a route", node: true, state: func(r *rand.Rand) tree {
			s := interfaces(with(link("eth1", "ethernet"), tree{"ipv4": static("198.51.100.{{ var.number }}")}))
			s["routes"] = tree{"config": items{tree{
				"destination": pick(r, "203.0.113.0/24", "203.0.113.128/25"), "next-hop-interface": "eth1", "next-hop-address": "198.51.100.1",
			}}}
			return s
		}},
		{what: "DNS", state: func(r *rand.Rand) tree {
			return tree{"dns-resolver": tree{"config": tree{
				"server": items{"192.0.2.1"}, "search": pick(r, items{"example.com"}, items{"example.org", "example.com"}),
			}}}
		}},
		{what: "the first NIC's address, as it is", node: true, state: func(r *rand.Rand) tree {
			s := interfaces(with(link("eth0", "ethernet"), tree{"ipv4": static("{{ var.address }}")}, maybe(r, "mtu", 1450)))
			s["routes"] = defaultRoute("eth0", "192.0.2.1")
			return s
		}},
		{what: "a bridge over the first NIC", node: true, state: func(r *rand.Rand) tree {
			s := interfaces(
				with(link("br0", "linux-bridge"), tree{"bridge": bridge("eth0", chance(r, 50)), "ipv4": static("{{ var.address }}")}),
				with(link("eth0", "ethernet"), tree{"ipv4": tree{"enabled": false}}))
			s["routes"] = defaultRoute("br0", "192.0.2.1")
			return s
		}},
	}
}

// mistakes are states that must not stay.
func mistakes() []subject {
	eth0 := func(more tree) tree { return interfaces(with(link("eth0", "ethernet"), more)) }
	return []subject{
		{what: "another address for the first NIC", state: func(r *rand.Rand) tree { return eth0(tree{"ipv4": static(pick(r, "198.51.100.7", "203.0.113.7"))}) }},
		{what: "no address for the first NIC", state: func(*rand.Rand) tree { return eth0(tree{"ipv4": tree{"enabled": false}}) }},
		{what: "the first NIC down", state: func(*rand.Rand) tree {
			return interfaces(tree{"name": "eth0", "type": "ethernet", "state": "down"})
		}},
		{what: "the first NIC in a bridge without an address", state: func(*rand.Rand) tree {
			return interfaces(with(link("br0", "linux-bridge"), tree{"bridge": bridge("eth0", false)}))
		}},
		{what: "a wrong gateway", state: func(*rand.Rand) tree {
			return tree{"routes": defaultRoute("eth0", "192.0.2.254")}
		}},
		{what: "a dead name server", state: func(*rand.Rand) tree {
			return tree{"dns-resolver": tree{"config": tree{"server": items{"192.0.2.253"}}}}
		}},
		{what: "a bond of a NIC that is not there", state: func(*rand.Rand) tree {
			return interfaces(with(link("bond0", "bond"), tree{"link-aggregation": tree{"mode": "active-backup", "port": items{"eth9"}}}))
		}},
		{what: "a VLAN on nothing", state: func(*rand.Rand) tree {
			return interfaces(with(link("eth9.100", "vlan"), tree{"vlan": tree{"base-iface": "eth9", "id": 100}}))
		}},
		{what: "a misspelt key", state: func(*rand.Rand) tree {
			return interfaces(with(link("eth1", "ethernet"), tree{"mtuu": 1400}))
		}},
		{what: "an interface of the CNI", state: func(*rand.Rand) tree { return interfaces(link("ovn-k8s-mp0", "dummy")) }},
	}
}

func interfaces(links ...tree) tree {
	var list items
	for _, l := range links {
		list = append(list, l)
	}
	return tree{"interfaces": list}
}

func link(name, kind string) tree { return tree{"name": name, "type": kind, "state": "up"} }

// with adds keys.
func with(to tree, more ...tree) tree {
	for _, m := range more {
		maps.Copy(to, m)
	}
	return to
}

// maybe is the key in half of all cases.
func maybe(r *rand.Rand, key string, value any) tree {
	if chance(r, 50) {
		return tree{}
	}
	return tree{key: value}
}

func static(address string) tree {
	return tree{"enabled": true, "dhcp": false, "address": items{tree{"ip": address, "prefix-length": 24}}}
}

func dhcp() tree { return tree{"enabled": true, "dhcp": true} }

func bridge(port string, stp bool) tree {
	return tree{"options": tree{"stp": tree{"enabled": stp}}, "port": items{tree{"name": port, "vlan": tree{}}}}
}

func defaultRoute(nic, gateway string) tree {
	return tree{"config": items{tree{"destination": "0.0.0.0/0", "next-hop-interface": nic, "next-hop-address": gateway}}}
}

// literal fills in the variables for one node.
func literal(state tree, address string) tree {
	raw, err := json.Marshal(state)
	if err != nil {
		panic(err) // It is a literal of this package.
	}
	last := address[strings.LastIndexByte(address, '.')+1:]
	filled := strings.NewReplacer("{{ var.address }}", address, "{{ var.number }}", last).Replace(string(raw))
	var out tree
	if err := json.Unmarshal([]byte(filled), &out); err != nil {
		panic(err)
	}
	return out
}
