//go:build linux

package suite

import (
	"context"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/nmstate/kubernetes-nmstate/e2e/cluster"
	"github.com/nmstate/kubernetes-nmstate/e2e/lab"
)

// An etcd that is lost comes back from a backup: objects are as they were then, and their
// generations count on from there a second time. What the nodes have done since stays done.
// Nobody starts handlers and controllers anew: in the field, too, that is forgotten.
var _ = Describe("A cluster that is restored from a backup of etcd", func() {
	// begunAnew waits until handler and controllers have noticed it and ended, and starts the
	// controllers, as a kubelet does. The lab starts the handler.
	begunAnew := func(ctx context.Context, f *fleet, n *lab.Node, began int, mode string) {
		Eventually(ctx, func() (int, error) { return handlerStarts(ctx, n) }).Should(BeNumerically(">", began))
		Eventually(ctx, f.ControllersRun).Should(BeFalse())
		Expect(f.StartControllers(ctx, mode)).To(Succeed())
	}
	address := func(ctx context.Context, n *lab.Node) func() string {
		return func() string { return addressOf(ctx, n, "br1") }
	}

	DescribeTable("has its nodes go back to what its policies say, and follow them from there", func(ctx SpecContext, mode string) {
		f := take(ctx, oneNode)
		n := f.node()
		f.switchTo(ctx, mode)
		f.create(ctx, bridgePolicy("203.0.113.10"))
		f.awaitEnactment(ctx, n.Name, "bridge", enactmentSuccess)
		Expect(f.APIServer(ctx, "backup")).To(Succeed())
		f.edit(ctx, bridgePolicy("203.0.113.11"))
		Eventually(ctx, address(ctx, n)).Should(Equal("203.0.113.11"))
		f.awaitEnactment(ctx, n.Name, "bridge", enactmentSuccess)

		began, err := handlerStarts(ctx, n)
		Expect(err).NotTo(HaveOccurred())
		Expect(f.APIServer(ctx, "restore")).To(Succeed())
		begunAnew(ctx, f, n, began, mode)
		Eventually(ctx, address(ctx, n)).Should(Equal("203.0.113.10"))
		f.edit(ctx, bridgePolicy("203.0.113.12"))
		Eventually(ctx, address(ctx, n)).Should(Equal("203.0.113.12"))
		f.awaitEnactment(ctx, n.Name, "bridge", enactmentSuccess)
	},
		Entry("in distributed mode", cluster.Distributed, SpecTimeout(specTimeout)),
		Entry("in centralized mode", cluster.Centralized, SpecTimeout(specTimeout)),
	)

	It("does not hold a failure against a policy that has its number", func(ctx SpecContext) {
		f := take(ctx, oneNode)
		n := f.node()
		f.create(ctx, bridgePolicy("203.0.113.10"))
		f.awaitEnactment(ctx, n.Name, "bridge", enactmentSuccess)
		Expect(f.APIServer(ctx, "backup")).To(Succeed())
		f.edit(ctx, strings.Replace(cutOffPolicy(), "name: cut-off", "name: bridge", 1))
		f.awaitFailing(ctx, n.Name, "bridge")

		began, err := handlerStarts(ctx, n)
		Expect(err).NotTo(HaveOccurred())
		Expect(f.APIServer(ctx, "restore")).To(Succeed())
		f.edit(ctx, bridgePolicy("203.0.113.12"))
		begunAnew(ctx, f, n, began, cluster.Distributed)
		Eventually(ctx, address(ctx, n)).Should(Equal("203.0.113.12"))
		f.awaitEnactment(ctx, n.Name, "bridge", enactmentSuccess)
	}, SpecTimeout(specTimeout))
})

// handlerStarts is how often the node's handler was started again after it had ended by itself.
func handlerStarts(ctx context.Context, n *lab.Node) (int, error) {
	units, err := n.Units(ctx)
	for _, unit := range units {
		if unit.Name == "handler" {
			return unit.Restarts, err
		}
	}
	return 0, err
}
