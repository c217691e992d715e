//go:build linux

package suite

import (
	"context"
	"os"
	"path/filepath"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	apierrors "k8s.io/apimachinery/pkg/api/errors"

	v1 "github.com/nmstate/kubernetes-nmstate/api/v1"
)

// An etcd of three members answers as long as two of them do.
var _ = Describe("The nodes of the control plane", func() {
	const role = "node-role.kubernetes.io/control-plane"
	// granted are the nodes that may begin a policy.
	granted := func(ctx context.Context, f *fleet, policy string) []string {
		GinkgoHelper()
		var names []string
		for _, n := range f.Nodes() {
			if enactment, err := f.enactment(ctx, n.Name, policy); err == nil && enactment.Spec.ApprovedGeneration > 0 {
				names = append(names, n.Name)
			}
		}
		return names
	}

	It("change one after the other where there are three, whatever maxUnavailable says and whichever policy it is", func(ctx SpecContext) {
		f := take(ctx, threeNodes)
		for _, n := range f.Nodes() {
			f.label(ctx, n.Name, role, "true")
			DeferCleanup(func(ctx SpecContext) { f.label(ctx, n.Name, role, "") })
		}
		held := func(name, interfaces string) string {
			return `
apiVersion: nmstate.io/v1
kind: NodeNetworkConfigurationPolicy
metadata: {name: ` + name + `}
spec:
  maxUnavailable: 100%
  onDelete: Revert
  probes: [{type: confirm, timeoutSeconds: 240}]
  desiredState: {interfaces: [` + interfaces + `]}
`
		}
		f.create(ctx, held("first", "{name: eth1, type: ethernet, state: up, mtu: 1400}"))
		f.awaitEnactment(ctx, "node1", "first", enactmentProgressing)
		for _, name := range []string{"node2", "node3"} {
			f.awaitEnactment(ctx, name, "first", enactmentPending)
		}

		f.create(ctx, held("second", "{name: br9, type: linux-bridge, state: up}"))
		// On the node that is away in any case, it may begin as soon as the first is done.
		Eventually(ctx, func() []string { return granted(ctx, f, "second") }).Should(Equal([]string{"node1"}))
		Expect(granted(ctx, f, "first")).To(Equal([]string{"node1"}))
		f.confirm(ctx, "first") // For all nodes.
		Eventually(ctx, func(g Gomega) {
			policy, err := f.policy(ctx, "first")
			g.Expect(err).NotTo(HaveOccurred())
			g.Expect(policy.Status.Message).To(Equal("waiting: node2, node3 of the control plane: of its 3 nodes 1 may be away at a time, and node1 (policy second changes it) is"))
		}).Should(Succeed())

		f.confirm(ctx, "second")
		Eventually(ctx, func(g Gomega) {
			Expect(f.underWay()).To(BeNumerically("<=", 1))
			for _, name := range []string{"first", "second"} {
				policy, err := f.policy(ctx, name)
				g.Expect(err).NotTo(HaveOccurred())
				g.Expect(said(policy.Status.Conditions, v1.PolicyAvailable)).To(Equal("3/3 nodes successfully configured"))
			}
		}).Should(Succeed())

		By("undoing both")
		f.delete(ctx, "first")
		f.delete(ctx, "second")
		Eventually(ctx, func(g Gomega) {
			Expect(f.underWay()).To(BeNumerically("<=", 1))
			for _, n := range f.Nodes() {
				for _, name := range []string{"first", "second"} {
					_, err := f.enactment(ctx, n.Name, name)
					g.Expect(apierrors.IsNotFound(err)).To(BeTrue(), "%s is undone on %s", name, n.Name)
				}
			}
		}).Should(Succeed())
		for _, n := range f.Nodes() {
			awaitKernel(ctx, n, marks("eth1", "1500")...)
		}
	}, SpecTimeout(specTimeout))
})

// underWay is on how many nodes a transaction is open.
func (f *fleet) underWay() int {
	open := 0
	for _, n := range f.Nodes() {
		if _, err := os.Stat(filepath.Join(n.DiskPath(journalDir), "journal.json")); err == nil {
			open++
		}
	}
	return open
}
