//go:build linux

package suite

import (
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/nmstate/kubernetes-nmstate/handler/txn"
)

var _ = Describe("A policy in mid-apply", func() {
	It("that is edited ends as its newer generation says, with nothing of the older", func(ctx SpecContext) {
		f := take(ctx, oneNode)
		n := f.node()
		log := follow(n)
		f.create(ctx, manyPolicy(25))
		log.until(ctx, string(txn.Applying))
		f.edit(ctx, manyPolicy(1))
		enactment := f.awaitEnactment(ctx, n.Name, "many", enactmentSuccess)
		Expect(enactment.Status.PolicyGeneration).To(BeEquivalentTo(2))
		awaitKernel(ctx, n, []string{`link {`, `"ifname":"many0"`})
		text, err := n.Settled(ctx)
		Expect(err).NotTo(HaveOccurred())
		Expect(hasLine(text, []string{`"ifname":"many1"`})).To(BeFalse(), text)
		Expect(profiles(n)).NotTo(HaveKey("many1.nmconnection"))
		Expect(checkpoints(ctx, n)).To(BeEmpty())
	}, SpecTimeout(specTimeout))

	It("that is deleted leaves the node as before", func(ctx SpecContext) {
		f := take(ctx, oneNode)
		n := f.node()
		log := follow(n)
		f.create(ctx, manyPolicy(25))
		log.until(ctx, string(txn.Applying))
		f.delete(ctx, "many")
		Eventually(ctx, func() bool {
			_, err := f.enactment(ctx, n.Name, "many")
			return apierrors.IsNotFound(err)
		}).Should(BeTrue())
		f.awaitAsBefore(ctx, n)
		Expect(checkpoints(ctx, n)).To(BeEmpty())
	}, SpecTimeout(specTimeout))

	It("that is deleted while the node is cut off leaves the node as before", func(ctx SpecContext) {
		f := take(ctx, oneNode)
		n := f.node()
		log := follow(n)
		f.create(ctx, cutOffPolicy())
		log.until(ctx, string(txn.Probing))
		f.delete(ctx, "cut-off")
		Eventually(ctx, func() bool {
			_, err := f.enactment(ctx, n.Name, "cut-off")
			return apierrors.IsNotFound(err)
		}).Should(BeTrue())
		f.awaitAsBefore(ctx, n)
	}, SpecTimeout(specTimeout))
})

// An administrator edits a policy and deletes it in one go, while the node is busy.
var _ = Describe("A policy that is let be undone and deleted while another one is on trial", func() {
	It("is undone", func(ctx SpecContext) {
		f := take(ctx, oneNode)
		n := f.node()
		f.create(ctx, manyPolicy(1))
		f.awaitEnactment(ctx, n.Name, "many", enactmentSuccess)
		f.awaitNothingRuns(ctx, n)
		log := follow(n)
		f.create(ctx, probedBridge("  probes: [{type: tcp, target: \"192.0.2.1:81\", timeoutSeconds: 8}]\n"))
		log.until(ctx, string(txn.Probing))
		f.edit(ctx, reverting(manyPolicy(1)))
		f.delete(ctx, "many")
		f.awaitEnactment(ctx, n.Name, "bridge", enactmentFailed)
		f.awaitGone(ctx, n, "many")
		f.delete(ctx, "bridge")
		f.awaitAsBefore(ctx, n)
	}, SpecTimeout(specTimeout))
})
