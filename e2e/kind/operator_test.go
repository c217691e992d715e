package kind

import (
	"os"
	"strings"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	v1 "github.com/nmstate/kubernetes-nmstate/api/v1"
)

func operator() {
	It("installs as an NMState says, updates and takes it away again, and no node is touched", func(ctx SpecContext) {
		w := k.workers[0]
		k.become(ctx, manifest("kept", on(w), bridge("e2e-kept", "10.31.1.1")), "kept", []*node{w}, bridged("e2e-kept", "10.31.1.1")...)
		applied := w.checkpoints(ctx)
		DeferCleanup(func(ctx SpecContext) {
			k.kubectl(ctx, "delete", "nmstate", "--all", "--timeout=2m")
			for _, file := range []string{"deployment", "network-policy", "rights", "rbac"} {
				k.kubectl(ctx, "delete", "--ignore-not-found", "-f", "/tmp/e2e/deploy/operator/"+file+".yaml")
			}
		}, NodeTimeout(specTimeout))

		k.bringBefore(ctx)
		k.isInstalled = false
		k.kubectl(ctx, "-n", namespace, "delete", "ds/nmstate-handler", "deploy/nmstate-controllers", "--timeout=3m")
		started := time.Now()
		k.kubectl(ctx, "apply", "-k", "/tmp/e2e/deploy/before/operator")
		k.kubectl(ctx, "apply", "-f", "/tmp/e2e/deploy/operator/nmstate.yaml")
		k.kubectl(ctx, "wait", "nmstate/nmstate", "--for=condition=Available", "--timeout=4m")
		told.say("an NMState to all pods ready", seconds(time.Since(started)))
		Expect(k.kubectl(ctx, "get", "nmstate")).To(And(ContainSubstring("Available"), ContainSubstring("SuccessfullyDeployed")))
		for _, n := range k.all() {
			k.awaitHandler(ctx, n, "")
		}
		k.awaitReported(ctx)

		was := k.look(ctx)
		k.bring(ctx)
		k.kubectl(ctx, "apply", "-k", "/tmp/e2e/deploy/operator")
		for _, image := range []string{"ds/nmstate-handler=" + os.Getenv("HANDLER_IMAGE"), "deploy/nmstate-controllers=" + os.Getenv("CONTROLLERS_IMAGE")} {
			what, image, _ := strings.Cut(image, "=")
			k.kubectl(ctx, "-n", namespace, "wait", what, "--for=jsonpath={.spec.template.spec.containers[0].image}="+image, "--timeout=2m")
		}
		k.awaitRolledOut(ctx)
		k.kubectl(ctx, "wait", "nmstate/nmstate", "--for=condition=Available", "--timeout=2m")
		k.awaitNewHandlers(ctx)
		k.sameAs(ctx, was)
		k.become(ctx, manifest("new", on(w), bridge("e2e-new", "10.31.2.1")), "new", []*node{w}, bridged("e2e-new", "10.31.2.1")...)
		Expect(w.checkpoints(ctx)).To(Equal(applied+1), "applies: one for the new policy, none for the new installation")

		k.kubectl(ctx, "delete", "nmstate/nmstate", "--timeout=1m")
		Eventually(ctx, func(g Gomega) {
			for _, app := range []string{"nmstate-handler", "nmstate-controllers"} {
				pods, err := k.pods(ctx, app)
				g.Expect(err).NotTo(HaveOccurred())
				g.Expect(pods).To(BeEmpty())
			}
			left, err := k.tryKubectl(ctx, "get", "clusterrole,clusterrolebinding,validatingadmissionpolicy,validatingadmissionpolicybinding",
				"-l", "app.kubernetes.io/managed-by=nmstate-operator", "-o", "name")
			g.Expect(err).NotTo(HaveOccurred())
			g.Expect(left).To(BeEmpty())
		}).Should(Succeed())
		w.awaitKernel(ctx, append(bridged("e2e-kept", "10.31.1.1"), bridged("e2e-new", "10.31.2.1")...)...)
		Expect(w.checkpoints(ctx)).To(Equal(applied + 1))
		_, err := k.policy(ctx, "new")
		Expect(err).NotTo(HaveOccurred(), "policies stay")
		_, err = k.enactment(ctx, w, "new")
		Expect(err).NotTo(HaveOccurred(), v1.EnactmentName(w.name, "new"))

		k.apply(ctx, "deploy")
		k.awaitReported(ctx)
		k.isInstalled = true
		Expect(w.checkpoints(ctx)).To(Equal(applied+1), "applies: none for the way back")
	}, SpecTimeout(specTimeout))
}
