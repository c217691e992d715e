//go:build linux

package suite

import (
	"bytes"
	"context"
	"encoding/json"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "github.com/nmstate/kubernetes-nmstate/api/v1"
	"github.com/nmstate/kubernetes-nmstate/e2e/cluster"
	"github.com/nmstate/kubernetes-nmstate/e2e/controlplane"
	"github.com/nmstate/kubernetes-nmstate/e2e/lab"
)

var _ = Describe("In centralized mode", func() {
	It("a policy is applied on every node, a bad one is rolled back, and the handlers look at nothing but their own state", func(ctx SpecContext) {
		f := take(ctx, threeNodes)
		f.switchTo(ctx, cluster.Centralized)
		since := time.Now()
		f.create(ctx, bridgePolicy("203.0.113.10"))
		Expect(f.awaitPolicy(ctx, "bridge", policySuccess)).To(Equal("3/3 nodes successfully configured"))
		for _, n := range f.Nodes() {
			f.awaitEnactment(ctx, n.Name, "bridge", enactmentSuccess)
			awaitKernel(ctx, n, bridged("203.0.113.10")...)
		}
		f.create(ctx, cutOffPolicy())
		Expect(f.awaitPolicy(ctx, "cut-off", policyFailed)).To(Equal("1/3 nodes failed to configure, 2 nodes aborted configuration"))
		for _, n := range f.Nodes() {
			awaitKernel(ctx, n, bridged("203.0.113.10")...)
			Expect(checkpoints(ctx, n)).To(BeEmpty())
		}
		requests := f.handlerRequests(since)
		Expect(requests).NotTo(BeEmpty())
		for _, r := range requests {
			Expect(r.Resource).To(BeElementOf("nodes", "nodenetworkstates", ""), "%+v", r)
			if r.Verb == "patch" {
				Expect(r.Subresource).To(Equal("status"), "%+v", r)
			}
		}
		GinkgoWriter.Println(controlplane.Summary(requests))
	}, SpecTimeout(specTimeout))

	DescribeTable("captures are resolved from what the node reported, and told", func(ctx SpecContext, mode string) {
		f := take(ctx, oneNode)
		n := f.node()
		f.switchTo(ctx, mode)
		f.create(ctx, `
apiVersion: nmstate.io/v1
kind: NodeNetworkConfigurationPolicy
metadata: {name: captured}
spec:
  probeTimeoutSeconds: 6
  capture:
    side: interfaces.name == "eth1"
  desiredState:
    interfaces:
    - name: "{{ capture.side.interfaces.0.name }}"
      type: ethernet
      state: up
      mtu: 1400
`)
		enactment := f.awaitEnactment(ctx, n.Name, "captured", enactmentSuccess)
		Expect(string(enactment.Status.CapturedStates["side"].State.Raw)).To(And(ContainSubstring(`"name":"eth1"`), Not(ContainSubstring("eth0"))))
		awaitKernel(ctx, n, []string{`link {`, `"ifname":"eth1"`, `"mtu":1400`})
	},
		Entry("by the handler", cluster.Distributed, SpecTimeout(specTimeout)),
		Entry("by the controllers in centralized mode", cluster.Centralized, SpecTimeout(specTimeout)),
	)

	It("a cluster comes from the other mode and goes back, and nothing is applied again", func(ctx SpecContext) {
		f := take(ctx, oneNode)
		n := f.node()
		address := "203.0.113.10"
		f.create(ctx, bridgePolicy(address))
		f.awaitEnactment(ctx, n.Name, "bridge", enactmentSuccess)
		f.awaitPolicy(ctx, "bridge", policySuccess)
		for _, mode := range []string{cluster.Centralized, cluster.Distributed, cluster.Centralized} {
			before, nns := applies(n), f.mustState(ctx, n)
			f.switchTo(ctx, mode)
			f.awaitQuiet(ctx, 5*time.Second)
			Expect(applies(n)).To(Equal(before), "applies by the switch to %s", mode)
			after := f.mustState(ctx, n)
			Expect(after.Generation).To(Equal(nns.Generation))
			Expect(after.Spec.Sources).To(Equal(nns.Spec.Sources))
			Expect(after.Status.AppliedHash).To(Equal(nns.Status.AppliedHash))
			f.awaitEnactment(ctx, n.Name, "bridge", enactmentSuccess)

			address = map[string]string{"203.0.113.10": "203.0.113.20", "203.0.113.20": "203.0.113.10"}[address]
			f.edit(ctx, bridgePolicy(address))
			f.awaitEnactment(ctx, n.Name, "bridge", enactmentSuccess)
			awaitKernel(ctx, n, bridged(address)...)
			f.awaitPolicy(ctx, "bridge", policySuccess)
			Expect(applies(n)).To(Equal(before + 1))
		}
	}, SpecTimeout(2*specTimeout))
})

var _ = Describe("A node", func() {
	DescribeTable("that is not managed is left alone, and managed again it catches up",
		func(ctx SpecContext, mode string) {
			f := take(ctx, oneNode)
			n := f.node()
			f.switchTo(ctx, mode)
			f.create(ctx, bridgePolicy("203.0.113.10"))
			f.awaitEnactment(ctx, n.Name, "bridge", enactmentSuccess)
			f.awaitPolicy(ctx, "bridge", policySuccess)
			f.setManaged(ctx, n, false)
			Eventually(ctx, func(g Gomega) {
				found, err := f.enactment(ctx, n.Name, "bridge")
				g.Expect(err).NotTo(HaveOccurred())
				g.Expect(tableOf(found.Status.Conditions)).To(Equal(enactmentSuccess))
				g.Expect(said(found.Status.Conditions, v1.EnactmentAvailable)).To(ContainSubstring("node is not managed"))
			}).Should(Succeed())

			Eventually(ctx, func() []v1.Condition { return f.mustState(ctx, n).Status.Conditions }).
				Should(ContainElement(And(HaveField("Reason", v1.ReasonNotManaged),
					HaveField("ObservedGeneration", f.mustState(ctx, n).Generation))), "that is told, once, so that kubectl wait sees that it is of now")
			before, reported := applies(n), f.mustState(ctx, n).Status
			f.edit(ctx, bridgePolicy("203.0.113.20"))
			Eventually(ctx, func(g Gomega) {
				found, err := f.enactment(ctx, n.Name, "bridge")
				g.Expect(err).NotTo(HaveOccurred())
				g.Expect(said(found.Status.Conditions, v1.EnactmentPending)).To(ContainSubstring("node is not managed"))
			}).Should(Succeed())
			_, err := n.Exec(ctx, "ip", "link", "add", "name", "by-hand", "type", "bridge")
			Expect(err).NotTo(HaveOccurred())
			f.awaitQuiet(ctx, 5*time.Second)
			Expect(applies(n)).To(Equal(before))
			Expect(f.mustState(ctx, n).Status).To(Equal(reported), "the report")
			awaitKernel(ctx, n, bridged("203.0.113.10")...)

			f.setManaged(ctx, n, true)
			f.awaitEnactment(ctx, n.Name, "bridge", enactmentSuccess)
			awaitKernel(ctx, n, bridged("203.0.113.20")...)
			Eventually(ctx, func() string {
				return string(f.mustState(ctx, n).Status.CurrentState.Raw)
			}).Should(ContainSubstring("by-hand"))
		},
		Entry("in distributed mode", cluster.Distributed, SpecTimeout(specTimeout)),
		Entry("in centralized mode", cluster.Centralized, SpecTimeout(specTimeout)),
	)

	DescribeTable("whose NodeNetworkState is deleted gets it back, and nothing is applied or undone",
		func(ctx SpecContext, mode string) {
			f := take(ctx, oneNode)
			n := f.node()
			f.switchTo(ctx, mode)
			f.create(ctx, bridgePolicy("203.0.113.10"))
			f.awaitEnactment(ctx, n.Name, "bridge", enactmentSuccess)
			f.awaitPolicy(ctx, "bridge", policySuccess)
			before, old := applies(n), f.mustState(ctx, n)
			Expect(f.Client.Delete(ctx, old)).To(Succeed())
			Eventually(ctx, func(g Gomega) {
				nns, err := f.nodeState(ctx, n.Name)
				g.Expect(err).NotTo(HaveOccurred())
				g.Expect(nns.UID).NotTo(Equal(old.UID))
				g.Expect(nns.Status.ObservedGeneration).To(Equal(nns.Generation))
				g.Expect(nns.Spec.Sources).To(Equal(old.Spec.Sources))
				g.Expect(string(nns.Spec.DesiredState.Raw)).To(MatchJSON(old.Spec.DesiredState.Raw))
				g.Expect(cluster.Has(nns.Status.Conditions, v1.StateAvailable)).To(BeTrue())
			}).Should(Succeed())
			f.awaitQuiet(ctx, 5*time.Second)
			Expect(applies(n)).To(Equal(before))
			f.awaitEnactment(ctx, n.Name, "bridge", enactmentSuccess)
			awaitKernel(ctx, n, bridged("203.0.113.10")...)
			f.edit(ctx, bridgePolicy("203.0.113.20"))
			f.awaitEnactment(ctx, n.Name, "bridge", enactmentSuccess)
			awaitKernel(ctx, n, bridged("203.0.113.20")...)
		},
		Entry("in distributed mode", cluster.Distributed, SpecTimeout(specTimeout)),
		Entry("in centralized mode", cluster.Centralized, SpecTimeout(specTimeout)),
	)

	It("is selected as a worker, as manifests of the older project do", func(ctx SpecContext) {
		f := take(ctx, oneNode)
		f.create(ctx, strings.Replace(nicPolicy("nic", "eth1", 1400), "spec:\n", "spec:\n  nodeSelector: {node-role.kubernetes.io/worker: \"\"}\n", 1))
		f.awaitEnactment(ctx, f.node().Name, "nic", enactmentSuccess)
	}, SpecTimeout(specTimeout))

	It("without policies is brought to what is written into its NodeNetworkState by hand", func(ctx SpecContext) {
		f := take(ctx, oneNode)
		n := f.node()
		f.write(ctx, n, `{"interfaces":[{"name":"hand0","type":"linux-bridge","state":"up","bridge":{"port":[]}}]}`)
		f.awaitEnforced(ctx, n)
		awaitKernel(ctx, n, []string{`link {`, `"ifname":"hand0"`})
		nns := f.mustState(ctx, n)
		Expect(nns.Status.Transaction).To(HaveField("Policy", ""))

		By("deleting the object: nothing is undone, and what was written is gone")
		before := applies(n)
		Expect(f.Client.Delete(ctx, nns)).To(Succeed())
		Eventually(ctx, func(g Gomega) {
			again, err := f.nodeState(ctx, n.Name)
			g.Expect(err).NotTo(HaveOccurred())
			g.Expect(again.UID).NotTo(Equal(nns.UID))
			g.Expect(again.Spec.DesiredState.IsZero()).To(BeTrue())
			g.Expect(string(again.Status.CurrentState.Raw)).To(ContainSubstring("hand0"))
		}).Should(Succeed())
		f.awaitQuiet(ctx, 5*time.Second)
		Expect(applies(n)).To(Equal(before))
		awaitKernel(ctx, n, []string{`link {`, `"ifname":"hand0"`})
	}, SpecTimeout(specTimeout))
})

var _ = Describe("A single pass", func() {
	DescribeTable("of the controllers and of the handler brings the node to its policies, and tells with the exit code when one fails",
		func(ctx SpecContext, mode string) {
			f := take(ctx, oneNode)
			n := f.node()
			f.switchTo(ctx, mode)
			Expect(n.Handler(ctx, "stop")).To(Succeed())
			Expect(f.StopControllers(ctx)).To(Succeed())

			f.create(ctx, bridgePolicy("203.0.113.10"))
			rolled := f.inBackground(ctx, "--mode", mode, "--once", "--once-timeout", "60s")
			// In centralized mode the handler's pass is over when the state is: it
			// does not know of policies that are yet to come.
			f.passes(ctx, n, mode, "bridge")
			Eventually(ctx, rolled).Should(Receive(Equal(pass{printed: "bridge: Available: 1/1 nodes successfully configured\n"})))
			awaitKernel(ctx, n, bridged("203.0.113.10")...)
			before := applies(n)
			code, last := once(ctx, n, "--mode", mode)
			Expect(code).To(BeZero(), last)
			Expect(applies(n)).To(Equal(before))

			f.create(ctx, cutOffPolicy())
			rolled = f.inBackground(ctx, "--mode", mode, "--once", "--once-timeout", "60s")
			f.passes(ctx, n, mode, "cut-off")
			var failed pass
			Eventually(ctx, rolled).Should(Receive(&failed))
			Expect(failed.code).To(Equal(1))
			Expect(failed.last).To(Equal("controllers: cut-off: Degraded: 1/1 nodes failed to configure"))
			Expect(failed.printed).To(ContainSubstring("bridge: Available: 1/1 nodes successfully configured\n"))
			awaitKernel(ctx, n, bridged("203.0.113.10")...)
			Expect(f.StartControllers(ctx, mode)).To(Succeed())
		},
		Entry("in distributed mode", cluster.Distributed, SpecTimeout(specTimeout)),
		Entry("in centralized mode", cluster.Centralized, SpecTimeout(specTimeout)),
	)

	It("of the handler in centralized mode enforces what is in NodeNetworkState.spec, and says so as JSON", func(ctx SpecContext) {
		f := take(ctx, oneNode)
		n := f.node()
		f.switchTo(ctx, cluster.Centralized)
		Expect(n.Handler(ctx, "stop")).To(Succeed())
		f.write(ctx, n, `{"interfaces":[{"name":"hand0","type":"linux-bridge","state":"up","bridge":{"port":[]}}]}`)
		code, printed, last := onceTold(ctx, n, "--mode", "centralized", "-o", "json")
		Expect(code).To(BeZero(), last)
		var told map[string]any
		Expect(json.Unmarshal([]byte(printed), &told)).To(Succeed())
		Expect(told).To(And(HaveKeyWithValue("node", n.Name), HaveKeyWithValue("managed", true), Not(HaveKey("error"))))
		awaitKernel(ctx, n, []string{`link {`, `"ifname":"hand0"`})

		f.write(ctx, n, `{"interfaces":[{"name":"hand0","type":"linux-bridge","state":"up","bridge":{"prot":[]}}]}`)
		code, printed, last = onceTold(ctx, n, "--mode", "centralized", "-o", "json")
		Expect(code).To(Equal(1))
		Expect(last).To(And(HavePrefix("handler: desired state of node1: "), ContainSubstring("prot")))
		Expect(json.Unmarshal([]byte(printed), &told)).To(Succeed())
		Expect(told["error"]).To(ContainSubstring("prot"))
	}, SpecTimeout(specTimeout))
})

// switchTo brings the cluster into a mode, if it is not in it.
func (f *fleet) switchTo(ctx context.Context, mode string) {
	GinkgoHelper()
	if f.centralized == (mode == cluster.Centralized) {
		return
	}
	Expect(f.SwitchMode(ctx, mode)).To(Succeed())
	f.centralized = !f.centralized
}

func (f *fleet) setManaged(ctx context.Context, n *lab.Node, managed bool) {
	GinkgoHelper()
	before := f.mustState(ctx, n)
	after := before.DeepCopy()
	after.Spec.Managed = &managed
	Expect(f.Client.Patch(ctx, after, client.MergeFrom(before))).To(Succeed())
}

// write writes a node's desired state as a person would.
func (f *fleet) write(ctx context.Context, n *lab.Node, state string) {
	GinkgoHelper()
	before := f.mustState(ctx, n)
	after := before.DeepCopy()
	after.Spec.DesiredState = v1.NewState([]byte(state))
	Expect(f.Client.Patch(ctx, after, client.MergeFrom(before))).To(Succeed())
}

func (f *fleet) awaitEnforced(ctx context.Context, n *lab.Node) {
	GinkgoHelper()
	Eventually(ctx, func(g Gomega) {
		nns := f.mustState(ctx, n)
		g.Expect(nns.Status.ObservedGeneration).To(Equal(nns.Generation))
		g.Expect(said(nns.Status.Conditions, v1.StateFailing)).To(BeEmpty())
	}).Should(Succeed())
}

// awaitQuiet waits until the product has written nothing for so long.
func (f *fleet) awaitQuiet(ctx context.Context, quiet time.Duration) {
	GinkgoHelper()
	Eventually(ctx, func() []controlplane.Request { return f.writes(time.Now().Add(-quiet)) }).Should(BeEmpty())
}

// handlerRequests are those of the nodes' handlers, watches included.
func (f *fleet) handlerRequests(since time.Time) []controlplane.Request {
	GinkgoHelper()
	all, err := controlplane.ReadRequests(f.audit, controlplane.Filter{Since: since, UserAgent: "nmstate-handler/"})
	Expect(err).NotTo(HaveOccurred())
	return slices.DeleteFunc(all, func(r controlplane.Request) bool { return r.Time.Before(since) })
}

// pass is how a single pass ended.
type pass struct {
	code          int
	printed, last string
}

// inBackground runs the controllers on the machine, with their account's
// rights.
func (f *fleet) inBackground(ctx context.Context, args ...string) <-chan pass {
	GinkgoHelper()
	kubeconfig, err := f.ControllersKubeconfig()
	Expect(err).NotTo(HaveOccurred())
	var stdout, stderr bytes.Buffer
	cmd := exec.CommandContext(ctx, filepath.Join(bin, "controllers"), append([]string{"--kubeconfig", kubeconfig}, args...)...)
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	Expect(cmd.Start()).To(Succeed())
	ended := make(chan pass, 1)
	go func() {
		defer GinkgoRecover()
		code, last := ending(cmd.Wait(), stderr.String())
		GinkgoWriter.Println(stdout.String(), stderr.String())
		if code == 0 {
			last = "" // A line of its log.
		}
		ended <- pass{code, stdout.String(), last}
	}()
	return ended
}

// passes runs passes of the handler until the node has looked at the policy:
// with the policies in its own hands one is enough.
func (f *fleet) passes(ctx context.Context, n *lab.Node, mode, policy string) {
	GinkgoHelper()
	Eventually(ctx, func(g Gomega) {
		code, last := once(ctx, n, "--mode", mode)
		if code != 0 {
			g.Expect(last).To(Or(ContainSubstring(policy), ContainSubstring("desired state of "+n.Name)))
		}
		if mode == cluster.Distributed {
			return
		}
		enactment, err := f.enactment(ctx, n.Name, policy)
		g.Expect(err).NotTo(HaveOccurred())
		rows := strings.Join([]string{said(enactment.Status.Conditions, v1.EnactmentAvailable), said(enactment.Status.Conditions, v1.EnactmentFailing)}, "")
		g.Expect(rows).NotTo(BeEmpty())
	}).Should(Succeed())
}
