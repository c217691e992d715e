package kind

import (
	"context"
	"fmt"
	"slices"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"

	v1 "github.com/nmstate/kubernetes-nmstate/api/v1"
)

func modes() {
	It("are changed by applying the other overlay, there and back, and nothing is applied again", func(ctx SpecContext) {
		w := k.workers[0]
		k.become(ctx, manifest("base", onWorkers, bridge("e2e-br", "10.37.0."+last, "eth1")), "base", k.workers, bridged("e2e-br", "10.37.0."+last, "eth1")...)
		for i, mode := range []string{"centralized", "distributed"} {
			applied, was := w.checkpoints(ctx), k.mustState(ctx, w)
			started := time.Now()
			k.apply(ctx, "deploy/overlays/"+mode)
			told.say("switch to "+mode+" mode, all pods new", seconds(time.Since(started)))
			k.awaitReported(ctx)
			k.awaitArgument(ctx, mode == "centralized")
			k.awaitPolicy(ctx, "base", v1.PolicyAvailable)

			name, address := fmt.Sprintf("e2e-br%d", i), fmt.Sprintf("10.37.%d.1", i+1)
			k.become(ctx, manifest(mode, onWorkers, bridge(name, address)), mode, k.workers, bridged(name, address)...)
			Expect(w.checkpoints(ctx)).To(Equal(applied+1), "applies: one for the new policy, none for the switch")
			Expect(k.mustState(ctx, w).UID).To(Equal(was.UID))

			k.create(ctx, manifest(mode+"-cut-off", on(w), cutOff))
			Expect(k.awaitEnactment(ctx, w, mode+"-cut-off", v1.EnactmentFailing)).To(ContainSubstring("api-server"))
			k.delete(ctx, mode+"-cut-off")
			w.awaitKernel(ctx, bridged(name, address)...)
		}
	}, SpecTimeout(specTimeout))
}

func (c *cluster) mustState(ctx context.Context, n *node) *v1.NodeNetworkState {
	GinkgoHelper()
	nns, err := c.state(ctx, n)
	Expect(err).NotTo(HaveOccurred())
	return nns
}

// awaitArgument waits until all pods of ours run in the mode.
func (c *cluster) awaitArgument(ctx context.Context, centralized bool) {
	GinkgoHelper()
	Eventually(ctx, func(g Gomega) {
		for _, app := range []string{"nmstate-handler", "nmstate-controllers"} {
			pods, err := c.pods(ctx, app)
			g.Expect(err).NotTo(HaveOccurred())
			g.Expect(slices.ContainsFunc(pods, func(pod corev1.Pod) bool {
				return slices.Contains(pod.Spec.Containers[0].Args, "--mode=centralized") != centralized
			})).To(BeFalse(), "pods of %s in the other mode", app)
		}
	}).Should(Succeed())
}
