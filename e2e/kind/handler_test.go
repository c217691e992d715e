package kind

import (
	"context"
	"fmt"
	"strings"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	v1 "github.com/nmstate/kubernetes-nmstate/api/v1"
)

// manyBridges take some seconds to apply.
const manyBridges = 12

func handlers() {
	tail := fmt.Sprintf("%s-many%d", prefix, manyBridges-1)

	It("whose pod is deleted in mid-apply lets its change end, and the next one has nothing to do", func(ctx SpecContext) {
		w := k.workers[0]
		old := k.awaitHandler(ctx, w, "")
		before := w.checkpoints(ctx)
		k.create(ctx, manifest("many", on(w), many(manyBridges)))
		w.inPhase(ctx, "Applying", "true")
		Expect(k.Delete(ctx, old)).To(Succeed())
		k.awaitHandler(ctx, w, string(old.UID))
		k.awaitEnactment(ctx, w, "many", v1.EnactmentAvailable)
		w.awaitKernel(ctx, bridged(tail, fmt.Sprintf("10.20.%d.1", manyBridges-1))...)
		Expect(w.openCheckpoints(ctx)).To(Equal(noCheckpoint))
		Expect(w.checkpoints(ctx)).To(Equal(before+1), "applies")
	}, SpecTimeout(specTimeout))

	It("that is killed with -9 in mid-apply leaves nothing of it, and makes it again", func(ctx SpecContext) {
		w := k.workers[1]
		uid := string(k.awaitHandler(ctx, w, "").UID)
		restarts := k.restarts(ctx, w)
		k.create(ctx, manifest("many", on(w), many(manyBridges)))
		w.inPhase(ctx, "Applying", "kill -9 $(pgrep -o -x handler)")
		Eventually(ctx, func() int { return k.restarts(ctx, w) }).Should(Equal(restarts + 1))
		Expect(string(k.awaitHandler(ctx, w, "").UID)).To(Equal(uid), "it is the same pod")
		k.awaitEnactment(ctx, w, "many", v1.EnactmentAvailable)
		w.awaitKernel(ctx, bridged(tail, fmt.Sprintf("10.20.%d.1", manyBridges-1))...)
		Expect(w.openCheckpoints(ctx)).To(Equal(noCheckpoint))
	}, SpecTimeout(specTimeout))

	It("that is killed with -9 while the node is cut off brings it back all the same", func(ctx SpecContext) {
		w := k.workers[0]
		before := w.snap(ctx)
		watch := w.watchFrom(ctx, k.control)
		k.create(ctx, manifest("cut-off", on(w), cutOff))
		w.inPhase(ctx, "Probing", "kill -9 $(pgrep -o -x handler)")
		k.awaitEnactment(ctx, w, "cut-off", v1.EnactmentFailing)
		gaps := watch.stop(ctx)
		Expect(gaps).NotTo(BeEmpty(), "the node was really away")
		told.say(fmt.Sprintf("outage where the handler is killed meanwhile (probe window %d s)", window), gaps.String())
		w.awaitSame(ctx, before)
		Expect(w.openCheckpoints(ctx)).To(Equal(noCheckpoint))
		k.awaitHandler(ctx, w, "")
	}, SpecTimeout(specTimeout))
}

// restarts of the handler's container in its pod.
func (c *cluster) restarts(ctx context.Context, n *node) int {
	GinkgoHelper()
	pod, err := c.pod(ctx, n)
	if err != nil || len(pod.Status.ContainerStatuses) == 0 {
		return 0
	}
	return int(pod.Status.ContainerStatuses[0].RestartCount)
}

func networkManager() {
	It("restarted while a change waits to be proven takes it back, and it is made again", func(ctx SpecContext) {
		w := k.workers[1]
		k.create(ctx, manifest("held", on(w), bridge("e2e-br", "10.35.0.1", "eth1"), held))
		k.awaitHeld(ctx, w, "held", time.Time{})
		w.awaitKernel(ctx, bridged("e2e-br", "10.35.0.1", "eth1")...)
		restarted := time.Now()
		w.mustRun(ctx, "systemctl", "restart", "NetworkManager")
		// It has forgotten the checkpoint: the journal's own way back remains.
		k.awaitHeld(ctx, w, "held", restarted)
		k.confirm(ctx, "held")
		k.awaitEnactment(ctx, w, "held", v1.EnactmentAvailable)
		w.awaitKernel(ctx, bridged("e2e-br", "10.35.0.1", "eth1")...)
	}, SpecTimeout(specTimeout))

	It("stopped is told in the node's state, its handler keeps running, and all goes on when it is back", func(ctx SpecContext) {
		w := k.workers[1]
		pod, restarts := k.awaitHandler(ctx, w, ""), k.restarts(ctx, w)
		w.mustRun(ctx, "systemctl", "mask", "--runtime", "--now", "NetworkManager")
		DeferCleanup(func() {
			ctx, cancel := background()
			defer cancel()
			_, _ = w.try(ctx, "sh", "-c", "systemctl unmask --runtime NetworkManager; systemctl start NetworkManager")
		})
		Eventually(ctx, func(g Gomega) {
			nns, err := k.state(ctx, w)
			g.Expect(err).NotTo(HaveOccurred())
			g.Expect(nns.Status.Conditions).To(ContainElement(And(
				HaveField("Type", v1.StateAvailable), HaveField("Reason", v1.ReasonNetworkManagerUnavailable))), all(nns.Status.Conditions))
		}).Should(Succeed())
		k.create(ctx, manifest("stopped", on(w), bridge("e2e-br", "10.35.1.1")))
		Expect(k.awaitEnactment(ctx, w, "stopped", v1.EnactmentFailing)).To(ContainSubstring("NetworkManager is not available"))
		now := k.awaitHandler(ctx, w, "")
		Expect(now.UID).To(Equal(pod.UID))
		Expect(k.restarts(ctx, w)).To(Equal(restarts))

		started := time.Now()
		w.script(ctx, "systemctl unmask --runtime NetworkManager; systemctl start NetworkManager")
		k.awaitState(ctx, w, v1.StateAvailable, "True")
		k.awaitEnactment(ctx, w, "stopped", v1.EnactmentAvailable)
		told.say("NetworkManager back to a policy that waited for it Available", seconds(time.Since(started)))
		w.awaitKernel(ctx, bridged("e2e-br", "10.35.1.1")...)
	}, SpecTimeout(specTimeout))
}

// patient gives a policy's probes two minutes: a kubelet waits longer each time
// before it starts the API server again.
func patient(manifest string) string {
	return strings.Replace(manifest, fmt.Sprintf("probeTimeoutSeconds: %d", window), "probeTimeoutSeconds: 120", 1)
}

func apiServer() {
	It("killed in mid-apply, and while a change waits to be proven, costs time and nothing else", func(ctx SpecContext) {
		holding, applying := k.workers[0], k.workers[1]
		before := map[*node]int{holding: holding.checkpoints(ctx), applying: applying.checkpoints(ctx)}
		k.create(ctx, patient(manifest("held", on(holding), bridge("e2e-br", "10.36.0.1", "eth1"), held)))
		k.awaitHeld(ctx, holding, "held", time.Time{})
		k.create(ctx, patient(manifest("many", on(applying), many(manyBridges))))
		applying.inPhase(ctx, "Applying", "true")
		old, started := k.control.apiServer(ctx), time.Now()
		k.control.mustRun(ctx, "kill", "-9", old)
		Eventually(ctx, func() string { return k.control.apiServer(ctx) }).ShouldNot(Or(BeEmpty(), Equal(old)))
		Eventually(ctx, func() error { _, err := k.tryKubectl(ctx, "get", "--raw", "/readyz"); return err }).Should(Succeed())
		told.say("the API server killed to its being ready again", seconds(time.Since(started)))
		k.confirm(ctx, "held")
		k.awaitPolicy(ctx, "held", v1.PolicyAvailable)
		k.awaitPolicy(ctx, "many", v1.PolicyAvailable)
		holding.awaitKernel(ctx, bridged("e2e-br", "10.36.0.1", "eth1")...)
		applying.awaitKernel(ctx, bridged(prefix+"-many0", "10.20.0.1")...)
		for n, applied := range before {
			Expect(n.checkpoints(ctx)).To(Equal(applied+1), "applies on %s", n.name)
		}
		for _, n := range k.all() {
			k.awaitHandler(ctx, n, "")
		}
	}, SpecTimeout(specTimeout))
}

// apiServer is the number of the API server's process on the node.
func (n *node) apiServer(ctx context.Context) string {
	out, _ := n.try(ctx, "sh", "-c", "pgrep -o -f '^kube-apiserver ' || pgrep -o -x kube-apiserver || true")
	for i, c := range out {
		if c < '0' || c > '9' {
			return out[:i]
		}
	}
	return out
}
