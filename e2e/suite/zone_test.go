//go:build linux

package suite

import (
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
)

// An administrator's profile says in which zone of firewalld a NIC is. A controller that takes
// its place is in the default one, which may let no other node reach the kubelet.
var _ = Describe("A bridge that takes the place of a NIC in a zone of firewalld", func() {
	It("is told of, since no state can say a zone, and is not any more once it is in that zone", func(ctx SpecContext) {
		f := take(ctx, oneNode)
		n := f.node()
		byHand(ctx, n, "nmcli", "connection", "add", "type", "ethernet", "ifname", "eth1", "con-name", "storage", "connection.zone", "internal",
			"ipv4.method", "manual", "ipv4.addresses", "203.0.113.9/24", "ipv6.method", "disabled")
		DeferCleanup(func(ctx SpecContext) { byHand(ctx, n, "sh", "-c", "nmcli connection delete storage eth1 || true") })

		f.create(ctx, bridgePolicy("203.0.113.10"))
		done := f.awaitEnactment(ctx, n.Name, "bridge", enactmentSuccess)
		Expect(done.Status.NotVerified).To(ConsistOf(HavePrefix(`interfaces[br1]: eth1, whose place it takes, is in zone "internal" of firewalld, and it is not`)))

		byHand(ctx, n, "nmcli", "connection", "modify", "br1", "connection.zone", "internal")
		f.edit(ctx, bridgePolicy("203.0.113.11"))
		Eventually(ctx, func(g Gomega) {
			again, err := f.enactment(ctx, n.Name, "bridge")
			g.Expect(err).NotTo(HaveOccurred())
			g.Expect(again.Status.Committed.Generation).To(BeEquivalentTo(2))
			g.Expect(again.Status.NotVerified).To(BeEmpty())
		}).Should(Succeed())
		zone, err := n.Exec(ctx, "nmcli", "-g", "connection.zone", "connection", "show", "br1")
		Expect(err).NotTo(HaveOccurred(), string(zone))
		Expect(string(zone)).To(Equal("internal\n"))
	}, SpecTimeout(specTimeout))
})
