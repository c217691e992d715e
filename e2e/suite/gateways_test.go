//go:build linux

package suite

import (
	"context"
	"slices"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/nmstate/kubernetes-nmstate/e2e/lab"
)

// twoGateways is a node whose NICs lead to a gateway each, and whose profiles name no metrics.
const twoGateways = `
nodes:
- name: node1
  nics:
  - {name: eth0, switch: lan, address: dhcp, numbered: true}
  - {name: eth1, switch: leaf, address: dhcp, numbered: true}
- name: node2
  nics:
  - {name: eth0, switch: lan, address: 192.0.2.12/24, address6: "2001:db8::12/64", numbered: true}
  - {name: eth1, switch: leaf, address: 198.51.100.12/24, address6: "2001:db8:1::12/64", numbered: true}
switches:
- {name: lan, gateway: 192.0.2.1/24, gateway6: "2001:db8::1/64", dns: true, dhcp: {from: 192.0.2.100, to: 192.0.2.150}}
- {name: leaf, gateway: 198.51.100.1/24, gateway6: "2001:db8:1::1/64", dhcp: {from: 198.51.100.100, to: 198.51.100.150}}
`

// underABridge has a NIC's addresses on a bridge, unless nobody confirms that.
const underABridge = `
apiVersion: nmstate.io/v1
kind: NodeNetworkConfigurationPolicy
metadata: {name: bridge}
spec:
  affinity: {nodeAffinity: {requiredDuringSchedulingIgnoredDuringExecution: {nodeSelectorTerms: [{matchFields: [{key: metadata.name, operator: In, values: [NODE]}]}]}}}
  probeTimeoutSeconds: 6
  probes: [{type: confirm, timeoutSeconds: 4}]
  desiredState:
    interfaces:
    - name: br0
      type: linux-bridge
      state: up
      ipv4: {enabled: true, dhcp: true, auto-route-metric: 50}
      bridge: {options: {stp: {enabled: false}}, port: [{name: NIC}]}
`

// NetworkManager counts the metrics of its devices up as it activates them. A rollback
// activates a NIC anew: it would come after the other one from then on, and the node leave
// through the other gateway, which may lead nowhere.
var _ = Describe("A node with two gateways", func() {
	for _, name := range []string{"node1", "node2"} {
		It("leaves through the first one again, once a change of that NIC was taken back: "+name, func(ctx SpecContext) {
			f := take(ctx, twoGateways)
			n, err := f.Node(name)
			Expect(err).NotTo(HaveOccurred())
			var before []string
			Eventually(ctx, func() []string { before = byGateway(ctx, n); return before }).Should(HaveLen(2))

			f.create(ctx, strings.NewReplacer("NODE", name, "NIC", before[0]).Replace(underABridge))
			Expect(f.awaitFailing(ctx, name, "bridge")).To(ContainSubstring("not confirmed within 4 s"))
			enactment, err := f.enactment(ctx, name, "bridge")
			Expect(err).NotTo(HaveOccurred())
			Expect(enactment.Status.Rollback.Differences).To(BeEmpty())
			Expect(byGateway(ctx, n)).To(Equal(before))

			By("NetworkManager is restarted")
			restartNM(ctx, n)
			Eventually(ctx, func() []string { return byGateway(ctx, n) }).Should(Equal(before))
		}, SpecTimeout(specTimeout))
	}
})

var _ = Describe("A node with two gateways, once a policy is deleted", func() {
	for _, name := range []string{"node1", "node2"} {
		It("leaves through the first one again: "+name, func(ctx SpecContext) {
			f := take(ctx, twoGateways)
			n, err := f.Node(name)
			Expect(err).NotTo(HaveOccurred())
			var before []string
			Eventually(ctx, func() []string { before = byGateway(ctx, n); return before }).Should(HaveLen(2))
			good := strings.NewReplacer("NODE", name, "NIC", before[0], "probes: [{type: confirm, timeoutSeconds: 4}]", "onDelete: Revert").Replace(underABridge)
			f.create(ctx, good)
			f.awaitEnactment(ctx, name, "bridge", enactmentSuccess)
			f.delete(ctx, "bridge")
			f.awaitGone(ctx, n, "bridge")
			Eventually(ctx, func() []string { return byGateway(ctx, n) }).Should(Equal(before))
		}, SpecTimeout(specTimeout))
	}
})

// byGateway are the NICs that lead to a gateway of IPv4, the first one first.
func byGateway(ctx context.Context, n *lab.Node) []string {
	GinkgoHelper()
	var found []string
	out, err := n.Exec(ctx, "ip", "-4", "route", "show", "default")
	Expect(err).NotTo(HaveOccurred(), string(out))
	for line := range strings.Lines(string(out)) {
		_, rest, _ := strings.Cut(line, " dev ")
		if nic := strings.Fields(rest)[0]; !slices.Contains(found, nic) { // A restart may leave a route beside another.
			found = append(found, nic)
		}
	}
	return found
}

// jumboFrames asks for packets that only some of the way carries.
const jumboFrames = `
apiVersion: nmstate.io/v1
kind: NodeNetworkConfigurationPolicy
metadata: {name: jumbo}
spec:
  probeTimeoutSeconds: 6
  desiredState: {interfaces: [{name: eth0, type: ethernet, state: up, mtu: 9000}]}
`

// A switch drops frames that are too long for it without a word, so pings and short answers
// pass, and everything that fills a packet hangs for ever: a report of the kubelet, an image.
var _ = Describe("An MTU that a switch on the way does not carry", func() {
	DescribeTable("is taken back", func(ctx SpecContext, carried string) {
		f := take(ctx, oneNode)
		n := f.node()
		Expect(f.Switch(ctx, "lan", lab.Frames, carried)).To(Succeed())
		f.create(ctx, jumboFrames)
		Expect(f.awaitFailing(ctx, n.Name, "jumbo")).To(ContainSubstring("api-server"))
		f.awaitAsBefore(ctx, n)
	},
		Entry("1,500 bytes", "1500", SpecTimeout(specTimeout)),
		Entry("4,000 bytes", "4000", SpecTimeout(specTimeout)),
		Entry("8,950 bytes, as in a tunnel of a cloud", "8950", SpecTimeout(specTimeout)),
	)

	It("stays where the switch carries it", func(ctx SpecContext) {
		f := take(ctx, oneNode)
		n := f.node()
		Expect(f.Switch(ctx, "lan", lab.Frames, "9000")).To(Succeed())
		f.create(ctx, jumboFrames)
		f.awaitEnactment(ctx, n.Name, "jumbo", enactmentSuccess)
	}, SpecTimeout(specTimeout))
})
