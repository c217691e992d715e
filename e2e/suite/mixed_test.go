//go:build linux

package suite

import (
	"bytes"
	"context"
	"path/filepath"
	"strings"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	v1 "github.com/nmstate/kubernetes-nmstate/api/v1"
	"github.com/nmstate/kubernetes-nmstate/e2e/lab"
	"github.com/nmstate/kubernetes-nmstate/e2e/trial"
	"github.com/nmstate/kubernetes-nmstate/handler/txn"
)

const otherProfile = "/etc/NetworkManager/system-connections/eth3-b.nmconnection"

// The issue's own story, and what else may happen at the same time as a trial.
var _ = Describe("A trial in which more than one thing happens", Label("trial"), func() {
	for _, nm := range []string{lab.NM142, lab.NM152} {
		It("on a node that lost its network, its power and its API server comes back without a handler, and ends as RolledBack, NetworkManager "+nm, func(ctx SpecContext) {
			f := take(ctx, string(trial.Topology))
			n := f.with(nm)
			log := follow(n)
			name := f.try(ctx, n, "dead network", 0)
			log.until(ctx, string(txn.Probing))
			Expect(n.Power(ctx, "off")).To(Succeed())
			Expect(f.CutAPI(ctx)).To(Succeed())
			on := time.Now()
			Expect(n.Power(ctx, "on")).To(Succeed())
			f.expectPicture(ctx, n)
			AddReportEntry("boot to the network as before", time.Since(on).Round(100*time.Millisecond).String())
			Expect(unit(ctx, n, "handler").State).To(Equal("held"))
			Expect(filepath.Join(n.DiskPath(journalDir), "journal.json")).To(BeAnExistingFile())
			byHand(ctx, n, "ping", "-c", "1", "-W", "3", n.Gateway())
			Expect(f.ConnectAPI(ctx)).To(Succeed())
			// It is tried once more, since the trial was interrupted.
			f.awaitEnactment(ctx, n.Name, name, enactmentFailed)
			f.awaitTransaction(ctx, n, v1.TransactionRolledBack)
			f.expectPicture(ctx, n)
			Expect(filepath.Join(n.DiskPath(journalDir), "journal.json")).NotTo(BeAnExistingFile())
		}, SpecTimeout(specTimeout))

		It("keeps what an administrator edits and reloads meanwhile, NetworkManager "+nm, func(ctx SpecContext) {
			f := take(ctx, string(trial.Topology))
			n := f.with(nm)
			log := follow(n)
			f.try(ctx, n, "static address", 4)
			log.until(ctx, string(txn.Probing))
			want := f.pictures[n.Name]
			edited := strings.ReplaceAll(want.Disk[otherProfile], "rack7", "rack8") + "# moved\n"
			Expect(n.Run(ctx, lab.Command{Args: []string{"sh", "-c", "cat >" + otherProfile}, Stdin: bytes.NewReader([]byte(edited))})).To(Succeed())
			byHand(ctx, n, "nmcli", "connection", "reload")
			f.awaitTransaction(ctx, n, v1.TransactionRolledBack)
			want.Disk = copyOf(want.Disk)
			want.Disk[otherProfile] = edited
			f.expectPictured(ctx, n, want)
		}, SpecTimeout(specTimeout))

		It("goes on while a second handler waits, NetworkManager "+nm, func(ctx SpecContext) {
			f := take(ctx, string(trial.Topology))
			n := f.with(nm)
			log := follow(n)
			name := f.try(ctx, n, "veth", 60)
			log.until(ctx, string(txn.Probing))
			second, cancel := context.WithCancel(ctx)
			defer cancel()
			var said bytes.Buffer
			ended := make(chan error, 1)
			go func() {
				ended <- n.Run(second, lab.Command{
					Args:   []string{filepath.Join(bin, "handler"), "--revert-helper", filepath.Join(bin, "nmstate-revert")},
					Stdout: &said, Stderr: &said,
				})
			}()
			Consistently(ctx, func() int { return len(checkpoints(ctx, n)) }).WithTimeout(4*time.Second).Should(Equal(1), "the first one's trial goes on")
			f.confirm(ctx, name)
			f.awaitEnactment(ctx, n.Name, name, enactmentSuccess)
			cancel()
			Eventually(ctx, ended).Should(Receive())
			AddReportEntry("the second", said.String())
			f.delete(ctx, name)
		}, SpecTimeout(specTimeout))

		It("ends before its handler does when the DaemonSet is deleted, NetworkManager "+nm, func(ctx SpecContext) {
			f := take(ctx, string(trial.Topology))
			n := f.with(nm)
			log := follow(n)
			f.try(ctx, n, "bridge takes the NIC", 0)
			log.until(ctx, string(txn.Applying))
			Expect(f.CutAPI(ctx)).To(Succeed())
			log.until(ctx, string(txn.Probing))
			Expect(n.Handler(ctx, "stop")).To(Succeed())
			f.expectPicture(ctx, n)
			Expect(checkpoints(ctx, n)).To(BeEmpty())
			Expect(filepath.Join(n.DiskPath(journalDir), "journal.json")).NotTo(BeAnExistingFile())
		}, SpecTimeout(specTimeout))

		It("waits for a NetworkManager that died with the handler and stays away, NetworkManager "+nm, func(ctx SpecContext) {
			f := take(ctx, string(trial.Topology))
			n := f.with(nm)
			log, restarts := follow(n), unit(ctx, n, "handler").Restarts
			f.try(ctx, n, "bridge takes the NIC", 60)
			log.until(ctx, string(txn.Probing))
			Expect(f.CutAPI(ctx)).To(Succeed())
			Expect(n.NM(ctx, "kill")).To(Succeed())
			killHandler(ctx, n)
			awaitHandler(ctx, n, restarts+1)
			Consistently(ctx, func(g Gomega) {
				g.Expect(filepath.Join(n.DiskPath(journalDir), "journal.json")).To(BeAnExistingFile())
				g.Expect(unit(ctx, n, "handler").State).To(Equal("running"))
			}).WithTimeout(5 * time.Second).Should(Succeed())
			Expect(n.NM(ctx, "start")).To(Succeed())
			f.expectPicture(ctx, n)
		}, SpecTimeout(specTimeout))
	}
})

// try makes a change of package trial on one node, for which a person has that
// many seconds; zero: nobody is asked. It returns the policy's name.
func (f *fleet) try(ctx context.Context, n *lab.Node, change string, person int32) string {
	GinkgoHelper()
	c, err := trial.Named(change)
	Expect(err).NotTo(HaveOccurred())
	policy := c.Policy(n, person)
	Expect(f.Client.Create(ctx, policy)).To(Succeed())
	return policy.Name
}

func (f *fleet) awaitTransaction(ctx context.Context, n *lab.Node, want v1.TransactionResult) {
	GinkgoHelper()
	Eventually(ctx, func(g Gomega) {
		nns, err := f.nodeState(ctx, n.Name)
		g.Expect(err).NotTo(HaveOccurred())
		g.Expect(nns.Status.Transaction).NotTo(BeNil())
		g.Expect(nns.Status.Transaction.Phase).To(Equal(string(txn.Idle)))
		g.Expect(nns.Status.Transaction.Result).To(Equal(want), nns.Status.Transaction.Message)
	}).Should(Succeed())
}

func copyOf(files map[string]string) map[string]string {
	all := map[string]string{}
	for at, text := range files {
		all[at] = text
	}
	return all
}
