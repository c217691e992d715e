package kind

import (
	"context"
	"fmt"
	"strings"

	. "github.com/onsi/ginkgo/v2"
)

// kindOfLink is a type of interface: how to find out whether the nodes can have
// it, a state with it, and what is in the kernel then.
type kindOfLink struct {
	try   string
	state string
	marks [][]string
}

const pair = "ip link add v0 type veth peer name v1 && "

func interfaces() {
	DescribeTable("is applied and found in the kernel", func(ctx SpecContext, kind kindOfLink) {
		for _, w := range k.workers {
			if err := w.lacks(ctx, kind.try); err != nil {
				Skip(err.Error())
			}
		}
		k.become(ctx, manifest("type", onWorkers, kind.state), "type", k.workers, kind.marks...)
	},
		Entry("linux-bridge with a port", kindOfLink{
			state: bridge("e2e-br", "10.31.0."+last, "eth1"), marks: bridged("e2e-br", "10.31.0."+last, "eth1"),
		}, SpecTimeout(specTimeout)),
		Entry("ethernet with an MTU and a static address", kindOfLink{
			state: nic("eth1", 1400, "10.31.0."+last), marks: sized("eth1", 1400, "10.31.0."+last),
		}, SpecTimeout(specTimeout)),
		Entry("veth", kindOfLink{try: pair + "true", state: `
interfaces:
- {name: e2e-v0, type: veth, state: up, veth: {peer: e2e-v1}}
- {name: e2e-v1, type: veth, state: up, veth: {peer: e2e-v0}}
`, marks: [][]string{{"link {", `"ifname":"e2e-v0"`, `"info_kind":"veth"`}, {"link {", `"ifname":"e2e-v1"`, `"info_kind":"veth"`}}}, SpecTimeout(specTimeout)),
		Entry("mac-vlan", kindOfLink{try: pair + "ip link add link v0 name t0 type macvlan", state: `
interfaces:
- name: e2e-mac
  type: mac-vlan
  state: up
  mac-vlan: {base-iface: eth1, mode: bridge, promiscuous: true}
  ipv4: {enabled: true, dhcp: false, address: [{ip: "10.31.0.{{ var.last }}", prefix-length: 24}]}
`, marks: [][]string{{"link {", `"ifname":"e2e-mac"`, `"info_kind":"macvlan"`}, {"address {", `"local":"10.31.0.`}}}, SpecTimeout(specTimeout)),
		Entry("vxlan", kindOfLink{try: "ip link add t0 type vxlan id 7 dstport 4789", state: `
interfaces:
- name: e2e-vx
  type: vxlan
  state: up
  vxlan: {base-iface: eth1, id: 7, remote: 192.0.2.250, destination-port: 4789}
`, marks: [][]string{{"link {", `"ifname":"e2e-vx"`, `"info_kind":"vxlan"`}}}, SpecTimeout(specTimeout)),
		Entry("routes beside a static address", kindOfLink{state: nic("eth1", 1500, "10.31.0."+last) + `
routes:
  config:
  - {destination: 198.51.100.0/24, next-hop-address: 10.31.0.254, next-hop-interface: eth1, metric: 150}
`, marks: [][]string{{"route {", `"dst":"198.51.100.0/24"`, `"gateway":"10.31.0.254"`}}}, SpecTimeout(specTimeout)),
		Entry("bond", kindOfLink{try: "ip link add t0 type bond", state: `
interfaces:
- name: e2e-bond
  type: bond
  state: up
  link-aggregation: {mode: active-backup, port: [eth1]}
`, marks: [][]string{{"link {", `"ifname":"e2e-bond"`, `"info_kind":"bond"`}, {`"ifname":"eth1"`, `"master":"e2e-bond"`}}}, SpecTimeout(specTimeout)),
		Entry("vlan", kindOfLink{try: pair + "ip link add link v0 name t0 type vlan id 5", state: `
interfaces:
- {name: e2e-vlan, type: vlan, state: up, vlan: {base-iface: eth1, id: 5}}
`, marks: [][]string{{"link {", `"ifname":"e2e-vlan"`, `"info_kind":"vlan"`}}}, SpecTimeout(specTimeout)),
		Entry("dummy", kindOfLink{try: "ip link add t0 type dummy", state: `
interfaces:
- {name: e2e-dummy, type: dummy, state: up}
`, marks: [][]string{{"link {", `"ifname":"e2e-dummy"`, `"info_kind":"dummy"`}}}, SpecTimeout(specTimeout)),
		Entry("vrf", kindOfLink{try: "ip link add t0 type vrf table 5", state: `
interfaces:
- {name: e2e-vrf, type: vrf, state: up, vrf: {route-table-id: 100, port: [eth1]}}
`, marks: [][]string{{"link {", `"ifname":"e2e-vrf"`, `"info_kind":"vrf"`}}}, SpecTimeout(specTimeout)),
		Entry("ovs-bridge", kindOfLink{try: ovs, state: `
interfaces:
- {name: e2e-ovs0, type: ovs-interface, state: up}
- {name: e2e-ovs, type: ovs-bridge, state: up, bridge: {port: [{name: eth1}, {name: e2e-ovs0}]}}
`, marks: [][]string{{"link {", `"ifname":"e2e-ovs0"`}}}, SpecTimeout(specTimeout)),
	)
}

// ovs tries for what NetworkManager needs for Open vSwitch.
const ovs = `ls /usr/lib/*/NetworkManager/*/libnm-device-plugin-ovs.so /run/openvswitch/db.sock`

// lacks tries something in a network namespace of the node that goes with the
// try. nil means that it can be done.
func (n *node) lacks(ctx context.Context, try string) error {
	if try == "" {
		return nil
	}
	if _, err := n.try(ctx, "unshare", "-n", "sh", "-c", try); err != nil {
		return fmt.Errorf("missing: %s (%s)", strings.TrimPrefix(try, pair), lastWords(err))
	}
	return nil
}

// lastWords are what the command itself said.
func lastWords(err error) string {
	lines := strings.Split(strings.TrimSpace(err.Error()), "\n")
	last := lines[len(lines)-1]
	return last[strings.LastIndex(last, "exit status")+len("exit status N: "):]
}
