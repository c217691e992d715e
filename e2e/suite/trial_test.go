//go:build linux

package suite

import (
	"context"
	"fmt"
	"os"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	v1 "github.com/nmstate/kubernetes-nmstate/api/v1"
	"github.com/nmstate/kubernetes-nmstate/e2e/lab"
	"github.com/nmstate/kubernetes-nmstate/e2e/trial"
	"github.com/nmstate/kubernetes-nmstate/handler/txn"
)

// allOfThem has every change end in every way, on both NetworkManagers, which
// takes an hour. Otherwise each change, each phase and each ending is there once.
const allOfThem = "NMSTATE_ALL_SCENARIOS"

// ended is a trial and its end.
type ended struct{ change, ending, nm string }

// some are what a few minutes allow.
var some = []ended{
	{"dead network", "power cut in Probing", lab.NM142},
	{"dead network", "power cut in Probing", lab.NM152},
	{"static address", "power cut in Applying", lab.NM142},
	{"bridge takes the NIC", "power cut in Probing", lab.NM142},
	{"bridge takes the NIC", "power cut in Committing", lab.NM152},
	{"DHCP to static", "power cut in RollingBack", lab.NM152},
	{"bridge absent", "power cut in Committing", lab.NM142},
	{"NIC absent", "power cut in Settling", lab.NM142},
	{"veth", "power cut in Applying", lab.NM152},
	{"DNS", "power cut in Probing", lab.NM142},
	{"two profiles", "power cut in RollingBack", lab.NM142},
	{"MTU", "handler and NetworkManager killed", lab.NM152},
	{"route", "NetworkManager killed", lab.NM142},
	{"two profiles", "handler and NetworkManager killed", lab.NM152},
	{"DNS", "guard lost", lab.NM152},
	{"scripts", "power cut in Probing", lab.NM142},
	{"scripts", "power cut in Committing", lab.NM152},
	{"scripts", "handler killed", lab.NM152},
}

func chosen() []ended {
	if os.Getenv(allOfThem) == "" {
		return some
	}
	changes, err := trial.Changes()
	if err != nil {
		panic(err) // a mistake in a file that is compiled in
	}
	var all []ended
	for _, nm := range []string{lab.NM142, lab.NM152} {
		for _, change := range changes {
			for _, ending := range append(trial.PowerCuts(), trial.Others()...) {
				if !change.Bad || ending.Phase != txn.Committing {
					all = append(all, ended{change.Name, ending.Name, nm})
				}
			}
		}
	}
	return all
}

// A node with profiles that a person wrote; after a boot no API server can be
// reached, so no handler starts: what brings the node back is what is on it.
var _ = Describe("A trial that ends in the middle leaves no trace", Label("trial"), func() {
	for _, e := range chosen() {
		It(fmt.Sprintf("%s, %s, NetworkManager %s", e.change, e.ending, e.nm), func(ctx SpecContext) {
			f := take(ctx, string(trial.Topology))
			n := f.with(e.nm)
			change, err := trial.Named(e.change)
			Expect(err).NotTo(HaveOccurred())
			ending, err := trial.Find(e.ending)
			Expect(err).NotTo(HaveOccurred())
			row, err := trial.Run(ctx, f.Cluster, n, f.pictures[n.Name], change, ending)
			if err != nil {
				row.Said = err.Error() // A spec that has timed out shows no other error.
			}
			AddReportEntry("trial", fmt.Sprintf("at %s; as before after %.1f s, kept: %t; longest outage %.1f s; %s %s",
				row.At, row.Back.Seconds(), row.Kept, row.Outage.Seconds(), row.Result, row.Said))
			Expect(err).NotTo(HaveOccurred())
			expectNoTrace(row)
		}, SpecTimeout(specTimeout))
	}
})

func expectNoTrace(row trial.Row) {
	GinkgoHelper()
	Expect(row.Exact()).To(BeTrue(), "without a handler: %s\nwith it: %s", strings.Join(row.Alone, "\n"), strings.Join(row.Later, "\n"))
	Expect(row.Reached).To(BeTrue(), "the gateway answers")
	if !row.Kept {
		Expect(row.Result).To(Equal(v1.TransactionRolledBack))
	}
}

// with is the node that has that NetworkManager.
func (f *fleet) with(nm string) *lab.Node {
	GinkgoHelper()
	for _, n := range f.Nodes() {
		if n.NetworkManager() == nm {
			return n
		}
	}
	Fail("no node has NetworkManager " + nm)
	return nil
}

// administered makes the nodes those of an administrator, and takes their pictures.
func (f *fleet) administered(ctx context.Context) {
	GinkgoHelper()
	for _, n := range f.Nodes() {
		picture, err := trial.Prepare(ctx, n)
		Expect(err).NotTo(HaveOccurred())
		f.pictures[n.Name] = picture
	}
	Expect(f.AwaitReported(ctx)).To(Succeed())
}

// readministered brings back what a spec has left of that; most leave all of it.
func (f *fleet) readministered(ctx context.Context) {
	GinkgoHelper()
	for _, n := range f.Nodes() {
		now, err := n.Picture(ctx)
		if err == nil && len(f.pictures[n.Name].Differences(now)) == 0 {
			continue
		}
		Expect(trial.Restore(ctx, n, f.pictures[n.Name])).To(Succeed())
	}
}

// expectPicture waits until a node is as in its picture.
func (f *fleet) expectPicture(ctx context.Context, n *lab.Node) {
	GinkgoHelper()
	f.expectPictured(ctx, n, f.pictures[n.Name])
}

func (f *fleet) expectPictured(ctx context.Context, n *lab.Node, want lab.Picture) {
	GinkgoHelper()
	Eventually(ctx, func(g Gomega) {
		now, err := n.Picture(ctx)
		g.Expect(err).NotTo(HaveOccurred())
		g.Expect(lab.Severe(want.Differences(now))).To(BeEmpty())
	}).WithTimeout(patience / 3).Should(Succeed())
}
