package kind

import (
	"context"
	"strings"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	v1 "github.com/nmstate/kubernetes-nmstate/api/v1"
)

// owned is everything of ours that is in the cluster, whatever its kind.
const owned = "crd,clusterrole,clusterrolebinding,validatingadmissionpolicy,validatingadmissionpolicybinding,namespace"

func installed() {
	It("runs a handler on every node and two controllers, and its kinds are known", func(ctx SpecContext) {
		k.kubectl(ctx, "wait", "--for=condition=Established", "--timeout=60s",
			"crd/nodenetworkconfigurationpolicies.nmstate.io", "crd/nodenetworkconfigurationenactments.nmstate.io",
			"crd/nodenetworkstates.nmstate.io", "crd/nmstates.nmstate.io")
		labelled := strings.Fields(k.kubectl(ctx, "get", "nodes", "-l", "node-role.kubernetes.io/worker", "-o", "name"))
		for _, w := range k.workers {
			Expect(labelled).To(ContainElement("node/" + w.name))
		}
		for _, n := range k.all() {
			pod := k.awaitHandler(ctx, n, "")
			for _, container := range pod.Status.ContainerStatuses {
				Expect(container.RestartCount).To(BeZero(), "restarts of the handler on %s", n.name)
			}
		}
		Eventually(ctx, func(g Gomega) {
			pods, err := k.pods(ctx, "nmstate-controllers")
			g.Expect(err).NotTo(HaveOccurred())
			g.Expect(pods).To(HaveLen(2))
			for _, pod := range pods {
				g.Expect(ready(&pod)).To(BeTrue(), pod.Name)
				g.Expect(pod.Spec.NodeName).To(Equal(k.control.name), "root on a worker would have the controllers' token")
			}
		}).Should(Succeed())
		for _, n := range k.all() {
			Expect(n.openCheckpoints(ctx)).To(Equal(noCheckpoint))
			Expect(n.snap(ctx)).To(Equal(n.pristine), "a handler without policies changes nothing")
		}
	}, SpecTimeout(specTimeout))

	// The figures of /proc are what the kernel holds the process to, whatever
	// the manifest says.
	It("runs the handler with two capabilities, seccomp and no way to more", func(ctx SpecContext) {
		const netAdminAndRaw = "0000000000003000"
		for _, n := range k.all() {
			status := n.script(ctx, "cat /proc/$(pgrep -o -x handler)/status")
			for _, line := range []string{"CapEff:\t" + netAdminAndRaw, "CapPrm:\t" + netAdminAndRaw, "CapBnd:\t" + netAdminAndRaw, "NoNewPrivs:\t1", "Seccomp:\t2"} {
				Expect(status).To(ContainSubstring(line), n.name)
			}
			mounts := n.script(ctx, "cat /proc/$(pgrep -o -x handler)/mounts")
			root, _, _ := strings.Cut(mounts, "\n")
			Expect(root).To(MatchRegexp(` / \S+ ro,`), "the handler's root file system")
		}
		for _, n := range k.all() {
			if n.costOf(ctx, "controllers").at.IsZero() {
				continue
			}
			status := n.script(ctx, "cat /proc/$(pgrep -o -x controllers)/status")
			Expect(status).To(And(ContainSubstring("Uid:\t65532\t"), ContainSubstring("CapEff:\t0000000000000000"), ContainSubstring("Seccomp:\t2")))
		}
	}, SpecTimeout(specTimeout))
}

func uninstalled() {
	It("leaves the nodes' networks as they are, but for what is reverted, and nothing in the cluster", func(ctx SpecContext) {
		w := k.workers[0]
		k.become(ctx, manifest("kept", on(w), bridge("e2e-kept", "10.30.1.1")), "kept", []*node{w}, bridged("e2e-kept", "10.30.1.1")...)
		retained := w.snap(ctx)
		k.become(ctx, manifest("undone", on(w), bridge("e2e-undone", "10.30.2.1", "eth1"), reverting), "undone",
			[]*node{w}, bridged("e2e-undone", "10.30.2.1", "eth1")...)
		k.delete(ctx, "undone")
		k.kubectl(ctx, "wait", "nnce", v1.EnactmentName(w.name, "undone"), "--for=delete", "--timeout=3m")
		w.awaitWithout(ctx, "e2e-undone")

		started := time.Now()
		k.bring(ctx)
		k.isInstalled = false
		k.kubectl(ctx, "delete", "-k", "/tmp/e2e/deploy", "--timeout=5m")
		told.say("kubectl delete -k deploy", seconds(time.Since(started)))
		Eventually(ctx, func(g Gomega) {
			left, err := k.tryKubectl(ctx, "get", owned, "-o", "name")
			g.Expect(err).NotTo(HaveOccurred())
			g.Expect(left).NotTo(ContainSubstring("nmstate"))
		}).Should(Succeed())
		left, err := k.tryKubectl(ctx, "get", "nncp,nnce,nns")
		Expect(err).To(HaveOccurred(), left)

		for _, n := range k.all() {
			Eventually(ctx, n.handlerPID).WithArguments(context.Context(ctx)).Should(BeZero())
			Expect(n.openCheckpoints(ctx)).To(Equal(noCheckpoint))
		}
		w.awaitKernel(ctx, bridged("e2e-kept", "10.30.1.1")...)
		w.sameBut(ctx, retained, "e2e-undone", `"ifname":"eth1"`, `"dev":"eth1"`)
		for _, n := range k.all() {
			n.sweep(ctx)
		}
	}, SpecTimeout(specTimeout))

	It("and installed again finds the nodes as they are, with what is in the handlers' folders, and applies nothing", func(ctx SpecContext) {
		for _, n := range k.all() {
			nns := k.mustState(ctx, n)
			Expect(nns.Spec.Sources).To(BeEmpty())
			Expect(nns.Status.Drift).To(BeEmpty())
			_, failing := said(nns.Status.Conditions, v1.StateFailing)
			Expect(failing).To(BeFalse(), all(nns.Status.Conditions))
			Expect(n.checkpoints(ctx)).To(Equal(n.appliedBefore), "applies on %s", n.name)
		}
		w := k.workers[0]
		k.become(ctx, manifest("again", on(w), bridge("e2e-br", "10.30.3.1")), "again", []*node{w}, bridged("e2e-br", "10.30.3.1")...)
	}, SpecTimeout(specTimeout))
}
