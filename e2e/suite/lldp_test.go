//go:build linux

package suite

import (
	"encoding/json"
	"fmt"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	v1 "github.com/nmstate/kubernetes-nmstate/api/v1"
)

// leafSwitches is a node with a NIC in each of two switches that announce
// themselves.
const leafSwitches = `
nodes:
- name: node1
  nics:
  - {name: eth0, switch: lan, address: 192.0.2.11/24}
  - {name: eth1, switch: leaf1}
  - {name: eth2, switch: leaf2}
switches:
- {name: lan, gateway: 192.0.2.1/24, dns: true}
- {name: leaf1, gateway: 10.0.1.1/24, lldp: {chassisID: "02:00:00:00:00:01", systemName: leaf1, vlans: [100, 200]}}
- {name: leaf2, gateway: 10.0.2.1/24, lldp: {chassisID: "02:00:00:00:00:02", systemName: leaf2, vlans: [100, 200]}}
`

// hearPolicy makes NICs listen to what their switches announce.
const hearPolicy = `
apiVersion: nmstate.io/v1
kind: NodeNetworkConfigurationPolicy
metadata: {name: hear}
spec:
  desiredState:
    interfaces:
    - {name: eth1, type: ethernet, state: up, ipv4: {enabled: false}, ipv6: {enabled: false}, lldp: {enabled: true}}
    - {name: eth2, type: ethernet, state: up, ipv4: {enabled: false}, ipv6: {enabled: false}, lldp: {enabled: true}}
`

// ringPolicy is a bridge over both NICs without STP.
const ringPolicy = `
apiVersion: nmstate.io/v1
kind: NodeNetworkConfigurationPolicy
metadata: {name: ring}
spec:
  mode: Plan
  desiredState:
    interfaces:
    - name: br1
      type: linux-bridge
      state: up
      ipv4: {enabled: false}
      ipv6: {enabled: false}
      bridge: {options: {stp: {enabled: false}}, port: [{name: eth1}, {name: eth2}]}
`

var _ = Describe("A switch that announces itself", func() {
	It("on two ports of a bridge without STP is warned of, in the plan and when the bridge is there", func(ctx SpecContext) {
		// Two segments that say they are one switch: were they one, this bridge
		// would fill it with frames.
		f := take(ctx, strings.ReplaceAll(strings.ReplaceAll(leafSwitches, "00:02", "00:01"), "leaf2, vlans", "leaf1, vlans"))
		const warning = "br1 has no STP, and its ports eth1 and eth2 hear the same switch leaf1 by LLDP"
		f.create(ctx, hearPolicy)
		f.awaitPolicy(ctx, "hear", policySuccess)
		f.create(ctx, ringPolicy)
		Eventually(ctx, func(g Gomega) {
			planned, err := f.enactment(ctx, "node1", "ring")
			g.Expect(err).NotTo(HaveOccurred())
			g.Expect(planned.Status.Plan).NotTo(BeNil())
			g.Expect(planned.Status.Plan.Warnings).To(ConsistOf(HavePrefix(warning)))
			g.Expect(said(planned.Status.Conditions, v1.Planned)).To(ContainSubstring("warning: " + warning))
		}).Should(Succeed())
		f.patch(ctx, "ring", `{"spec": {"mode": "Apply"}}`)
		Eventually(ctx, func(g Gomega) {
			applied, err := f.enactment(ctx, "node1", "ring")
			g.Expect(err).NotTo(HaveOccurred())
			g.Expect(said(applied.Status.Conditions, v1.EnactmentAvailable)).To(HavePrefix("successfully reconciled; warning: " + warning))
		}).Should(Succeed())
		f.patch(ctx, "ring", `{"spec": {"desiredState": {"interfaces": [
			{"name": "br1", "type": "linux-bridge", "state": "up", "ipv4": {"enabled": false}, "ipv6": {"enabled": false},
			 "bridge": {"options": {"stp": {"enabled": true}}, "port": [{"name": "eth1"}, {"name": "eth2"}]}}]}}}`)
		Eventually(ctx, func(g Gomega) {
			mended, err := f.enactment(ctx, "node1", "ring")
			g.Expect(err).NotTo(HaveOccurred())
			g.Expect(mended.Status.PolicyGeneration).To(BeEquivalentTo(3))
			g.Expect(said(mended.Status.Conditions, v1.EnactmentAvailable)).To(Equal("successfully reconciled"))
		}).Should(Succeed())
	}, SpecTimeout(specTimeout))

	It("is an LLDP neighbour in the node's NodeNetworkState", func(ctx SpecContext) {
		f := take(ctx, leafSwitches)
		f.create(ctx, hearPolicy)
		f.awaitPolicy(ctx, "hear", policySuccess)
		Eventually(ctx, func(g Gomega) {
			nns, err := f.nodeState(ctx, "node1")
			g.Expect(err).NotTo(HaveOccurred())
			var current struct {
				Interfaces []struct {
					Name string
					LLDP struct{ Neighbors [][]map[string]any }
				}
			}
			g.Expect(json.Unmarshal(nns.Status.CurrentState.Raw, &current)).To(Succeed())
			heard := map[string]string{}
			for _, nic := range current.Interfaces {
				for _, neighbour := range nic.LLDP.Neighbors {
					text, err := json.Marshal(neighbour)
					g.Expect(err).NotTo(HaveOccurred())
					heard[nic.Name] += string(text)
				}
			}
			for i, nic := range []string{"eth1", "eth2"} {
				g.Expect(heard[nic]).To(And(
					ContainSubstring(fmt.Sprintf("02:00:00:00:00:%02d", i+1)), ContainSubstring(fmt.Sprintf(`"leaf%d"`, i+1)), ContainSubstring("node1."+nic),
					ContainSubstring("100"), ContainSubstring("vlan200")))
			}
			GinkgoWriter.Println(heard)
		}).Should(Succeed())
	}, SpecTimeout(specTimeout))
})
