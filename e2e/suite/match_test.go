//go:build linux

package suite

import (
	"context"
	"fmt"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "github.com/nmstate/kubernetes-nmstate/api/v1"
)

const mtuLabel = "example.com/mtu"

// matchPolicy gives the matched NICs the MTU that the node's label says.
const matchPolicy = `
apiVersion: nmstate.io/v1
kind: NodeNetworkConfigurationPolicy
metadata: {name: match}
spec:
  match: [{name: "eth[12]", type: veth}] # The NICs of the lab are veths.
  variables:
    mtu: {fromLabel: example.com/mtu}
  desiredState:
    interfaces:
    - {type: ethernet, state: up, mtu: "{{ var.mtu }}", ipv4: {enabled: false}, ipv6: {enabled: false}}
`

const nothingPolicy = `
apiVersion: nmstate.io/v1
kind: NodeNetworkConfigurationPolicy
metadata: {name: nothing}
spec:
  match: [{name: "ens*"}]
  desiredState:
    interfaces: [{state: up, mtu: 1400}]
`

const behindLeaf2Policy = `
apiVersion: nmstate.io/v1
kind: NodeNetworkConfigurationPolicy
metadata: {name: behind-leaf2}
spec:
  match: [{lldp: {systemName: "leaf[2-9]", vlanIDs: [200]}}]
  desiredState:
    interfaces: [{type: ethernet, state: up, mtu: 1400}]
`

// autoPolicy is a plan only, since this kernel may have no bonds and VLANs.
const autoPolicy = `
apiVersion: nmstate.io/v1
kind: NodeNetworkConfigurationPolicy
metadata: {name: auto}
spec:
  mode: Plan
  match: [{name: "eth[12]"}]
  autoConfig: {bonding: {mode: active-backup}, vlan: {}}
`

const takesAPodPolicy = `
apiVersion: nmstate.io/v1
kind: NodeNetworkConfigurationPolicy
metadata: {name: takes}
spec:
  desiredState:
    interfaces:
    - {name: br1, type: linux-bridge, state: up, bridge: {port: [{name: cali0123, vlan: {}}]}}
`

const (
	autoBonds = `{"interfaces":[` +
		`{"link-aggregation":{"mode":"active-backup","port":["eth1"]},"name":"bond0","state":"up","type":"bond"},` +
		`{"link-aggregation":{"mode":"active-backup","port":["eth2"]},"name":"bond1","state":"up","type":"bond"},` +
		`{"name":"bond0.100","state":"up","type":"vlan","vlan":{"base-iface":"bond0","id":100}},` +
		`{"name":"bond0.200","state":"up","type":"vlan","vlan":{"base-iface":"bond0","id":200}},` +
		`{"name":"bond1.100","state":"up","type":"vlan","vlan":{"base-iface":"bond1","id":100}},` +
		`{"name":"bond1.200","state":"up","type":"vlan","vlan":{"base-iface":"bond1","id":200}}]}`
	messageNoMatch = "successfully reconciled: no interface of this node matches spec.match"
)

var _ = Describe("A policy that selects interfaces", func() {
	It("configures each of them, with the node's own value, and follows the value", func(ctx SpecContext) {
		f := take(ctx, leafSwitches)
		f.label(ctx, "node1", mtuLabel, "1400")
		f.create(ctx, matchPolicy)
		f.awaitPolicy(ctx, "match", policySuccess)
		awaitKernel(ctx, f.node(), mtuOf("eth1", 1400), mtuOf("eth2", 1400))
		first := f.awaitEnactment(ctx, "node1", "match", enactmentSuccess)
		Expect(first.Status.MatchedInterfaces).To(Equal([]string{"eth1", "eth2"}))
		Expect(first.Status.Variables).To(Equal(map[string]string{"mtu": "1400"}))

		By("a new value of the label: the same generation, another rendering")
		f.label(ctx, "node1", mtuLabel, "1450")
		awaitKernel(ctx, f.node(), mtuOf("eth1", 1450), mtuOf("eth2", 1450))
		second := f.awaitEnactment(ctx, "node1", "match", enactmentSuccess)
		Expect(second.Status.Hash).NotTo(Equal(first.Status.Hash))
		Expect(second.Status.PolicyGeneration).To(Equal(first.Status.PolicyGeneration))

		By("a label that is no variable's source: nothing is applied")
		before := applies(f.node())
		f.label(ctx, "node1", "example.com/other", "x")
		f.create(ctx, nothingPolicy)
		Expect(f.awaitPolicy(ctx, "nothing", policySuccess)).To(Equal("1/1 nodes successfully configured, 1 of them without an interface that spec.match selects"))
		Expect(applies(f.node())).To(Equal(before))

		By("no interface that matches is no failure")
		nothing := f.awaitEnactment(ctx, "node1", "nothing", enactmentSuccess)
		Expect(said(nothing.Status.Conditions, v1.EnactmentAvailable)).To(Equal(messageNoMatch))
		Expect(string(nothing.Status.DesiredState.Raw)).To(Equal("{}"))

		By("another owner's interface")
		f.create(ctx, takesAPodPolicy)
		Expect(f.awaitFailing(ctx, "node1", "takes")).To(ContainSubstring(`takes the port cali0123 of another owner (protected pattern "cali*")`))

		By("the label goes")
		f.label(ctx, "node1", mtuLabel, "")
		Expect(f.awaitFailing(ctx, "node1", "match")).To(Equal("spec.variables[mtu]: node node1 has no label example.com/mtu, and there is no default"))
		awaitKernel(ctx, f.node(), mtuOf("eth1", 1450), mtuOf("eth2", 1450))
	}, SpecTimeout(specTimeout))

	It("selects by LLDP neighbours once they are heard, and makes bonds and VLANs of what they announce", func(ctx SpecContext) {
		f := take(ctx, leafSwitches)
		f.create(ctx, behindLeaf2Policy)
		f.create(ctx, autoPolicy)
		early := f.awaitEnactment(ctx, "node1", "behind-leaf2", enactmentSuccess)
		Expect(said(early.Status.Conditions, v1.EnactmentAvailable)).To(Equal(messageNoMatch))
		Eventually(ctx, func(g Gomega) {
			waiting, err := f.enactment(ctx, "node1", "auto")
			g.Expect(err).NotTo(HaveOccurred())
			g.Expect(said(waiting.Status.Conditions, v1.EnactmentPending)).To(Equal("Waiting for LLDP neighbours of eth1, eth2"))
		}).Should(Succeed())

		By("LLDP is switched on")
		f.create(ctx, hearPolicy)
		awaitKernel(ctx, f.node(), mtuOf("eth1", 1500), mtuOf("eth2", 1400))
		late := f.awaitEnactment(ctx, "node1", "behind-leaf2", enactmentSuccess)
		Expect(late.Status.MatchedInterfaces).To(Equal([]string{"eth2"}))
		Eventually(ctx, func(g Gomega) {
			auto, err := f.enactment(ctx, "node1", "auto")
			g.Expect(err).NotTo(HaveOccurred())
			g.Expect(string(auto.Status.DesiredState.Raw)).To(MatchJSON(autoBonds))
			if lacks(ctx, "bond") == nil {
				g.Expect(auto.Status.Plan).NotTo(BeNil())
			} else { // No plan for what this kernel cannot make.
				g.Expect(said(auto.Status.Conditions, v1.EnactmentFailing)).To(ContainSubstring("the kernel of this node cannot make interfaces of type bond"))
			}
		}).Should(Succeed())
		Expect(f.awaitPolicy(ctx, "hear", policySuccess)).To(Equal("1/1 nodes successfully configured"))
	}, SpecTimeout(specTimeout))
})

// mtuOf is the mark of a NIC's MTU in the kernel.
func mtuOf(nic string, mtu int) []string {
	return []string{`link {`, fmt.Sprintf(`"ifname":%q`, nic), fmt.Sprintf(`"mtu":%d`, mtu)}
}

// label sets a label of a Node; without a value it takes it away.
func (f *fleet) label(ctx context.Context, node, key, value string) {
	GinkgoHelper()
	var object corev1.Node
	Expect(f.Client.Get(ctx, client.ObjectKey{Name: node}, &object)).To(Succeed())
	before := object.DeepCopy()
	if object.Labels == nil {
		object.Labels = map[string]string{}
	}
	object.Labels[key] = value
	if value == "" {
		delete(object.Labels, key)
	}
	Expect(f.Client.Patch(ctx, &object, client.MergeFrom(before))).To(Succeed())
}
