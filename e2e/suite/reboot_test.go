//go:build linux

package suite

import (
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/nmstate/kubernetes-nmstate/handler/txn"
)

var _ = Describe("A node that is rebooted", func() {
	It("while it is cut off comes back as before, without the API server", func(ctx SpecContext) {
		f := take(ctx, oneNode)
		n := f.node()
		log := follow(n)
		f.create(ctx, cutOffPolicy())
		log.until(ctx, string(txn.Probing))
		Expect(f.CutAPI(ctx)).To(Succeed())
		Expect(n.Reboot(ctx)).To(Succeed())
		f.awaitReverted(ctx, n)
		Expect(f.ConnectAPI(ctx)).To(Succeed())
		f.awaitEnactment(ctx, n.Name, "cut-off", enactmentFailed)
		f.awaitReverted(ctx, n)
	}, SpecTimeout(specTimeout))

	It("in mid-apply comes back without what was half made, and the policy is applied later", func(ctx SpecContext) {
		f := take(ctx, oneNode)
		n := f.node()
		log := follow(n)
		f.create(ctx, manyPolicy(25))
		log.until(ctx, string(txn.Applying))
		time.Sleep(700 * time.Millisecond)
		Expect(f.CutAPI(ctx)).To(Succeed())
		Expect(n.Reboot(ctx)).To(Succeed())
		f.awaitReverted(ctx, n)
		Expect(f.ConnectAPI(ctx)).To(Succeed())
		f.awaitEnactment(ctx, n.Name, "many", enactmentSuccess)
		awaitKernel(ctx, n, []string{`link {`, `"ifname":"many24"`})
	}, SpecTimeout(specTimeout))

	It("keeps what its policy says, and nothing is applied again", func(ctx SpecContext) {
		f := take(ctx, oneNode)
		n := f.node()
		f.create(ctx, bridgePolicy("203.0.113.10"))
		f.awaitEnactment(ctx, n.Name, "bridge", enactmentSuccess)
		before := applies(n)
		Expect(n.Reboot(ctx)).To(Succeed())
		awaitKernel(ctx, n, bridged("203.0.113.10")...)
		f.awaitEnactment(ctx, n.Name, "bridge", enactmentSuccess)
		Consistently(ctx, func() int { return applies(n) }).WithTimeout(3 * time.Second).Should(Equal(before))
	}, SpecTimeout(specTimeout))
})
