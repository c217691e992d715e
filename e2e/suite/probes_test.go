//go:build linux

package suite

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "github.com/nmstate/kubernetes-nmstate/api/v1"
	"github.com/nmstate/kubernetes-nmstate/e2e/controlplane"
	"github.com/nmstate/kubernetes-nmstate/e2e/lab"
	"github.com/nmstate/kubernetes-nmstate/handler/txn"
)

// probedBridge is bridgePolicy with further lines in its spec.
func probedBridge(spec string) string {
	return strings.Replace(bridgePolicy("203.0.113.10"), "spec:\n", "spec:\n"+spec, 1)
}

// gatewayPolicy changes routes, and is proven or taken back soon.
func gatewayPolicy(name, routes string) string {
	return fmt.Sprintf(`
apiVersion: nmstate.io/v1
kind: NodeNetworkConfigurationPolicy
metadata: {name: %s}
spec:
  probeTimeoutSeconds: %d
  desiredState:
    routes:
      config:%s`, name, window, routes)
}

var _ = Describe("Probes of a policy", func() {
	It("guard it next to the default ones when they pass, and the enactment lists them", func(ctx SpecContext) {
		f := take(ctx, oneNode)
		n := f.node()
		f.create(ctx, probedBridge(`
  probes:
  - {type: ping, target: 192.0.2.1}
  - {type: ping, target: "2001:db8::1"}
  - {type: ping, target: gateway.lab.example}
  - {type: dns, target: gateway.lab.example}
  - {type: tcp, target: "192.0.2.1:7"}
  - {type: tcp, target: "gateway.lab.example:7", timeoutSeconds: 20, intervalSeconds: 1}
  - {type: http, target: "http://192.0.2.1/healthz"}
  - {type: http, target: "http://gateway.lab.example/"}
`))
		got := f.awaitEnactment(ctx, n.Name, "bridge", enactmentSuccess)
		awaitKernel(ctx, n, bridged("203.0.113.10")...)
		Expect(got.Status.GuardedBy).To(Equal([]string{
			"api-server", "default-gateway", "dns", "node-ready",
			"ping 192.0.2.1", "ping 2001:db8::1", "ping gateway.lab.example", "dns gateway.lab.example", "tcp 192.0.2.1:7",
			"tcp gateway.lab.example:7", "http http://192.0.2.1/healthz", "http http://gateway.lab.example/",
		}))
	}, SpecTimeout(specTimeout))

	DescribeTable("that do not pass take the change back, whether they passed before or not, and are named",
		func(ctx SpecContext, probe, message string) {
			f := take(ctx, oneNode)
			n := f.node()
			f.create(ctx, probedBridge("  probes: ["+probe+"]\n"))
			got := f.awaitEnactment(ctx, n.Name, "bridge", enactmentFailed)
			Expect(said(got.Status.Conditions, v1.EnactmentFailing)).To(ContainSubstring(message))
			f.awaitAsBefore(ctx, n)
		},
		Entry("a port that nobody listens at", `{type: tcp, target: "192.0.2.1:81", timeoutSeconds: 2}`,
			"probing for 2s: tcp 192.0.2.1:81: connection refused", SpecTimeout(specTimeout)),
		Entry("a host that does not answer", `{type: ping, target: 192.0.2.99, timeoutSeconds: 3}`,
			"probing for 3s: ping 192.0.2.99: ", SpecTimeout(specTimeout)),
		Entry("a name that there is not", `{type: http, target: "http://nobody.lab.example/", timeoutSeconds: 2}`,
			"http http://nobody.lab.example/: 192.0.2.1: answered NXDOMAIN", SpecTimeout(specTimeout)),
	)

	It("ask the name servers that the node has after the change, and no others", func(ctx SpecContext) {
		f := take(ctx, oneNode)
		n := f.node()
		// Nobody is at that address, and NetworkManager still lists eth0's own server.
		f.create(ctx, fmt.Sprintf(`
apiVersion: nmstate.io/v1
kind: NodeNetworkConfigurationPolicy
metadata: {name: dead-name-server}
spec:
  probeTimeoutSeconds: %d
  desiredState:
    dns-resolver: {config: {server: [192.0.2.99]}}
`, window))
		got := f.awaitEnactment(ctx, n.Name, "dead-name-server", enactmentFailed)
		Expect(said(got.Status.Conditions, v1.EnactmentFailing)).To(ContainSubstring("dns"))
		f.awaitAsBefore(ctx, n)
	}, SpecTimeout(specTimeout))

	It("are asked of each family: a dead IPv4 gateway takes the change back although the IPv6 router answers", func(ctx SpecContext) {
		f := take(ctx, oneNode)
		n := f.node()
		f.create(ctx, gatewayPolicy("dead-gateway", `
      - {state: absent, destination: 0.0.0.0/0, next-hop-interface: eth0}
      - {destination: 0.0.0.0/0, next-hop-interface: eth0, next-hop-address: 192.0.2.99}
`))
		got := f.awaitEnactment(ctx, n.Name, "dead-gateway", enactmentFailed)
		Expect(said(got.Status.Conditions, v1.EnactmentFailing)).To(MatchRegexp(`probing for \d+s: default-gateway: 192\.0\.2\.99 (did not answer a ping|cannot be pinged)`))
		f.awaitAsBefore(ctx, n)
	}, SpecTimeout(specTimeout))

	It("leave out a family whose default route the policy takes away, and the enactment says so", func(ctx SpecContext) {
		f := take(ctx, oneNode)
		n := f.node()
		f.create(ctx, gatewayPolicy("no-ipv6-gateway", `
      - {state: absent, destination: "::/0", next-hop-interface: eth0}
`))
		got := f.awaitEnactment(ctx, n.Name, "no-ipv6-gateway", enactmentSuccess)
		Expect(got.Status.GuardedBy).To(ContainElement("default-gateway"))
		Expect(got.Status.NotVerified).To(ConsistOf("default-gateway: the change takes the IPv6 default route away, so no gateway of IPv6 guards it"))
	}, SpecTimeout(specTimeout))

	It("are the only ones where the default ones are dropped", func(ctx SpecContext) {
		f := take(ctx, oneNode)
		n := f.node()
		f.create(ctx, probedBridge("  defaultProbes: Drop\n  probes: [{type: ping, target: 192.0.2.1}]\n"))
		got := f.awaitEnactment(ctx, n.Name, "bridge", enactmentSuccess)
		Expect(got.Status.GuardedBy).To(Equal([]string{"ping 192.0.2.1"}))
	}, SpecTimeout(specTimeout))

	It("with a target that is none are refused by name, and nothing is applied", func(ctx SpecContext) {
		f := take(ctx, oneNode)
		n := f.node()
		before := applies(n)
		f.create(ctx, probedBridge("  probes: [{type: tcp, target: \"192.0.2.300:80\"}]\n"))
		Expect(f.awaitFailing(ctx, n.Name, "bridge")).To(ContainSubstring(`spec.probes[0].target: "192.0.2.300:80": want an address or a host name`))
		f.expectAsBefore(ctx, n)
		Expect(applies(n)).To(Equal(before))
	}, SpecTimeout(specTimeout))
})

var _ = Describe("An interface that a policy wants up", func() {
	It("has to be activated by NetworkManager: 802.1X without a supplicant is taken back, in one line that says what to look at", func(ctx SpecContext) {
		f := take(ctx, oneNode)
		n := f.node()
		f.create(ctx, fmt.Sprintf(`
apiVersion: nmstate.io/v1
kind: NodeNetworkConfigurationPolicy
metadata: {name: secure-port}
spec:
  probeTimeoutSeconds: %d
  desiredState:
    interfaces:
    - {name: eth2, type: ethernet, state: up, 802.1x: {identity: node1, eap-methods: [pwd], password: lab}}
`, window))
		Expect(f.awaitFailing(ctx, n.Name, "secure-port")).To(MatchRegexp(
			`interfaces\[eth2\]: NetworkManager has it .*, not activated \(802\.1X: look whether wpa_supplicant runs on the node`))
		f.awaitAsBefore(ctx, n)
	}, SpecTimeout(specTimeout))

	It("and waits for a lease that nobody gives is Available, and the enactment says what was not verified", func(ctx SpecContext) {
		f := take(ctx, oneNode)
		n := f.node()
		f.create(ctx, `
apiVersion: nmstate.io/v1
kind: NodeNetworkConfigurationPolicy
metadata: {name: no-lease}
spec:
  desiredState:
    interfaces:
    - {name: eth2, type: ethernet, state: up, ipv4: {enabled: true, dhcp: true}, ipv6: {enabled: false}}
`)
		got := f.awaitEnactment(ctx, n.Name, "no-lease", enactmentSuccess)
		Expect(got.Status.NotVerified).To(ConsistOf("interfaces[eth2]: it waits for a lease or a router advertisement"))
	}, SpecTimeout(specTimeout))
})

var _ = Describe("A change that takes its time", func() {
	It("is in the node's state with what it waits for, is told when it begins to wait and when it has ended, and soon writes nothing any more", func(ctx SpecContext) {
		f := take(ctx, oneNode)
		n := f.node()
		before := f.changeEvents(ctx, n.Name)
		f.create(ctx, probedBridge("  probes: [{type: tcp, target: \"192.0.2.1:81\", timeoutSeconds: 8}]\n"))
		var running *v1.NodeNetworkState
		Eventually(ctx, func(g Gomega) {
			nns, err := f.nodeState(ctx, n.Name)
			g.Expect(err).NotTo(HaveOccurred())
			g.Expect(nns.Status.Transaction).NotTo(BeNil())
			g.Expect(nns.Status.Transaction.Phase).To(Equal(string(txn.Probing)))
			g.Expect(nns.Status.Transaction.WaitingFor).To(ContainElement("tcp 192.0.2.1:81"))
			running = nns
		}).Should(Succeed())
		Expect(running.Status.Transaction).To(And(HaveField("Policy", "bridge"), HaveField("Generation", running.Generation)))
		Expect(running.Status.Transaction.Since.IsZero()).To(BeFalse())
		Expect(running.Status.Transaction.GuardedBy).To(ContainElements("api-server", "tcp 192.0.2.1:81"))
		got := f.awaitEnactment(ctx, n.Name, "bridge", enactmentFailed)
		Expect(said(got.Status.Conditions, v1.EnactmentFailing)).To(ContainSubstring("192.0.2.1:81: connection refused"))
		f.awaitChangeEvents(ctx, n.Name, before,
			"ChangeWaiting Normal the change for policy bridge has run since .* and is in phase .*",
			"ChangeEnded Warning the change for policy bridge, begun at .*, has ended as RolledBack: probing for 8s: tcp 192.0.2.1:81: connection refused")
		ended := f.awaitNothingRuns(ctx, n)
		Expect(ended.Status.Transaction.WaitingFor).To(BeEmpty())
		told := time.Now()
		f.awaitNoNews(ctx)
		later := slices.DeleteFunc(f.writes(told), func(r controlplane.Request) bool { return r.Resource != "nodenetworkstates" })
		// The NIC that is as before has its link first, and its IPv6 address a moment later.
		Expect(len(later)).To(BeNumerically("<=", 2), "%v", later)
	}, SpecTimeout(specTimeout))

	It("is taken back in its time where the API server cannot be told of it", func(ctx SpecContext) {
		f := take(ctx, oneNode)
		n := f.node()
		f.create(ctx, cutOffPolicy())
		Eventually(ctx, func(g Gomega) {
			log, err := os.ReadFile(n.LogPath("handler"))
			g.Expect(err).NotTo(HaveOccurred())
			g.Expect(string(log)).To(ContainSubstring("the running change cannot be reported now"))
		}).Should(Succeed())
		f.awaitAsBefore(ctx, n)
		got := f.awaitEnactment(ctx, n.Name, "cut-off", enactmentFailed)
		Expect(said(got.Status.Conditions, v1.EnactmentFailing)).To(HavePrefix(fmt.Sprintf("probing for %ds: ", window)))
	}, SpecTimeout(specTimeout))
})

// changeEvents are the events about changes of a node, by their names.
func (f *fleet) changeEvents(ctx context.Context, node string) map[string]corev1.Event {
	GinkgoHelper()
	var events corev1.EventList
	Expect(f.Client.List(ctx, &events)).To(Succeed())
	found := map[string]corev1.Event{}
	for _, e := range events.Items {
		if e.InvolvedObject.Kind == "NodeNetworkState" && e.InvolvedObject.Name == node && strings.HasPrefix(e.Reason, "Change") {
			found[e.Name] = e
		}
	}
	return found
}

// awaitChangeEvents waits for exactly one event each, beside those from before:
// the API server keeps what earlier specs were told.
func (f *fleet) awaitChangeEvents(ctx context.Context, node string, before map[string]corev1.Event, want ...string) {
	GinkgoHelper()
	Eventually(ctx, func(g Gomega) {
		var got []string
		for name, e := range f.changeEvents(ctx, node) {
			if _, is := before[name]; is {
				continue
			}
			g.Expect(e.Series).To(BeNil(), "told once")
			got = append(got, e.Reason+" "+e.Type+" "+e.Message)
		}
		var matchers []any
		for _, one := range want {
			matchers = append(matchers, MatchRegexp("^"+one+"$"))
		}
		g.Expect(got).To(ConsistOf(matchers...))
	}).Should(Succeed())
}

var _ = Describe("A change that a person must confirm", func() {
	It("waits, says how to confirm it, and is committed when it is confirmed", func(ctx SpecContext) {
		f := take(ctx, oneNode)
		n := f.node()
		f.create(ctx, probedBridge("  probes: [{type: confirm}]\n"))
		asked := f.awaitAsked(ctx, n, 0)
		Expect(asked.Status.Transaction.Message).To(MatchRegexp(
			`^waiting for confirmation until \d\d:\d\d:\d\dZ: kubectl annotate --overwrite nncp bridge nmstate.io/confirm=1$`))
		awaitKernel(ctx, n, bridged("203.0.113.10")...)
		By("a confirmation of an older generation does not count")
		f.annotate(ctx, n, asked.Generation-1)
		f.expectWaiting(ctx, n)
		f.annotate(ctx, n, asked.Generation)
		got := f.awaitEnactment(ctx, n.Name, "bridge", enactmentSuccess)
		Expect(got.Status.GuardedBy).To(ContainElements("api-server", "confirm"))
		Expect(checkpoints(ctx, n)).To(BeEmpty())
		awaitKernel(ctx, n, bridged("203.0.113.10")...)
	}, SpecTimeout(specTimeout))

	It("is committed on every node where the policy's generation is confirmed", func(ctx SpecContext) {
		f := take(ctx, oneNode)
		n := f.node()
		f.create(ctx, probedBridge("  probes: [{type: confirm}]\n"))
		f.confirm(ctx, "bridge")
		f.awaitEnactment(ctx, n.Name, "bridge", enactmentSuccess)
		By("and an edit must be confirmed anew")
		before := f.awaitNothingRuns(ctx, n)
		f.edit(ctx, strings.Replace(probedBridge("  probes: [{type: confirm, timeoutSeconds: 4}]\n"), "203.0.113.10", "203.0.113.20", 1))
		f.awaitAsked(ctx, n, before.Generation)
		f.awaitEnactment(ctx, n.Name, "bridge", enactmentFailed)
		awaitKernel(ctx, n, bridged("203.0.113.10")...)
	}, SpecTimeout(specTimeout))

	It("goes back when nobody does in time", func(ctx SpecContext) {
		f := take(ctx, oneNode)
		n := f.node()
		f.create(ctx, probedBridge("  probes: [{type: confirm, timeoutSeconds: 4}]\n"))
		f.awaitAsked(ctx, n, 0)
		got := f.awaitEnactment(ctx, n.Name, "bridge", enactmentFailed)
		Expect(said(got.Status.Conditions, v1.EnactmentFailing)).To(ContainSubstring("not confirmed within 4 s"))
		f.awaitAsBefore(ctx, n)
	}, SpecTimeout(specTimeout))

	It("goes back when the handler is killed while it waits, and is asked for again", func(ctx SpecContext) {
		f := take(ctx, oneNode)
		n := f.node()
		f.create(ctx, probedBridge("  probes: [{type: confirm}]\n"))
		first := f.awaitAsked(ctx, n, 0)
		log := follow(n)
		killHandler(ctx, n)
		log.until(ctx, string(txn.RollingBack))
		asked := f.awaitAsked(ctx, n, first.Generation)
		f.annotate(ctx, n, asked.Generation)
		f.awaitEnactment(ctx, n.Name, "bridge", enactmentSuccess)
	}, SpecTimeout(specTimeout))

	It("is waited for by one pass of the handler, too", func(ctx SpecContext) {
		f := take(ctx, oneNode)
		n := f.node()
		Expect(n.Handler(ctx, "stop")).To(Succeed())
		f.create(ctx, probedBridge("  probes: [{type: confirm}]\n"))
		confirmed := make(chan struct{})
		go func() {
			defer GinkgoRecover()
			defer close(confirmed)
			f.annotate(ctx, n, f.awaitAsked(ctx, n, 0).Generation)
		}()
		code, last := once(ctx, n)
		Expect(code).To(BeZero(), last)
		<-confirmed
		f.awaitEnactment(ctx, n.Name, "bridge", enactmentSuccess)
	}, SpecTimeout(specTimeout))

	It("may have been written by hand into the NodeNetworkState", func(ctx SpecContext) {
		f := take(ctx, oneNode)
		n := f.node()
		f.writeByHand(ctx, n, `{"interfaces":[{"name":"br1","type":"linux-bridge","state":"up","bridge":{"port":[]}}]}`,
			v1.Probe{Type: v1.ProbePing, Target: "192.0.2.1"}, v1.Probe{Type: v1.ProbeConfirm})
		asked := f.awaitAsked(ctx, n, 0)
		Expect(asked.Status.Transaction.Message).To(HaveSuffix(
			fmt.Sprintf(": kubectl annotate --overwrite nns node1 nmstate.io/confirm=%d", asked.Generation)))
		f.annotate(ctx, n, asked.Generation)
		Eventually(ctx, func(g Gomega) {
			nns, err := f.nodeState(ctx, n.Name)
			g.Expect(err).NotTo(HaveOccurred())
			g.Expect(nns.Status.ObservedGeneration).To(Equal(nns.Generation))
			g.Expect(nns.Status.Transaction.Result).To(Equal(v1.TransactionCommitted))
			g.Expect(nns.Status.Transaction.GuardedBy).To(ContainElements("ping 192.0.2.1", "confirm"))
		}).Should(Succeed())
	}, SpecTimeout(specTimeout))
})

// awaitAsked waits until the node says that it waits for a person, about a
// generation after the given one.
func (f *fleet) awaitAsked(ctx context.Context, n *lab.Node, after int64) *v1.NodeNetworkState {
	GinkgoHelper()
	var asked *v1.NodeNetworkState
	Eventually(ctx, func(g Gomega) {
		nns, err := f.nodeState(ctx, n.Name)
		g.Expect(err).NotTo(HaveOccurred())
		g.Expect(nns.Status.Transaction).NotTo(BeNil())
		g.Expect(nns.Status.Transaction.Phase).To(Equal(string(txn.Probing)))
		g.Expect(nns.Status.Transaction.Generation).To(And(Equal(nns.Generation), BeNumerically(">", after)))
		g.Expect(nns.Status.Transaction.Message).To(HavePrefix("waiting for confirmation until "))
		asked = nns
	}).Should(Succeed())
	return asked
}

// awaitNothingRuns waits until the node has told the end of what it did.
func (f *fleet) awaitNothingRuns(ctx context.Context, n *lab.Node) *v1.NodeNetworkState {
	GinkgoHelper()
	var nns *v1.NodeNetworkState
	Eventually(ctx, func(g Gomega) {
		var err error
		nns, err = f.nodeState(ctx, n.Name)
		g.Expect(err).NotTo(HaveOccurred())
		g.Expect(nns.Status.ObservedGeneration).To(Equal(nns.Generation))
	}).Should(Succeed())
	return nns
}

// expectWaiting holds that the change is neither committed nor taken back.
func (f *fleet) expectWaiting(ctx context.Context, n *lab.Node) {
	GinkgoHelper()
	Consistently(ctx, func(g Gomega) {
		g.Expect(f.mustState(ctx, n).Status.Transaction.Phase).To(Equal(string(txn.Probing)))
	}).WithTimeout(2 * time.Second).Should(Succeed())
}

// annotate is `kubectl annotate --overwrite nns NODE nmstate.io/confirm=GENERATION`.
func (f *fleet) annotate(ctx context.Context, n *lab.Node, generation int64) {
	GinkgoHelper()
	patch := fmt.Appendf(nil, `{"metadata":{"annotations":{%q:"%d"}}}`, v1.ConfirmAnnotation, generation)
	Expect(f.Client.Patch(ctx, f.mustState(ctx, n), client.RawPatch("application/merge-patch+json", patch))).To(Succeed())
}

// writeByHand is what a person without policies writes.
func (f *fleet) writeByHand(ctx context.Context, n *lab.Node, desired string, probes ...v1.Probe) {
	GinkgoHelper()
	Eventually(ctx, func(g Gomega) {
		nns, err := f.nodeState(ctx, n.Name)
		g.Expect(err).NotTo(HaveOccurred())
		nns.Spec.DesiredState, nns.Spec.Probes = v1.NewState([]byte(desired)), probes
		g.Expect(f.Client.Update(ctx, nns)).To(Succeed())
	}).Should(Succeed())
}
