//go:build linux

package suite

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/nmstate/kubernetes-nmstate/e2e/lab"
	"github.com/nmstate/kubernetes-nmstate/handler/probe"
	"github.com/nmstate/kubernetes-nmstate/handler/txn"
)

var _ = Describe("A handler killed with -9", func() {
	// The way to the API server is cut right after the kill: what brings the
	// node back can only be what is on the node, and nothing is tried again
	// before it was looked at.
	DescribeTable("on the way forward leaves the node as before, and the policy is applied later",
		func(ctx SpecContext, phase txn.Phase) {
			f := take(ctx, oneNode)
			n := f.node()
			log, restarts := follow(n), unit(ctx, n, "handler").Restarts
			f.create(ctx, bridgePolicy("203.0.113.10"))
			log.until(ctx, string(phase))
			killHandler(ctx, n)
			Expect(f.CutAPI(ctx)).To(Succeed())
			AddReportEntry("killed", f.where(n, log))
			awaitHandler(ctx, n, restarts+1)
			f.awaitAsBefore(ctx, n)
			Expect(checkpoints(ctx, n)).To(BeEmpty())
			Expect(f.ConnectAPI(ctx)).To(Succeed())
			f.awaitEnactment(ctx, n.Name, "bridge", enactmentSuccess)
			awaitKernel(ctx, n, bridged("203.0.113.10")...)
			Expect(checkpoints(ctx, n)).To(BeEmpty())
		},
		Entry("in Baseline", txn.Baseline, SpecTimeout(specTimeout)),
		Entry("in Arming", txn.Arming, SpecTimeout(specTimeout)),
		Entry("in Applying", txn.Applying, SpecTimeout(specTimeout)),
		Entry("in Probing", txn.Probing, SpecTimeout(specTimeout)),
	)

	// Whether the commit was carried out is for NetworkManager to know: the
	// change is kept then, and otherwise taken back and made again.
	DescribeTable("in Committing leaves all of the change or nothing, and it is Available in the end",
		func(ctx SpecContext, frozen bool, wait time.Duration) {
			f := take(ctx, oneNode)
			n := f.node()
			f.heldInProbing(ctx, n)
			log, before := follow(n), applies(n)
			thaw := func() {}
			if frozen {
				thaw = freezeNM(ctx, n)
			}
			Expect(f.ConnectAPI(ctx)).To(Succeed())
			log.until(ctx, string(txn.Committing))
			time.Sleep(wait)
			killHandler(ctx, n)
			AddReportEntry("killed", f.where(n, log))
			thaw()
			f.awaitEnactment(ctx, n.Name, "bridge", enactmentSuccess)
			awaitKernel(ctx, n, bridged("203.0.113.10")...)
			Expect(checkpoints(ctx, n)).To(BeEmpty())
			AddReportEntry("applied again", applies(n)-before)
		},
		Entry("at once", false, 0*time.Millisecond, SpecTimeout(specTimeout)),
		Entry("a moment later", false, 12*time.Millisecond, SpecTimeout(specTimeout)),
		Entry("while NetworkManager hangs", true, 100*time.Millisecond, SpecTimeout(specTimeout)),
	)

	DescribeTable("on the way back ends as before, and the failure is told",
		func(ctx SpecContext, phase txn.Phase) {
			f := take(ctx, oneNode)
			n := f.node()
			log, restarts := follow(n), unit(ctx, n, "handler").Restarts
			f.create(ctx, cutOffPolicy())
			log.until(ctx, string(phase))
			killHandler(ctx, n)
			AddReportEntry("killed", f.where(n, log))
			awaitHandler(ctx, n, restarts+1)
			f.awaitAsBefore(ctx, n)
			f.awaitEnactment(ctx, n.Name, "cut-off", enactmentFailed)
			f.expectAsBefore(ctx, n)
			Expect(checkpoints(ctx, n)).To(BeEmpty())
		},
		Entry("in RollingBack", txn.RollingBack, SpecTimeout(specTimeout)),
		Entry("in Settling", txn.Settling, SpecTimeout(specTimeout)),
	)

	It("while the node is cut off is back before the probe window ends", func(ctx SpecContext) {
		f := take(ctx, oneNode)
		n := f.node()
		watch, err := f.Watch(ctx, n)
		Expect(err).NotTo(HaveOccurred())
		log := follow(n)
		f.create(ctx, cutOffPolicy())
		log.until(ctx, string(txn.Probing))
		killHandler(ctx, n)
		f.awaitEnactment(ctx, n.Name, "cut-off", enactmentFailed)
		f.awaitAsBefore(ctx, n)
		outage := watch.Stop()
		for _, gap := range outage.Gaps {
			AddReportEntry("outage", fmt.Sprintf("away for %.1f s, probe window %d s", gap.Length().Seconds(), window))
		}
	}, SpecTimeout(specTimeout))

	It("at any instant leaves exactly one of the two generations, never a mixture", func(ctx SpecContext) {
		f := take(ctx, oneNode)
		n := f.node()
		addresses := []string{"203.0.113.10", "203.0.113.20"}
		wanted := map[string]snapshot{}
		f.create(ctx, bridgePolicy(addresses[0]))
		for _, address := range []string{addresses[0], addresses[1], addresses[0]} {
			f.edit(ctx, bridgePolicy(address))
			f.awaitEnactment(ctx, n.Name, "bridge", enactmentSuccess)
			awaitKernel(ctx, n, bridged(address)...)
			wanted[address] = snap(ctx, n)
		}
		hit := map[string]int{}
		for i := range 12 {
			log, restarts := follow(n), unit(ctx, n, "handler").Restarts
			address := addresses[(i+1)%2]
			f.edit(ctx, bridgePolicy(address))
			time.Sleep(time.Duration(i) * 130 * time.Millisecond)
			killHandler(ctx, n)
			hit[f.where(n, log)]++
			awaitHandler(ctx, n, restarts+1)
			f.awaitEnactment(ctx, n.Name, "bridge", enactmentSuccess)
			f.await(ctx, n, wanted[address])
			Expect(checkpoints(ctx, n)).To(BeEmpty())
		}
		AddReportEntry("killed", fmt.Sprint(hit))
	}, SpecTimeout(2*specTimeout))
})

// heldInProbing brings a good policy into Probing and holds it there: the API
// server is out of reach, and it is a guard.
func (f *fleet) heldInProbing(ctx context.Context, n *lab.Node) {
	GinkgoHelper()
	log := follow(n)
	f.create(ctx, bridgePolicy("203.0.113.10"))
	log.until(ctx, string(txn.Applying))
	Expect(f.CutAPI(ctx)).To(Succeed())
	log.until(ctx, string(txn.Probing))
	awaitKernel(ctx, n, bridged("203.0.113.10")...)
	Eventually(ctx, log.Passed).WithTimeout(patience).WithPolling(10*time.Millisecond).Should(ContainElements(txn.ReadBack, txn.Foreign, probe.DefaultGateway), "the other guards")
}

// where tells in which phase the handler was killed: the last one told, and
// what the journal has.
func (f *fleet) where(n *lab.Node, log follower) string {
	GinkgoHelper()
	last := log.Last()
	raw, err := os.ReadFile(filepath.Join(n.DiskPath(journalDir), "journal.json"))
	if err != nil {
		return last + ", journal closed"
	}
	var entry struct{ Transaction struct{ Phase string } }
	Expect(json.Unmarshal(raw, &entry)).To(Succeed())
	return last + ", journal " + entry.Transaction.Phase
}
