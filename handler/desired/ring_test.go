package desired

import (
	"strings"
	"testing"
)

// heard is a node whose eth1 and eth2 lead to switch tor1, and eth3 to another.
const heard = `interfaces:
- {name: eth1, type: ethernet, state: up, lldp: {enabled: true, neighbors: [[{system-name: tor1}, {chassis-id: "02:00:00:00:00:0A"}, {port-id: p1}]]}}
- {name: eth2, type: ethernet, state: up, lldp: {enabled: true, neighbors: [[{system-name: tor1}, {chassis-id: "02:00:00:00:00:0a"}, {port-id: p2}]]}}
- {name: eth3, type: ethernet, state: up, lldp: {enabled: true, neighbors: [[{system-name: tor2}, {chassis-id: "02:00:00:00:00:0b"}]]}}
- {name: eth4, type: ethernet, state: up}
- {name: eth5, type: ethernet, state: up, lldp: {enabled: true, neighbors: [[{system-name: tor3}, {chassis-id: "02:00:00:00:00:0c"}, {ieee-802-1-vlans: [{vid: 100}]}]]}}
- {name: eth6, type: ethernet, state: up, lldp: {enabled: true, neighbors: [[{system-name: tor3}, {chassis-id: "02:00:00:00:00:0c"}, {ieee-802-1-vlans: [{vid: 200}]}]]}}
- {name: eth7, type: ethernet, state: up, lldp: {enabled: true, neighbors: [[{chassis-id: "02:00:00:00:00:0d"}]]}}
- {name: eth8, type: ethernet, state: up, lldp: {enabled: true, neighbors: [[{chassis-id: "02:00:00:00:00:0d"}]]}}
- {name: veth0, type: veth, state: up, veth: {peer: veth1}}
- {name: veth1, type: veth, state: up, veth: {peer: veth0}}
- {name: pod0, type: veth, state: up, veth: {peer: veth0}}
- {name: br7, type: linux-bridge, state: up, bridge: {options: {stp: {enabled: true}}, port: []}}
- {name: br8, type: linux-bridge, state: up, bridge: {options: {stp: {enabled: false}}, port: []}}
`

func bridgeOf(name, stp string, ports ...string) string {
	return "interfaces: [{name: " + name + ", type: linux-bridge, state: up, bridge: {" + stp + "port: [{name: " + strings.Join(ports, "}, {name: ") + "}]}}]"
}

func TestRingWarnings(t *testing.T) {
	const (
		off    = "options: {stp: {enabled: false}}, "
		on     = "options: {stp: {enabled: true}}, "
		unsaid = ""
		ring   = "br1 has no STP, and its ports eth1 and eth2 hear the same switch tor1 by LLDP: frames may go round for ever; enable bridge.options.stp, or take one of the ports out"
	)
	for sentence, c := range map[string]struct {
		desired string
		want    string
	}{
		"two ports that hear the same switch, without STP":            {bridgeOf("br1", off, "eth1", "eth2"), ring},
		"a port more does not hide them":                              {bridgeOf("br1", off, "eth4", "eth1", "eth3", "eth2"), ring},
		"with STP there is no ring":                                   {bridgeOf("br1", on, "eth1", "eth2"), ""},
		"whether a new bridge will run STP is not known":              {bridgeOf("br1", unsaid, "eth1", "eth2"), ""},
		"a bridge that is reported to run STP":                        {bridgeOf("br7", unsaid, "eth1", "eth2"), ""},
		"a bridge that is reported to run none":                       {bridgeOf("br8", unsaid, "eth1", "eth2"), strings.Replace(ring, "br1", "br8", 1)},
		"two switches":                                                {bridgeOf("br1", off, "eth1", "eth3"), ""},
		"a port that hears nobody leads nowhere as far as is known":   {bridgeOf("br1", off, "eth1", "eth4"), ""},
		"a port that the node does not have yet":                      {bridgeOf("br1", off, "eth1", "eth99"), ""},
		"one switch whose ports announce different VLANs":             {bridgeOf("br1", off, "eth5", "eth6"), ""},
		"a switch without a name is told by its chassis":              {bridgeOf("br1", off, "eth7", "eth8"), strings.NewReplacer("eth1", "eth7", "eth2", "eth8", "tor1", "02:00:00:00:00:0d").Replace(ring)},
		"the two ends of a veth pair":                                 {bridgeOf("br1", off, "veth0", "veth1"), strings.NewReplacer("eth1 and eth2 hear the same switch tor1 by LLDP", "veth0 and veth1 are the two ends of one veth pair").Replace(ring)},
		"a veth that only claims to be another's peer":                {bridgeOf("br1", off, "veth0", "pod0"), ""},
		"access ports of two VLANs are apart in the bridge":           {bridgeOf("br1", off, "eth1, vlan: {mode: access, tag: 10}", "eth2, vlan: {mode: access, tag: 20}"), ""},
		"access ports of one VLAN are not":                            {bridgeOf("br1", off, "eth1, vlan: {mode: access, tag: 10}", "eth2, vlan: {mode: access, tag: 10}"), ring},
		"a bridge that goes":                                          {strings.Replace(bridgeOf("br1", off, "eth1", "eth2"), "state: up", "state: absent", 1), ""},
		"a bond has no STP and needs none":                            {`interfaces: [{name: bond0, type: bond, state: up, link-aggregation: {mode: active-backup, port: [eth1, eth2]}}]`, ""},
		"a bridge of Open vSwitch is not judged by a Linux bridge":    {strings.Replace(bridgeOf("br1", off, "eth1", "eth2"), "linux-bridge", "ovs-bridge", 1), ""},
		"a policy that names neither bridge nor ports warns of none":  {`interfaces: [{name: eth1, mtu: 1400}]`, ""},
		"two bridges with a port each make no ring that a node knows": {`interfaces: [{name: br1, type: linux-bridge, bridge: {options: {stp: {enabled: false}}, port: [{name: eth1}]}}, {name: br2, type: linux-bridge, bridge: {options: {stp: {enabled: false}}, port: [{name: eth2}]}}]`, ""},
	} {
		t.Run(sentence, func(t *testing.T) {
			wanted := stateOf(t, c.desired)
			if got := strings.Join(ringWarnings(wanted, wanted, stateOf(t, heard)), "\n"); got != c.want {
				t.Errorf("got  %s\nwant %s", got, c.want)
			}
		})
	}
}

func TestARingOfTwoPoliciesIsWarnedOf(t *testing.T) {
	one := stateOf(t, bridgeOf("br1", "options: {stp: {enabled: false}}, ", "eth1"))
	both := stateOf(t, bridgeOf("br1", "options: {stp: {enabled: false}}, ", "eth1", "eth2"))
	if got := ringWarnings(one, both, stateOf(t, heard)); len(got) != 1 {
		t.Errorf("got %q", got)
	}
}
