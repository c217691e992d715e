//go:build linux

package suite

import (
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	v1 "github.com/nmstate/kubernetes-nmstate/api/v1"
)

// enactmentLeaving is of a policy that is gone and waits for its turn to be undone.
var enactmentLeaving = table{
	v1.EnactmentFailing:     "False WaitingToLeave",
	v1.EnactmentAvailable:   "False WaitingToLeave",
	v1.EnactmentProgressing: "False WaitingToLeave",
	v1.EnactmentPending:     "True WaitingToLeave",
	v1.EnactmentAborted:     "False WaitingToLeave",
}

var _ = Describe("A policy that is undone", func() {
	It("leaves as many nodes at a time as may be unavailable, and those that wait go on with other policies", func(ctx SpecContext) {
		f := take(ctx, threeNodes)
		for _, n := range f.Nodes() {
			f.label(ctx, n.Name, "undone", "here")
			DeferCleanup(func(ctx SpecContext) { f.label(ctx, n.Name, "undone", "") })
		}
		f.create(ctx, strings.Replace(reverting(nicPolicy("undone", "eth1", 1400)), "spec:\n", "spec:\n  maxUnavailable: 1\n  nodeSelector: {undone: here}\n", 1))
		for _, n := range f.Nodes() {
			f.awaitEnactment(ctx, n.Name, "undone", enactmentSuccess)
		}

		By("holding the first node in the middle of it")
		first := f.Nodes()[0]
		thaw := freezeNM(ctx, first)
		f.label(ctx, first.Name, "undone", "")
		Eventually(ctx, func(g Gomega) {
			enactment, err := f.enactment(ctx, first.Name, "undone")
			g.Expect(err).NotTo(HaveOccurred())
			g.Expect(enactment.Spec.Leave).To(BeTrue())
		}).Should(Succeed())
		f.delete(ctx, "undone")
		Eventually(ctx, func(g Gomega) {
			for i, n := range f.Nodes() {
				enactment, err := f.enactment(ctx, n.Name, "undone")
				g.Expect(err).NotTo(HaveOccurred())
				g.Expect(enactment.Spec.Leave).To(Equal(i == 0), n.Name)
				if i > 0 {
					g.Expect(tableOf(enactment.Status.Conditions)).To(Equal(enactmentLeaving))
				}
			}
		}).Should(Succeed())
		f.create(ctx, `
apiVersion: nmstate.io/v1
kind: NodeNetworkConfigurationPolicy
metadata: {name: other}
spec: {desiredState: {interfaces: [{name: br7, type: linux-bridge, state: up}]}}
`)
		for _, n := range f.Nodes()[1:] {
			awaitKernel(ctx, n, marks("br7", "1500")...)
			awaitKernel(ctx, n, marks("eth1", "1400")...)
		}

		By("letting it go on")
		thaw()
		for _, n := range f.Nodes() {
			f.awaitGone(ctx, n, "undone")
			awaitKernel(ctx, n, marks("eth1", "1500")...)
			awaitKernel(ctx, n, marks("br7", "1500")...)
		}
	}, SpecTimeout(specTimeout))
})
