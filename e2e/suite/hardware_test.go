//go:build linux

package suite

import (
	"slices"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
)

// A NIC has several names, and two NICs of some clouds have one MAC address: the one that
// the host offers, and the function of the card that stands behind it.
var _ = Describe("A NIC that is named by its hardware", func() {
	byMAC := func(address string) string {
		return `
apiVersion: nmstate.io/v1
kind: NodeNetworkConfigurationPolicy
metadata: {name: by-mac}
spec:
  onDelete: Revert
  desiredState:
    interfaces:
    - {name: uplink, type: ethernet, state: up, mtu: 1300, identifier: mac-address, mac-address: "` + address + `"}
`
	}

	It("is not guessed where two have its address, and is configured once one has it", func(ctx SpecContext) {
		f := take(ctx, oneNode)
		n := f.node()
		addressOf := func(nic string) string {
			out, err := n.Exec(ctx, "cat", "/sys/class/net/"+nic+"/address")
			Expect(err).NotTo(HaveOccurred())
			return strings.TrimSpace(string(out))
		}
		address, own := addressOf("eth1"), addressOf("eth2")
		restore := func(ctx SpecContext) { byHand(ctx, n, "ip", "link", "set", "eth2", "address", own) }
		DeferCleanup(restore)
		byHand(ctx, n, "ip", "link", "set", "eth2", "address", address)

		f.create(ctx, byMAC(address))
		Expect(f.awaitFailing(ctx, n.Name, "by-mac")).To(ContainSubstring("eth1 and eth2 on this node all have the mac-address " + address))
		awaitKernel(ctx, n, slices.Concat(marks("eth1", "1500"), marks("eth2", "1500"))...)
		Expect(checkpoints(ctx, n)).To(BeEmpty())

		restore(ctx)
		awaitKernel(ctx, n, slices.Concat(marks("eth1", "1300"), marks("eth2", "1500"))...)
	}, SpecTimeout(specTimeout))

	It("is waited for where no NIC has its address", func(ctx SpecContext) {
		f := take(ctx, oneNode)
		n := f.node()
		before := applies(n)
		f.create(ctx, byMAC("02:00:00:00:77:02"))
		Expect(f.awaitFailing(ctx, n.Name, "by-mac")).To(ContainSubstring("interfaces[uplink]: mac-address 02:00:00:00:77:02 is not on this node"))
		f.awaitAsBefore(ctx, n)
		Expect(applies(n)).To(Equal(before))
	}, SpecTimeout(specTimeout))

	It("is refused to a policy that names it otherwise than another policy", func(ctx SpecContext) {
		f := take(ctx, oneNode)
		n := f.node()
		byHand(ctx, n, "ip", "link", "property", "add", "dev", "eth1", "altname", "enp7s0")
		DeferCleanup(func(ctx SpecContext) {
			byHand(ctx, n, "ip", "link", "property", "del", "dev", "eth1", "altname", "enp7s0")
		})
		f.create(ctx, nicPolicy("by-name", "eth1", 1400))
		f.awaitAvailable(ctx, "by-name")

		f.create(ctx, nicPolicy("by-altname", "enp7s0", 1300))
		Expect(f.awaitFailing(ctx, n.Name, "by-altname")).To(ContainSubstring("interfaces[enp7s0] and interfaces[eth1] both mean eth1 of this node"))
		awaitKernel(ctx, n, marks("eth1", "1400")...)
	}, SpecTimeout(specTimeout))
})
