package kind

import (
	"fmt"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	apierrors "k8s.io/apimachinery/pkg/api/errors"

	v1 "github.com/nmstate/kubernetes-nmstate/api/v1"
)

func policies() {
	It("follow the labels of nodes", func(ctx SpecContext) {
		first, second := k.workers[0], k.workers[1]
		k.create(ctx, manifest("chosen", onChosen, bridge("e2e-br", "10.32.0.1"), reverting))
		Expect(k.awaitPolicy(ctx, "chosen", v1.PolicyIgnored)).To(Equal("Policy does not match any node"))

		k.label(ctx, first, chosenLabel, "yes")
		k.awaitEnactment(ctx, first, "chosen", v1.EnactmentAvailable)
		Expect(k.awaitPolicy(ctx, "chosen", v1.PolicyAvailable)).To(Equal("1/1 nodes successfully configured"))
		first.awaitKernel(ctx, bridged("e2e-br", "10.32.0.1")...)
		second.awaitWithout(ctx, "e2e-br")

		k.label(ctx, second, chosenLabel, "yes")
		k.unlabel(ctx, first, chosenLabel)
		k.awaitEnactment(ctx, second, "chosen", v1.EnactmentAvailable)
		second.awaitKernel(ctx, bridged("e2e-br", "10.32.0.1")...)
		Eventually(ctx, func(g Gomega) {
			_, err := k.enactment(ctx, first, "chosen")
			g.Expect(apierrors.IsNotFound(err)).To(BeTrue(), "the enactment of a node that no longer matches")
		}).Should(Succeed())
		first.awaitWithout(ctx, "e2e-br") // onDelete: Revert

		k.unlabel(ctx, second, chosenLabel)
		k.awaitPolicy(ctx, "chosen", v1.PolicyIgnored)
		second.awaitWithout(ctx, "e2e-br")
	}, SpecTimeout(specTimeout))

	It("are applied side by side, and one that contradicts another is left out by name", func(ctx SpecContext) {
		for i := range 4 {
			k.create(ctx, manifest(fmt.Sprintf("several%d", i), onWorkers, bridge(fmt.Sprintf("e2e-br%d", i), fmt.Sprintf("10.32.%d.1", i))))
		}
		k.create(ctx, manifest("mtu-first", onWorkers, nic("eth1", 1400, "10.32.10."+last), "priority: 10"))
		k.create(ctx, manifest("mtu-second", onWorkers, nic("eth1", 1300, "10.32.10."+last)))
		for i := range 4 {
			k.awaitPolicy(ctx, fmt.Sprintf("several%d", i), v1.PolicyAvailable)
			for _, w := range k.workers {
				w.awaitKernel(ctx, bridged(fmt.Sprintf("e2e-br%d", i), fmt.Sprintf("10.32.%d.1", i))...)
			}
		}
		k.awaitPolicy(ctx, "mtu-first", v1.PolicyAvailable)
		k.awaitPolicy(ctx, "mtu-second", v1.PolicyDegraded)
		for _, w := range k.workers {
			w.awaitKernel(ctx, sized("eth1", 1400, "10.32.10."+last)...)
		}
		Eventually(ctx, func(g Gomega) {
			var messages string
			for _, w := range k.workers {
				enactment, err := k.enactment(ctx, w, "mtu-second")
				g.Expect(err).NotTo(HaveOccurred())
				message, _ := said(enactment.Status.Conditions, v1.EnactmentFailing)
				messages += message
			}
			g.Expect(messages).To(And(ContainSubstring("mtu-first"), ContainSubstring("1300"), ContainSubstring("1400")))
		}).Should(Succeed())
	}, SpecTimeout(specTimeout))

	It("that are misspelt are refused by name, and nothing is changed", func(ctx SpecContext) {
		w := k.workers[0]
		before := w.checkpoints(ctx)
		k.create(ctx, manifest("misspelt", on(w), "interfaces: [{name: e2e-br, type: linux-bridge, state: up, bridge: {prot: []}}]"))
		Expect(k.awaitEnactment(ctx, w, "misspelt", v1.EnactmentFailing)).To(And(ContainSubstring("prot"), Not(ContainSubstring("\n"))))
		k.awaitEvents(ctx, "misspelt", "ReconcileFailed")
		Expect(w.checkpoints(ctx)).To(Equal(before))
	}, SpecTimeout(specTimeout))
}
