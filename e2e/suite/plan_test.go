//go:build linux

package suite

import (
	"context"
	"fmt"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	v1 "github.com/nmstate/kubernetes-nmstate/api/v1"
)

var _ = Describe("A policy in mode Plan", func() {
	It("shows what would change and changes nothing; then what is pinned is applied, and only that", func(ctx SpecContext) {
		f := take(ctx, oneNode)
		n := f.node()
		before := applies(n)
		f.create(ctx, planPolicy("mtu", "mode: Plan", planMTU))
		f.create(ctx, planPolicy("take", "mode: Plan", planBridge))

		mtu := f.awaitPlan(ctx, n.Name, "mtu")
		Expect(mtu.Disruption).To(Equal(v1.DisruptionReapply))
		Expect(mtu.Interfaces).To(HaveLen(1))
		Expect(mtu.Interfaces[0].Name).To(Equal("eth1"))
		Expect(mtu.Interfaces[0].Changes).To(ContainElement("mtu: 1500 -> 1400"))

		bridge := f.awaitPlan(ctx, n.Name, "take")
		Expect(bridge.Disruption).To(Equal(v1.DisruptionConnectivityRisk))
		Expect(bridge.Interfaces).To(ContainElement(And(
			HaveField("Name", "eth0"), HaveField("Disruption", v1.DisruptionConnectivityRisk),
			HaveField("Reason", ContainSubstring("it has a default route, and it becomes a port of br0")),
		)))
		f.expectAsBefore(ctx, n)
		Expect(applies(n)).To(Equal(before), "checkpoints that NetworkManager was asked for")

		f.edit(ctx, planPolicy("mtu", `planHashes: ["0123456789abcdef"]`, planMTU))
		Expect(f.awaitFailing(ctx, n.Name, "mtu")).To(HavePrefix(
			"the plan of this node, %s, is not one of spec.planHashes (0123456789abcdef)", mtu.Hash))
		f.expectAsBefore(ctx, n)
		Expect(applies(n)).To(Equal(before))

		f.edit(ctx, planPolicy("mtu", fmt.Sprintf("planHashes: [%q]", mtu.Hash), planMTU))
		applied := f.awaitEnactment(ctx, n.Name, "mtu", enactmentSuccess)
		Expect(applied.Status.Plan).To(HaveField("Hash", mtu.Hash))
		awaitKernel(ctx, n, []string{`link {`, `"ifname":"eth1"`, `"mtu":1400`})

		// A plan is made anew when the node is another.
		f.create(ctx, planPolicy("again", "mode: Plan", planMTU))
		Expect(f.awaitPlan(ctx, n.Name, "again").Disruption).To(Equal(v1.DisruptionNone))
	}, SpecTimeout(specTimeout))
})

const planMTU = `[{name: eth1, type: ethernet, state: up, mtu: 1400}]`

const planBridge = `[{name: br0, type: linux-bridge, state: up, ipv4: {enabled: true, dhcp: true}, bridge: {port: [{name: eth0, vlan: {}}]}}]`

// planPolicy is a policy with one more line of its spec.
func planPolicy(name, line, interfaces string) string {
	return fmt.Sprintf(`
apiVersion: nmstate.io/v1
kind: NodeNetworkConfigurationPolicy
metadata: {name: %s}
spec:
  probeTimeoutSeconds: %d
  %s
  desiredState:
    interfaces: %s
`, name, window, line, interfaces)
}

// enactmentPlanned is a sixth condition beside the five.
var enactmentPlanned = table{
	v1.EnactmentFailing:     "False Planned",
	v1.EnactmentAvailable:   "False Planned",
	v1.EnactmentProgressing: "False Planned",
	v1.EnactmentPending:     "False Planned",
	v1.EnactmentAborted:     "False Planned",
	v1.Planned:              "True Planned",
}

func (f *fleet) awaitPlan(ctx context.Context, node, name string) *v1.EnactmentPlan {
	GinkgoHelper()
	plan := f.awaitEnactment(ctx, node, name, enactmentPlanned).Status.Plan
	Expect(plan).NotTo(BeNil())
	return plan
}
