//go:build linux

package suite

import (
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	v1 "github.com/nmstate/kubernetes-nmstate/api/v1"
	"github.com/nmstate/kubernetes-nmstate/handler/txn"
)

// What a node's update or drain does to its handler.
var _ = Describe("A handler that is asked to end", func() {
	It("in mid-transaction ends after it, and has told how it ended", func(ctx SpecContext) {
		f := take(ctx, oneNode)
		n := f.node()
		f.heldInProbing(ctx, n)
		ended := make(chan error, 1)
		go func() { ended <- n.Handler(ctx, "stop") }()
		Consistently(ended, "1s").ShouldNot(Receive())
		Expect(f.ConnectAPI(ctx)).To(Succeed())
		Eventually(ctx, ended).Should(Receive(BeNil()))
		nns := f.mustState(ctx, n)
		Expect(nns.Status.Transaction).NotTo(BeNil())
		Expect(nns.Status.Transaction.Result).To(Equal(v1.TransactionCommitted))
		awaitKernel(ctx, n, bridged("203.0.113.10")...)
		Expect(checkpoints(ctx, n)).To(BeEmpty())

		before := applies(n)
		Expect(n.Handler(ctx, "start")).To(Succeed())
		f.awaitEnactment(ctx, n.Name, "bridge", enactmentSuccess)
		Expect(applies(n)).To(Equal(before), "nothing is applied again")
	}, SpecTimeout(specTimeout))

	It("while the node is cut off ends once it is as before", func(ctx SpecContext) {
		f := take(ctx, oneNode)
		n := f.node()
		log := follow(n)
		f.create(ctx, cutOffPolicy())
		log.until(ctx, string(txn.Probing))
		Expect(n.Handler(ctx, "stop")).To(Succeed())
		f.awaitAsBefore(ctx, n)
		Expect(checkpoints(ctx, n)).To(BeEmpty())
		Expect(n.Handler(ctx, "start")).To(Succeed())
		f.awaitEnactment(ctx, n.Name, "cut-off", enactmentFailed)
	}, SpecTimeout(specTimeout))
})
