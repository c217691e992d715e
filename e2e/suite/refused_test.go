//go:build linux

package suite

import (
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
)

const refusedHead = `
apiVersion: nmstate.io/v1
kind: NodeNetworkConfigurationPolicy
metadata: {name: refused}
spec:
  desiredState:
    interfaces:
`

var _ = Describe("A desired state that cannot be", func() {
	DescribeTable("is refused with its reason and changes nothing",
		func(ctx SpecContext, interfaces, reason string) {
			f := take(ctx, oneNode)
			n := f.node()
			f.create(ctx, refusedHead+interfaces)
			message := f.awaitFailing(ctx, n.Name, "refused")
			AddReportEntry("said", message)
			Expect(message).To(ContainSubstring(reason))
			f.awaitAsBefore(ctx, n)
			Expect(checkpoints(ctx, n)).To(BeEmpty())
		},
		Entry("by name: a bridge that refers to a port that is not there", `
    - {name: br1, type: linux-bridge, state: up, bridge: {port: [{name: eth9, vlan: {}}]}}
`, "eth9", SpecTimeout(specTimeout)),
		Entry("by libnmstate: an MTU below IPv6's least", `
    - {name: eth1, type: ethernet, state: up, mtu: 600, ipv6: {enabled: true}}
`, "mtu", SpecTimeout(specTimeout)),
		Entry("by name: a key that is misspelt", `
    - {name: eth1, type: ethernet, state: up, ipv4: {enabeld: true}}
`, `did you mean "enabled"?`, SpecTimeout(specTimeout)),
		Entry("by name: a type that does not exist", `
    - {name: br1, type: linux-brigde, state: up}
`, `did you mean "linux-bridge"?`, SpecTimeout(specTimeout)),
	)
})

// refusedSpecs are policies of which the API server sees nothing wrong, and
// what the node says of them.
var refusedSpecs = map[string]struct{ spec, reason string }{
	"template-without-variable": {
		`{variables: {mtu: {values: {node1: "1400"}}}, desiredState: {interfaces: [{name: eth1, type: ethernet, state: up, mtu: "{{ var.mtuu }}"}]}}`,
		`{{ var.mtuu }}: spec.variables has no such variable`,
	},
	"template-without-match": {
		`{desiredState: {interfaces: [{name: "{{ match.name }}", type: ethernet, state: up}]}}`,
		"{{ match.name }} needs spec.match",
	},
	"template-of-nothing": {
		`{desiredState: {interfaces: [{name: "{{ node.name }}", type: ethernet, state: up}]}}`,
		"{{ node.name }} names nothing: a template is match.name, var.NAME, capture.NAME or secret.NAME.KEY",
	},
	"template-without-capture": {
		`{desiredState: {interfaces: [{name: "{{ capture.gateway.interfaces.0.name }}", type: ethernet, state: up}]}}`,
		`spec.capture has no capture "gateway"`,
	},
	"variable-without-value": {
		`{variables: {mtu: {fromLabel: example.com/mtu}}, desiredState: {interfaces: [{name: eth1, type: ethernet, state: up, mtu: "{{ var.mtu }}"}]}}`,
		"spec.variables[mtu]: node node1 has no label example.com/mtu, and there is no default",
	},
	"match-without-pattern": {
		`{match: [{name: "eth[1"}], desiredState: {interfaces: [{type: ethernet, state: up}]}}`,
		`spec.match[0].name: "eth[1" is no pattern; write it as in`,
	},
	"capture-that-finds-nothing": {
		`{capture: {nic: 'interfaces.name=="eth9"'}, desiredState: {interfaces: [{name: "{{ capture.nic.interfaces.0.name }}", type: ethernet, state: up}]}}`,
		"resolving spec.capture",
	},
	"capture-that-is-none": {
		`{capture: {nic: 'interfaces.name="eth1"'}, desiredState: {interfaces: [{name: "{{ capture.nic.interfaces.0.name }}", type: ethernet, state: up}]}}`,
		"resolving spec.capture",
	},
	"circle": {
		`{desiredState: {interfaces: [{name: br7, type: linux-bridge, state: up, bridge: {port: [{name: br8, vlan: {}}]}}, {name: br8, type: linux-bridge, state: up, bridge: {port: [{name: br7, vlan: {}}]}}]}}`,
		"interfaces stand on each other in a circle: ",
	},
	"protected": {
		`{desiredState: {interfaces: [{name: cali0123456789a, type: veth, state: up, veth: {peer: x}}]}}`,
		`interfaces[cali0123456789a] belongs to another owner (protected pattern "cali*")`,
	},
	"protected-port": {
		`{desiredState: {interfaces: [{name: br7, type: linux-bridge, state: up, bridge: {port: [{name: vnet0, vlan: {}}]}}]}}`,
		`interfaces[br7] takes the port vnet0 of another owner (protected pattern "vnet*")`,
	},
	"script": {
		`{desiredState: {interfaces: [{name: eth1, type: ethernet, state: up, dispatch: {post-activation: "touch /run/ran"}}]}}`,
		"interfaces[eth1].dispatch is refused: the node would run it as root; an administrator can allow it with --allow-commands",
	},
	"library": {
		`{desiredState: {ovs-db: {other_config: {dpdk-extra: "-d /tmp/a.so"}}}}`,
		"ovs-db.other_config.dpdk-extra is refused",
	},
	"probe-without-target": {
		`{variables: {host: {values: {node1: "not a host"}}}, probes: [{type: ping, target: "{{ var.host }}"}], desiredState: {interfaces: [{name: eth1, type: ethernet, state: up}]}}`,
		`spec.probes[0].target: "not a host"`,
	},
	"plan-that-nobody-reviewed": {
		`{planHashes: ["0123456789abcdef"], desiredState: {interfaces: [{name: eth1, type: ethernet, state: up, mtu: 1400}]}}`,
		"is not one of spec.planHashes (0123456789abcdef), so it is not what was reviewed",
	},
}

var _ = Describe("A policy that the API server takes and that cannot be", func() {
	It("is refused by the node in one line, one beside the other, and nothing is applied", func(ctx SpecContext) {
		f := take(ctx, oneNode)
		n := f.node()
		before := applies(n)
		for name, refused := range refusedSpecs {
			f.apply(ctx, "apiVersion: nmstate.io/v1\nkind: NodeNetworkConfigurationPolicy\nmetadata: {name: "+name+"}\nspec: "+refused.spec)
		}
		for name, refused := range refusedSpecs {
			message := f.awaitFailing(ctx, n.Name, name)
			AddReportEntry(name, message)
			Expect(message).To(ContainSubstring(refused.reason), name)
			Expect(len(message)).To(BeNumerically("<=", 1024), name)
		}
		f.expectAsBefore(ctx, n)
		Expect(scripts(n)).To(BeEmpty())
		Expect(applies(n)).To(Equal(before))
	}, SpecTimeout(specTimeout))

	It("says so itself where no node can be selected", func(ctx SpecContext) {
		f := take(ctx, oneNode)
		f.apply(ctx, `{apiVersion: nmstate.io/v1, kind: NodeNetworkConfigurationPolicy, metadata: {name: unreadable}, spec: {affinity: {nodeAffinity: {requiredDuringSchedulingIgnoredDuringExecution: {nodeSelectorTerms: [{matchExpressions: [{key: a, operator: Is}]}]}}}}}`)
		message := f.awaitPolicy(ctx, "unreadable", policyFailed)
		Expect(message).To(And(ContainSubstring("spec.affinity.nodeAffinity"), ContainSubstring("Is"), Not(ContainSubstring("\n"))))
	}, SpecTimeout(specTimeout))
})
