//go:build linux

package suite

import (
	"context"
	"path/filepath"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	v1 "github.com/nmstate/kubernetes-nmstate/api/v1"
	"github.com/nmstate/kubernetes-nmstate/e2e/lab"
	"github.com/nmstate/kubernetes-nmstate/e2e/trial"
	"github.com/nmstate/kubernetes-nmstate/handler/txn"
)

// filler takes what is left of a node's disk.
const filler = "/var/lib/full"

func fillDisk(ctx context.Context, n *lab.Node) {
	GinkgoHelper()
	byHand(ctx, n, "sh", "-c", "dd if=/dev/zero of="+filler+" bs=64k 2>/dev/null; dd if=/dev/zero bs=1 count=65536 >>"+filler+" 2>/dev/null; true")
}

// What a trial needs of the disk, and when: nothing until it is proven.
var _ = Describe("A trial on a disk that takes nothing", Label("trial"), func() {
	for _, nm := range []string{lab.NM142, lab.NM152} {
		DescribeTable("is taken back, since it cannot be made permanent, NetworkManager "+nm,
			func(ctx SpecContext, takeAway, giveBack func(context.Context, *lab.Node)) {
				f := take(ctx, string(trial.Topology))
				n := f.with(nm)
				log := follow(n)
				name := f.try(ctx, n, "bridge takes the NIC", 60)
				log.until(ctx, string(txn.Probing))
				takeAway(ctx, n)
				f.confirm(ctx, name)
				log.until(ctx, string(txn.RollingBack))
				log.until(ctx, string(txn.Idle))
				f.expectPicture(ctx, n)
				giveBack(ctx, n)
				f.awaitTransaction(ctx, n, v1.TransactionRolledBack)
				f.expectPicture(ctx, n)
				Eventually(ctx, func() string { return filepath.Join(n.DiskPath(journalDir), "journal.json") }).ShouldNot(BeAnExistingFile())
			},
			Entry("full", fillDisk, func(ctx context.Context, n *lab.Node) { byHand(ctx, n, "rm", filler) }, SpecTimeout(specTimeout)),
			Entry("read-only where NetworkManager writes",
				func(ctx context.Context, n *lab.Node) { byHand(ctx, n, "mount", "-o", "remount,bind,ro", "/etc") },
				func(ctx context.Context, n *lab.Node) { byHand(ctx, n, "mount", "-o", "remount,bind,rw", "/etc") }, SpecTimeout(specTimeout)),
		)

		It("is not begun where the journal cannot be written, NetworkManager "+nm, func(ctx SpecContext) {
			f := take(ctx, string(trial.Topology))
			n := f.with(nm)
			fillDisk(ctx, n)
			before := applies(n)
			name := f.try(ctx, n, "bridge takes the NIC", 0)
			Expect(f.awaitFailing(ctx, n.Name, name)).To(ContainSubstring("no space left on device"))
			Expect(applies(n)).To(Equal(before))
			f.expectPicture(ctx, n)
			byHand(ctx, n, "rm", filler)
			f.awaitEnactment(ctx, n.Name, name, enactmentSuccess)
			f.delete(ctx, name)
		}, SpecTimeout(specTimeout))

		// The kernel stops everything, NetworkManager lets go of its devices, and
		// the checkpoint's time may be over when it goes on.
		It("ends as before when the node sleeps over its window, NetworkManager "+nm, func(ctx SpecContext) {
			f := take(ctx, string(trial.Topology))
			n := f.with(nm)
			log := follow(n)
			name := f.try(ctx, n, "bridge takes the NIC", 60)
			log.until(ctx, string(txn.Probing))
			handler := unit(ctx, n, "handler").PID
			inNode(ctx, n, nmCommand, "sleep")
			signal(ctx, n, "STOP", handler)
			time.Sleep(trial.Window) // It is what the node does; there is nothing to wait for.
			inNode(ctx, n, nmCommand, "wake")
			signal(ctx, n, "CONT", handler)
			AddReportEntry("awake", f.where(n, log))
			f.awaitTransaction(ctx, n, v1.TransactionRolledBack)
			f.expectPicture(ctx, n)
			f.delete(ctx, name)
		}, SpecTimeout(specTimeout))
	}
})
