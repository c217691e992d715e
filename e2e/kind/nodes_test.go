package kind

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "github.com/nmstate/kubernetes-nmstate/api/v1"
)

func nodes() {
	It("deleted in mid-rollout is no longer waited for, and gets the policy when it comes back", func(ctx SpecContext) {
		k.create(ctx, manifest("held", onWorkers, bridge("e2e-br", "10.38.0."+last, "eth1"), oneByOne, held))
		gone := k.awaitOneHeld(ctx, "held")
		other := k.workers[(slices.Index(k.workers, gone)+1)%len(k.workers)]
		gone.mustRun(ctx, "systemctl", "stop", "kubelet") // It would register the node again at once.
		DeferCleanup(func() {
			ctx, cancel := background()
			defer cancel()
			_, _ = gone.try(ctx, "systemctl", "start", "kubelet")
			k.labelWorker(ctx, gone)
		})
		k.kubectl(ctx, "delete", "node", gone.name)
		Eventually(ctx, func(g Gomega) {
			_, err := k.enactment(ctx, gone, "held")
			g.Expect(apierrors.IsNotFound(err)).To(BeTrue(), "the enactment of a node that is gone")
			_, err = k.state(ctx, gone)
			g.Expect(apierrors.IsNotFound(err)).To(BeTrue(), "the NodeNetworkState of a node that is gone")
		}).Should(Succeed())
		k.confirm(ctx, "held")
		k.awaitEnactment(ctx, other, "held", v1.EnactmentAvailable)
		Expect(k.awaitPolicy(ctx, "held", v1.PolicyAvailable)).To(Equal("1/1 nodes successfully configured"))

		gone.mustRun(ctx, "systemctl", "start", "kubelet")
		k.awaitNode(ctx, gone)
		k.labelWorker(ctx, gone)
		k.awaitEnactment(ctx, gone, "held", v1.EnactmentAvailable)
		Expect(k.awaitPolicy(ctx, "held", v1.PolicyAvailable)).To(Equal("2/2 nodes successfully configured"))
		gone.awaitKernel(ctx, bridged("e2e-br", "10.38.0."+last, "eth1")...)
		k.awaitHandler(ctx, gone, "")
	}, SpecTimeout(specTimeout))

	It("restarted while a change waits to be proven comes back without it, and makes it again", func(ctx SpecContext) {
		w := k.workers[0]
		k.create(ctx, manifest("held", on(w), bridge("e2e-br", "10.38.1.1"), held))
		k.awaitHeld(ctx, w, "held", time.Time{})
		started := time.Now()
		k.restart(ctx, w)
		k.awaitHeld(ctx, w, "held", started) // Made again, after it was taken back.
		told.say("a node restarted in mid-transaction to its change made again", seconds(time.Since(started)))
		k.confirm(ctx, "held")
		k.awaitEnactment(ctx, w, "held", v1.EnactmentAvailable)
		w.awaitKernel(ctx, bridged("e2e-br", "10.38.1.1")...)
	}, SpecTimeout(specTimeout))

	It("restarted comes back as its policies say, and nothing is applied again", func(ctx SpecContext) {
		w := k.workers[0]
		k.become(ctx, manifest("stays", on(w), bridge("e2e-br", "10.38.2.1")), "stays", []*node{w}, bridged("e2e-br", "10.38.2.1")...)
		enactment, err := k.enactment(ctx, w, "stays")
		Expect(err).NotTo(HaveOccurred())
		k.restart(ctx, w)
		w.awaitKernel(ctx, bridged("e2e-br", "10.38.2.1")...)
		k.awaitHandler(ctx, w, "")
		k.awaitPolicy(ctx, "stays", v1.PolicyAvailable)
		Expect(w.checkpoints(ctx)).To(BeZero(), "applies since the node started")
		after, err := k.enactment(ctx, w, "stays")
		Expect(err).NotTo(HaveOccurred())
		Expect(after.Status.Committed.Since).To(Equal(enactment.Status.Committed.Since))
	}, SpecTimeout(specTimeout))
}

// restart is what a power cycle is for a kind node. The NICs for specs go with
// it, as a rack's would not, and are plugged in again.
func (c *cluster) restart(ctx context.Context, n *node) {
	GinkgoHelper()
	c.awaitHandler(ctx, n, "")
	restarts := c.restarts(ctx, n)
	out, err := exec.CommandContext(ctx, "docker", "restart", "-t", "1", n.name).CombinedOutput()
	Expect(err).NotTo(HaveOccurred(), string(out))
	plug := exec.CommandContext(ctx, filepath.Join(filepath.Dir(os.Getenv("KUBECONFIG")), "../../kind/kind.sh"), "plug")
	plug.Env = os.Environ()
	out, err = plug.CombinedOutput()
	Expect(err).NotTo(HaveOccurred(), string(out))
	c.awaitNode(ctx, n)
	Eventually(ctx, func() int { return c.restarts(ctx, n) }).Should(BeNumerically(">", restarts), "the handler of %s has begun again", n.name)
	c.awaitHandler(ctx, n, "")
}

// awaitNode waits until the node is there and Ready, as of now.
func (c *cluster) awaitNode(ctx context.Context, n *node) {
	GinkgoHelper()
	since := time.Now()
	Eventually(ctx, func(g Gomega) {
		var object corev1.Node
		g.Expect(c.Get(ctx, client.ObjectKey{Name: n.name}, &object)).To(Succeed())
		g.Expect(object.Status.Conditions).To(ContainElement(And(
			HaveField("Type", corev1.NodeReady), HaveField("Status", corev1.ConditionTrue),
			HaveField("LastHeartbeatTime.Time", BeTemporally(">=", since.Add(-2*time.Second))))), fmt.Sprintf("%s is Ready", n.name))
	}).Should(Succeed())
}
