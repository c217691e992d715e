//go:build linux

package suite

import (
	"context"
	"fmt"
	"path/filepath"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "github.com/nmstate/kubernetes-nmstate/api/v1"
	"github.com/nmstate/kubernetes-nmstate/e2e/lab"
	"github.com/nmstate/kubernetes-nmstate/handler/txn"
)

var _ = Describe("A NetworkManager", func() {
	// Its checkpoints are lost and it would keep the unproven change for ever.
	It("killed during probing does not keep an unproven change", func(ctx SpecContext) {
		f := take(ctx, oneNode)
		n := f.node()
		log := follow(n)
		f.create(ctx, cutOffPolicy())
		log.until(ctx, string(txn.Probing))
		Expect(f.CutAPI(ctx)).To(Succeed()) // nothing is tried again before it was looked at
		restartNM(ctx, n)
		started := time.Now()
		f.awaitAsBefore(ctx, n)
		AddReportEntry("back", time.Since(started).Round(100*time.Millisecond).String())
		Expect(f.ConnectAPI(ctx)).To(Succeed())
		Expect(f.awaitFailing(ctx, n.Name, "cut-off")).To(Or(ContainSubstring("NetworkManager restarted in phase Probing"), ContainSubstring("probing for")))
		f.awaitEnactment(ctx, n.Name, "cut-off", enactmentFailed)
		f.awaitAsBefore(ctx, n)
	}, SpecTimeout(specTimeout))

	It("killed during probing takes back a good change too, which is then made again", func(ctx SpecContext) {
		f := take(ctx, oneNode)
		n := f.node()
		f.heldInProbing(ctx, n)
		restartNM(ctx, n)
		f.awaitAsBefore(ctx, n)
		Expect(f.ConnectAPI(ctx)).To(Succeed())
		f.awaitEnactment(ctx, n.Name, "bridge", enactmentSuccess)
		awaitKernel(ctx, n, bridged("203.0.113.10")...)
	}, SpecTimeout(specTimeout))

	DescribeTable("killed in mid-apply leaves nothing of it behind",
		func(ctx SpecContext, wait time.Duration) {
			const bridges = 25
			f := take(ctx, oneNode)
			n := f.node()
			log := follow(n)
			f.create(ctx, manyPolicy(bridges))
			log.until(ctx, string(txn.Applying))
			time.Sleep(wait)
			Expect(f.CutAPI(ctx)).To(Succeed())
			restartNM(ctx, n)
			AddReportEntry("killed", f.where(n, log))
			f.awaitAsBefore(ctx, n)
			Expect(checkpoints(ctx, n)).To(BeEmpty())
			Expect(f.ConnectAPI(ctx)).To(Succeed())
			f.awaitEnactment(ctx, n.Name, "many", enactmentSuccess)
			awaitKernel(ctx, n, []string{`link {`, fmt.Sprintf(`"ifname":"many%d"`, bridges-1)})
		},
		Entry("early", 300*time.Millisecond, SpecTimeout(specTimeout)),
		Entry("late", 1200*time.Millisecond, SpecTimeout(specTimeout)),
	)

	It("that dies during probing and stays away is waited for, and told, and comes back without the change", func(ctx SpecContext) {
		f := take(ctx, oneNode)
		n := f.node()
		f.heldInProbing(ctx, n)
		Expect(n.NM(ctx, "kill")).To(Succeed())
		Expect(f.ConnectAPI(ctx)).To(Succeed())
		f.awaitUnavailable(ctx, n)
		Expect(filepath.Join(n.DiskPath(journalDir), "journal.json")).To(BeAnExistingFile())
		Expect(f.CutAPI(ctx)).To(Succeed())
		Expect(n.NM(ctx, "start")).To(Succeed())
		f.awaitAsBefore(ctx, n)
		Expect(f.ConnectAPI(ctx)).To(Succeed())
		f.awaitEnactment(ctx, n.Name, "bridge", enactmentSuccess)
		awaitKernel(ctx, n, bridged("203.0.113.10")...)
	}, SpecTimeout(specTimeout))

	It("stopped for good is told on the NodeNetworkState, and the policy is tried until it is back", func(ctx SpecContext) {
		f := take(ctx, oneNode)
		n := f.node()
		Expect(n.NM(ctx, "stop")).To(Succeed())
		f.awaitUnavailable(ctx, n)
		f.create(ctx, bridgePolicy("203.0.113.10"))
		Expect(f.awaitFailing(ctx, n.Name, "bridge")).To(ContainSubstring("NetworkManager is not available"))
		Expect(n.NM(ctx, "start")).To(Succeed())
		f.awaitEnactment(ctx, n.Name, "bridge", enactmentSuccess)
		awaitKernel(ctx, n, bridged("203.0.113.10")...)
		Eventually(ctx, func(g Gomega) {
			nns, err := f.nodeState(ctx, n.Name)
			g.Expect(err).NotTo(HaveOccurred())
			g.Expect(cond(nns.Status.Conditions, v1.StateAvailable)).To(Equal(metav1.ConditionTrue))
		}).Should(Succeed())
	}, SpecTimeout(specTimeout))

	It("with a checkpoint of somebody else is left alone until that is gone", func(ctx SpecContext) {
		f := take(ctx, oneNode)
		n := f.node()
		path := foreignCheckpoint(ctx, n)
		f.create(ctx, bridgePolicy("203.0.113.10"))
		waits := func(g Gomega) {
			enactment, err := f.enactment(ctx, n.Name, "bridge")
			g.Expect(err).NotTo(HaveOccurred())
			g.Expect(enactment.Status.Conditions).To(ContainElement(And(
				HaveField("Type", v1.EnactmentProgressing), HaveField("Status", metav1.ConditionTrue),
				HaveField("Message", And(ContainSubstring(path), ContainSubstring("until whoever made it ends it"))))))
			g.Expect(enactment.Status.Retry).To(BeNil(), "it is no failure of the policy")
		}
		Eventually(ctx, waits).Should(Succeed())
		restarts := unit(ctx, n, "handler").Restarts
		killHandler(ctx, n)
		awaitHandler(ctx, n, restarts+1)
		const severalTries = 12 * time.Second // A try that fails is made again after 2, 3, 5 s.
		Consistently(ctx, waits).WithTimeout(severalTries).Should(Succeed())
		Expect(checkpoints(ctx, n)).To(Equal([]string{path}))
		f.expectAsBefore(ctx, n)
		destroyCheckpoint(ctx, n, path)
		f.awaitEnactment(ctx, n.Name, "bridge", enactmentSuccess)
		awaitKernel(ctx, n, bridged("203.0.113.10")...)
	}, SpecTimeout(specTimeout))
})

// awaitUnavailable waits until the report says that NetworkManager is away.
func (f *fleet) awaitUnavailable(ctx context.Context, n *lab.Node) {
	GinkgoHelper()
	Eventually(ctx, func(g Gomega) {
		nns, err := f.nodeState(ctx, n.Name)
		g.Expect(err).NotTo(HaveOccurred())
		g.Expect(tableOf(nns.Status.Conditions)).To(HaveKeyWithValue(v1.StateAvailable, "False "+string(v1.ReasonNetworkManagerUnavailable)))
	}).Should(Succeed())
}

func restartNM(ctx context.Context, n *lab.Node) {
	GinkgoHelper()
	Expect(n.NM(ctx, "kill")).To(Succeed())
	Expect(n.NM(ctx, "start")).To(Succeed())
}

func cond(conditions []v1.Condition, kind v1.ConditionType) metav1.ConditionStatus {
	for _, c := range conditions {
		if c.Type == kind {
			return c.Status
		}
	}
	return ""
}
