//go:build linux

package suite

import (
	"encoding/json"
	"fmt"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
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

var _ = Describe("A switch that announces itself", func() {
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
