//go:build linux

package suite

import (
	"context"
	"os"
	"path/filepath"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	v1 "github.com/nmstate/kubernetes-nmstate/api/v1"
	"github.com/nmstate/kubernetes-nmstate/e2e/lab"
)

var _ = Describe("An open journal", func() {
	DescribeTable("is taken back first by a handler that can do nothing else",
		func(ctx SpecContext, args ...string) {
			f := take(ctx, oneNode)
			n := f.node()
			f.heldInProbing(ctx, n)
			Expect(n.SetHandlerArgs(args...)).To(Succeed())
			defer func() {
				Expect(n.SetHandlerArgs()).To(Succeed())
				Expect(n.Handler(ctx, "restart")).To(Succeed())
			}()
			killHandler(ctx, n)
			f.awaitReverted(ctx, n)
			Expect(f.ConnectAPI(ctx)).To(Succeed())
		},
		Entry("its port is not to be had", "--health-probe-bind-address=192.0.2.77:9680", SpecTimeout(specTimeout)),
		Entry("there is no kubeconfig", "--kubeconfig=/nowhere", SpecTimeout(specTimeout)),
		Entry("there is no program for the last resort", "--revert-helper=/nowhere", SpecTimeout(specTimeout)),
	)

	DescribeTable("that cannot be read is set aside and told, and the node is as before",
		func(ctx SpecContext, content string, lost bool) {
			f := take(ctx, oneNode)
			n := f.node()
			f.heldInProbing(ctx, n)
			killHandler(ctx, n)
			Expect(n.Handler(ctx, "stop")).To(Succeed()) // Before it is started again.
			path := filepath.Join(n.DiskPath(journalDir), "journal.json")
			Expect(os.WriteFile(path, []byte(content), 0o600)).To(Succeed())
			if lost {
				restartNM(ctx, n)
			}
			Expect(n.Handler(ctx, "start")).To(Succeed())
			f.awaitReverted(ctx, n)
			Expect(path + ".unreadable").To(BeAnExistingFile())
			Expect(f.ConnectAPI(ctx)).To(Succeed())
			f.awaitTold(ctx, n, "journal.json.unreadable")
			f.awaitEnactment(ctx, n.Name, "bridge", enactmentSuccess)
		},
		Entry("cut short, and the checkpoint lost", `{"transaction":{"phase":"Prob`, true, SpecTimeout(specTimeout)),
		Entry("a newer handler's, and the checkpoint lost", `{"version":99}`, true, SpecTimeout(specTimeout)),
	)
})

// awaitTold waits until the NodeNetworkState says it in its Available condition.
func (f *fleet) awaitTold(ctx context.Context, n *lab.Node, what string) {
	GinkgoHelper()
	Eventually(ctx, func(g Gomega) {
		nns, err := f.nodeState(ctx, n.Name)
		g.Expect(err).NotTo(HaveOccurred())
		g.Expect(nns.Status.Conditions).To(ContainElement(And(HaveField("Type", v1.StateAvailable), HaveField("Message", ContainSubstring(what)))))
	}).Should(Succeed())
}
