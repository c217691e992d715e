//go:build linux

package suite

import (
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
)

// leftAlone is what Ubuntu's servers come with, where something else than NetworkManager
// has the NICs.
const leftAlone = "/etc/NetworkManager/conf.d/10-globally-managed-devices.conf"

var _ = Describe("A node whose NetworkManager is configured to leave NICs alone", func() {
	It("fails the policy at once and by name, and takes it once NetworkManager has the NICs", func(ctx SpecContext) {
		f := take(ctx, oneNode)
		n := f.node()
		byHand(ctx, n, "sh", "-c", "printf '[keyfile]\\nunmanaged-devices=interface-name:eth2,except:type:wifi\\n' >"+leftAlone+" && nmcli general reload conf")
		DeferCleanup(func(ctx SpecContext) { byHand(ctx, n, "sh", "-c", "rm -f "+leftAlone+" && nmcli general reload conf") })
		Expect(connection(ctx, n, "eth2")).To(ContainSubstring("(unmanaged)"))
		before := snap(ctx, n)

		f.create(ctx, nicPolicy("nic", "eth2", 1400, "198.18.0.5"))
		Expect(f.awaitFailing(ctx, n.Name, "nic")).To(HavePrefix("applying: interfaces[eth2]: NetworkManager is configured to leave it alone on this node"))
		f.await(ctx, n, before)

		byHand(ctx, n, "sh", "-c", "rm "+leftAlone+" && nmcli general reload conf")
		f.awaitEnactment(ctx, n.Name, "nic", enactmentSuccess)
		awaitKernel(ctx, n, marks("eth2", "1400", "198.18.0.5")...)
	}, SpecTimeout(specTimeout))
})

var _ = Describe("A NIC that an interface of a pod stands on", func() {
	It("does not become the port of a bridge, and the policy says what stands there", func(ctx SpecContext) {
		f := take(ctx, oneNode)
		n := f.node()
		byHand(ctx, n, "sh", "-c", "ip link add net1 link eth1 type macvlan mode bridge && ip netns add pod && ip link set net1 netns pod && ip -n pod link set net1 up")
		DeferCleanup(func(ctx SpecContext) { byHand(ctx, n, "sh", "-c", "ip netns del pod") })

		f.create(ctx, bridgePolicy("203.0.113.10"))
		Expect(f.awaitFailing(ctx, n.Name, "bridge")).To(ContainSubstring(
			"interfaces[br1].port: eth1 is missing (net1 of a pod stands on eth1: the kernel lets no macvlan or ipvlan and a controller share it)"))
		byHand(ctx, n, "ip", "-n", "pod", "link", "show", "net1")

		By("the pod is gone, and the next attempt succeeds")
		byHand(ctx, n, "ip", "-n", "pod", "link", "del", "net1")
		f.awaitEnactment(ctx, n.Name, "bridge", enactmentSuccess)
	}, SpecTimeout(specTimeout))
})
