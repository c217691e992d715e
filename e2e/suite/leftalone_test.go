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
