//go:build linux

package suite

import (
	"context"
	"path/filepath"
	"time"

	"github.com/google/go-cmp/cmp"
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/nmstate/kubernetes-nmstate/e2e/lab"
	"github.com/nmstate/kubernetes-nmstate/handler/txn"
)

var _ = Describe("A node that is rebooted", func() {
	// Its handler is held until the API server can be reached again, as a kubelet
	// holds a pod that it has not read since the boot.
	It("while it is cut off comes back as before, without the API server and without a handler", func(ctx SpecContext) {
		f := take(ctx, oneNode)
		n := f.node()
		log := follow(n)
		f.create(ctx, cutOffPolicy())
		log.until(ctx, string(txn.Probing))
		Expect(f.CutAPI(ctx)).To(Succeed())
		Expect(n.Reboot(ctx)).To(Succeed())
		f.awaitForgotten(ctx, n)
		Expect(f.ConnectAPI(ctx)).To(Succeed())
		f.awaitEnactment(ctx, n.Name, "cut-off", enactmentFailed)
		f.awaitAsBefore(ctx, n)
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
		f.awaitForgotten(ctx, n)
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

// awaitForgotten waits until the node is as before by its boot alone: no handler
// runs, and the journal is as open as it was.
func (f *fleet) awaitForgotten(ctx context.Context, n *lab.Node) {
	GinkgoHelper()
	Eventually(ctx, func(g Gomega) {
		g.Expect(cmp.Diff(f.pristine[n.Name], snap(ctx, n))).To(BeEmpty())
	}).Should(Succeed())
	Expect(unit(ctx, n, "handler").State).To(Equal("held"))
	Expect(filepath.Join(n.DiskPath(journalDir), "journal.json")).To(BeAnExistingFile())
}
