package kind

import (
	"context"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/google/go-cmp/cmp"
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	v1 "github.com/nmstate/kubernetes-nmstate/api/v1"
)

// create makes the policy of a manifest.
func (c *cluster) create(ctx context.Context, manifest string) {
	GinkgoHelper()
	var policy v1.NodeNetworkConfigurationPolicy
	Expect(yaml.UnmarshalStrict([]byte(manifest), &policy)).To(Succeed())
	Expect(c.Create(ctx, &policy)).To(Succeed())
}

func (c *cluster) delete(ctx context.Context, name string) {
	GinkgoHelper()
	policy := &v1.NodeNetworkConfigurationPolicy{}
	policy.Name = name
	Expect(c.Delete(ctx, policy)).To(Succeed())
}

func (c *cluster) policy(ctx context.Context, name string) (*v1.NodeNetworkConfigurationPolicy, error) {
	var policy v1.NodeNetworkConfigurationPolicy
	err := c.Get(ctx, client.ObjectKey{Name: name}, &policy)
	return &policy, err
}

func (c *cluster) enactment(ctx context.Context, n *node, policy string) (*v1.NodeNetworkConfigurationEnactment, error) {
	var enactment v1.NodeNetworkConfigurationEnactment
	err := c.Get(ctx, client.ObjectKey{Name: v1.EnactmentName(n.name, policy)}, &enactment)
	return &enactment, err
}

func (c *cluster) state(ctx context.Context, n *node) (*v1.NodeNetworkState, error) {
	var nns v1.NodeNetworkState
	err := c.Get(ctx, client.ObjectKey{Name: n.name}, &nns)
	return &nns, err
}

// said is the message of a condition if it is True.
func said(conditions []v1.Condition, kind v1.ConditionType) (message string, is bool) {
	for _, c := range conditions {
		if c.Type == kind && c.Status == metav1.ConditionTrue {
			return c.Message, true
		}
	}
	return "", false
}

// all tells every condition, for a person.
func all(conditions []v1.Condition) string {
	var words []string
	for _, c := range conditions {
		words = append(words, fmt.Sprintf("%s=%s (%s: %s)", c.Type, c.Status, c.Reason, c.Message))
	}
	return strings.Join(words, "\n")
}

// awaitPolicy waits until the newest generation of a policy has the condition,
// and returns its message.
func (c *cluster) awaitPolicy(ctx context.Context, name string, kind v1.ConditionType) string {
	GinkgoHelper()
	message := ""
	Eventually(ctx, func(g Gomega) {
		policy, err := c.policy(ctx, name)
		g.Expect(err).NotTo(HaveOccurred())
		var is bool
		message, is = said(policy.Status.Conditions, kind)
		g.Expect(is).To(BeTrue(), "%s is not %s:\n%s", name, kind, all(policy.Status.Conditions))
		g.Expect(policy.Status.ObservedGeneration).To(Equal(policy.Generation))
	}).Should(Succeed())
	return message
}

// awaitEnactment waits until a node's enactment of the policy's newest
// generation has the condition, and returns its message.
func (c *cluster) awaitEnactment(ctx context.Context, n *node, name string, kind v1.ConditionType) string {
	GinkgoHelper()
	message := ""
	Eventually(ctx, func(g Gomega) {
		policy, err := c.policy(ctx, name)
		g.Expect(err).NotTo(HaveOccurred())
		enactment, err := c.enactment(ctx, n, name)
		g.Expect(err).NotTo(HaveOccurred())
		g.Expect(enactment.Status.PolicyGeneration).To(Equal(policy.Generation))
		var is bool
		message, is = said(enactment.Status.Conditions, kind)
		g.Expect(is).To(BeTrue(), "%s is not %s:\n%s", enactment.Name, kind, all(enactment.Status.Conditions))
	}).Should(Succeed())
	return message
}

// become creates a policy and waits until it is Available, and that its
// marks are in the kernel of the nodes.
func (c *cluster) become(ctx context.Context, manifest, name string, on []*node, marks ...[]string) time.Duration {
	GinkgoHelper()
	started := time.Now()
	c.create(ctx, manifest)
	c.awaitPolicy(ctx, name, v1.PolicyAvailable)
	took := time.Since(started)
	for _, n := range on {
		c.awaitEnactment(ctx, n, name, v1.EnactmentAvailable)
		n.awaitKernel(ctx, marks...)
	}
	return took
}

// awaitReported waits until every node is reported as it is.
func (c *cluster) awaitReported(ctx context.Context) {
	GinkgoHelper()
	for _, n := range c.all() {
		c.awaitState(ctx, n, v1.StateAvailable, metav1.ConditionTrue)
	}
}

func (c *cluster) awaitState(ctx context.Context, n *node, kind v1.ConditionType, want metav1.ConditionStatus) *v1.NodeNetworkState {
	GinkgoHelper()
	var nns *v1.NodeNetworkState
	Eventually(ctx, func(g Gomega) {
		var err error
		nns, err = c.state(ctx, n)
		g.Expect(err).NotTo(HaveOccurred())
		has := slices.ContainsFunc(nns.Status.Conditions, func(c v1.Condition) bool { return c.Type == kind && c.Status == want })
		g.Expect(has).To(BeTrue(), "%s is not %s=%s:\n%s", n.name, kind, want, all(nns.Status.Conditions))
	}).Should(Succeed())
	return nns
}

// awaitHeld waits until a change of a node that began since then waits for a
// person.
func (c *cluster) awaitHeld(ctx context.Context, n *node, policy string, since time.Time) {
	GinkgoHelper()
	Eventually(ctx, func(g Gomega) {
		nns, err := c.state(ctx, n)
		g.Expect(err).NotTo(HaveOccurred())
		g.Expect(nns.Status.Transaction).NotTo(BeNil())
		g.Expect(nns.Status.Transaction.Message).To(And(HavePrefix("waiting for confirmation"), ContainSubstring(policy)))
		g.Expect(nns.Status.Transaction.Phase).To(Equal("Probing"))
		g.Expect(nns.Status.Transaction.Since.Time).To(BeTemporally(">=", since.Truncate(time.Second)))
	}).Should(Succeed())
}

// confirm says that the policy's change works, as a person would.
func (c *cluster) confirm(ctx context.Context, name string) {
	GinkgoHelper()
	policy, err := c.policy(ctx, name)
	Expect(err).NotTo(HaveOccurred())
	c.kubectl(ctx, "annotate", "--overwrite", "nncp", name, fmt.Sprintf("%s=%d", v1.ConfirmAnnotation, policy.Generation))
}

// awaitEvents waits until the object has events with these reasons.
func (c *cluster) awaitEvents(ctx context.Context, object string, reasons ...string) {
	GinkgoHelper()
	Eventually(ctx, func(g Gomega) {
		var events corev1.EventList
		g.Expect(c.List(ctx, &events)).To(Succeed())
		var found []string
		for _, e := range events.Items {
			if e.InvolvedObject.Name == object {
				found = append(found, e.Reason)
			}
		}
		g.Expect(found).To(ContainElements(reasons))
	}).Should(Succeed())
}

// awaitHandler waits until the node's handler is a Ready pod, and not the one
// of that uid.
func (c *cluster) awaitHandler(ctx context.Context, n *node, but string) *corev1.Pod {
	GinkgoHelper()
	var found *corev1.Pod
	Eventually(ctx, func(g Gomega) {
		var err error
		found, err = c.pod(ctx, n)
		g.Expect(err).NotTo(HaveOccurred())
		g.Expect(string(found.UID)).NotTo(Equal(but))
		g.Expect(ready(found)).To(BeTrue(), "the handler on %s is Ready", n.name)
	}).Should(Succeed())
	return found
}

// awaitKernel waits until the kernel has, for each list of words, a line with
// all of them.
func (n *node) awaitKernel(ctx context.Context, marks ...[]string) {
	GinkgoHelper()
	Eventually(ctx, func(g Gomega) {
		lines, err := n.trySnap(ctx)
		g.Expect(err).NotTo(HaveOccurred())
		for _, words := range marks {
			g.Expect(slices.ContainsFunc(lines, hasAll(words))).To(BeTrue(), "no line of the kernel of %s has %q", n.name, words)
		}
	}).Should(Succeed())
}

// awaitWithout waits until no line of the kernel has all these words.
func (n *node) awaitWithout(ctx context.Context, words ...string) {
	GinkgoHelper()
	Eventually(ctx, func(g Gomega) {
		lines, err := n.trySnap(ctx)
		g.Expect(err).NotTo(HaveOccurred())
		g.Expect(slices.ContainsFunc(lines, hasAll(words))).To(BeFalse(), "the kernel of %s has %q", n.name, words)
	}).Should(Succeed())
}

// settledSnap is the node's kernel once two pictures in a row are the same.
func (n *node) settledSnap(ctx context.Context) []string {
	GinkgoHelper()
	last := n.snap(ctx)
	Eventually(ctx, func() string {
		now := n.snap(ctx)
		differs := cmp.Diff(last, now)
		last = now
		return differs
	}).Should(BeEmpty())
	return last
}

// awaitSame waits until the kernel is as it was.
func (n *node) awaitSame(ctx context.Context, was []string) {
	GinkgoHelper()
	Eventually(ctx, func(g Gomega) {
		lines, err := n.trySnap(ctx)
		g.Expect(err).NotTo(HaveOccurred())
		g.Expect(cmp.Diff(was, lines)).To(BeEmpty(), n.name)
	}).Should(Succeed())
}

func hasAll(words []string) func(string) bool {
	return func(line string) bool {
		for _, word := range words {
			if !strings.Contains(line, word) {
				return false
			}
		}
		return true
	}
}

// settled are the lines of a node without those of pods, which come and go, and
// without what NetworkManager says in its own way of an interface that it has
// taken over and let go again: who makes the addresses that the kernel would make
// too, who made routes, the metric of those that follow from addresses, and the
// kernel's route for multicast, which a NIC for specs has until its first profile.
func settled(lines []string) []string {
	pod, multicast := regexp.MustCompile(podLink), regexp.MustCompile(`"dev":"eth[12]","dst":"ff00::/8"`)
	own := regexp.MustCompile(`,("protocol":"(kernel_ll|static)"|"noprefixroute":true|"nodad":true|"inet6_addr_gen_mode":"[a-z0-9]*")`)
	derived, metric := regexp.MustCompile(`^route6? .*"protocol":"kernel"`), regexp.MustCompile(`,"metric":\d+`)
	var kept []string
	for _, line := range lines {
		if pod.MatchString(line) || multicast.MatchString(line) {
			continue
		}
		line = own.ReplaceAllString(line, "")
		if derived.MatchString(line) {
			line = metric.ReplaceAllString(line, "")
		}
		kept = append(kept, line)
	}
	slices.Sort(kept)
	return slices.Compact(kept)
}

func seconds(d time.Duration) string { return fmt.Sprintf("%.1f s", d.Seconds()) }

// sameBut waits until the kernel is as it was, but for lines with any of these
// words.
func (n *node) sameBut(ctx context.Context, was []string, words ...string) {
	GinkgoHelper()
	without := func(lines []string) []string {
		return slices.DeleteFunc(slices.Clone(lines), func(line string) bool {
			return slices.ContainsFunc(words, func(word string) bool { return strings.Contains(line, word) })
		})
	}
	Eventually(ctx, func(g Gomega) {
		lines, err := n.trySnap(ctx)
		g.Expect(err).NotTo(HaveOccurred())
		g.Expect(cmp.Diff(without(was), without(lines))).To(BeEmpty(), n.name)
	}).Should(Succeed())
}
