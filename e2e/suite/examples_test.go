//go:build linux

package suite

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	v1 "github.com/nmstate/kubernetes-nmstate/api/v1"
	"github.com/nmstate/kubernetes-nmstate/docs"
)

// Every example of the documentation is applied as a person would, on the lab
// that the documentation starts, and must come to what its first line says.
var _ = Describe("The documentation's example", func() {
	all, err := docs.Examples(os.DirFS("../../docs/examples"))
	if err != nil {
		It("is read", func() { Expect(err).NotTo(HaveOccurred()) })
		return
	}
	for _, example := range all {
		It(example.Name+" comes to what it says", func(ctx SpecContext) { tryExample(ctx, example) }, SpecTimeout(specTimeout))
	}
})

// exampleMarks are what the kernel of node1 has, and had not, when an example
// is Available. None are for what the kernel does not know.
var exampleMarks = map[string][][]string{
	"102-bridge":             {{`link {`, `"ifname":"br1"`, `"info_kind":"bridge"`}, {`"ifname":"eth1"`, `"master":"br1"`}, {`address {`, `"ifname":"br1"`, `"local":"198.51.100.`}},
	"102-route":              {{`address {`, `"ifname":"eth2"`, `"local":"198.18.2.11"`}, {`route {`, `"dst":"203.0.113.0/24"`, `"gateway":"198.18.2.1"`}},
	"103-absent":             nil, // There is none on a new lab.
	"103-capture":            nil, // NetworkManager keeps descriptions.
	"103-dhcp":               {{`address {`, `"ifname":"eth1"`, `"local":"198.51.100.1`}},
	"103-dns":                nil, // The name servers stand in a file.
	"103-down":               nil,
	"103-ethernet":           {{`link {`, `"ifname":"eth1"`, `"mtu":1400`}, {`address {`, `"ifname":"eth1"`, `"local":"198.51.100.11"`}, {`"ifname":"eth1"`, `"local":"2001:db8:1::11"`}},
	"103-hostname":           nil,
	"103-linux-bridge":       {{`link {`, `"ifname":"br1"`, `"info_kind":"bridge"`}, {`"ifname":"eth1"`, `"master":"br1"`}, {`"ifname":"eth2"`, `"master":"br1"`}},
	"103-loopback":           {{`address {`, `"ifname":"lo"`, `"local":"192.0.2.201"`}},
	"103-mac-vlan":           {{`link {`, `"ifname":"macvlan0"`, `"info_kind":"macvlan"`}},
	"103-mac-vtap":           {{`link {`, `"ifname":"macvtap0"`, `"info_kind":"macvtap"`}},
	"103-route-absent":       nil,
	"103-routes":             {{`route {`, `"dst":"203.0.113.0/24"`, `"gateway":"198.51.100.1"`, `"metric":150`}, {`rule {`, `"src":"198.51.100.11"`, `"table":"200"`}},
	"103-veth":               {{`link {`, `"ifname":"veth0"`}, {`link {`, `"ifname":"veth1"`}},
	"103-vxlan":              {{`link {`, `"ifname":"vxlan7"`, `"info_kind":"vxlan"`}},
	"104-affinity":           mtuOfEth1(1400),
	"104-lldp":               nil,
	"104-match":              {{`link {`, `"ifname":"eth1"`, `"mtu":1400`}, {`link {`, `"ifname":"eth2"`, `"mtu":1400`}},
	"104-match-lldp":         mtuOfEth1(1400),
	"104-match-name":         {{`"ifname":"eth1"`, `"master":"br-eth1"`}, {`"ifname":"eth2"`, `"master":"br-eth2"`}},
	"104-node-selector":      mtuOfEth1(1400),
	"104-tolerations":        mtuOfEth1(1400),
	"104-variables":          {{`link {`, `"ifname":"eth1"`, `"mtu":1400`}, {`address {`, `"ifname":"eth1"`, `"local":"198.51.100.11"`}},
	"105-confirm":            mtuOfEth1(1400),
	"105-own-probes":         nil,
	"105-probes":             mtuOfEth1(1400),
	"drift-report":           mtuOfEth1(1400),
	"plan-first":             {{`"ifname":"eth1"`, `"master":"br1"`}},
	"rollouts-canary":        mtuOfEth1(1400),
	"rollouts-soak":          mtuOfEth1(1400),
	"several-merged":         {{`link {`, `"ifname":"eth1"`, `"mtu":1400`}, {`address {`, `"ifname":"eth1"`, `"local":"198.51.100.11"`}},
	"undo-revert":            {{`link {`, `"ifname":"br1"`, `"info_kind":"bridge"`}, {`"ifname":"eth1"`, `"master":"br1"`}},
	"103-linux-bridge-vlans": {{`"ifname":"eth1"`, `"master":"br1"`}},
}

func mtuOfEth1(mtu int) [][]string {
	return [][]string{{`link {`, `"ifname":"eth1"`, fmt.Sprintf(`"mtu":%d`, mtu)}}
}

// exampleAfter is what the text tells to apply first.
var exampleAfter = map[string]string{"104-match-lldp": "104-lldp"}

func tryExample(ctx context.Context, example docs.Example) {
	GinkgoHelper()
	if feature := example.Outcome.Needs; feature != "" {
		// Not a hole in this run that strict mode should fail: the machine
		// cannot hold it, whatever is installed. It is listed.
		if err := lacks(ctx, feature); err != nil {
			Skip(fmt.Sprintf("needs %s, which this machine lacks: %v", feature, err))
		}
		example.Outcome = docs.Outcome{Status: "Available"}
	}
	f := takeForExample(ctx)
	started := time.Now()
	if first := exampleAfter[example.Name]; first != "" {
		raw, err := os.ReadFile("../../docs/examples/" + first + ".yaml")
		Expect(err).NotTo(HaveOccurred())
		f.awaitAvailable(ctx, f.apply(ctx, string(raw)))
	}
	var names []string
	for _, manifest := range example.Manifests {
		names = append(names, f.apply(ctx, manifest))
	}
	f.reach(ctx, example, names)
	GinkgoWriter.Printf("%s after %.1f s\n", example.Name, time.Since(started).Seconds())
	f.withdraw(ctx)
	if example.Outcome.Then == docs.Delete {
		for _, n := range f.Nodes() {
			f.awaitUndone(ctx, n)
		}
	}
}

// takeForExample keeps the last example's fleet if it left nothing behind: that
// is quicker than making the nodes anew.
func takeForExample(ctx context.Context) *fleet {
	GinkgoHelper()
	raw, err := os.ReadFile("../lab/topologies/three-nodes.yaml")
	Expect(err).NotTo(HaveOccurred())
	if kept != nil && kept.topology == string(raw) && kept.untouched(ctx) {
		current, kept = kept, nil
		return current
	}
	return take(ctx, string(raw))
}

func (f *fleet) untouched(ctx context.Context) bool {
	GinkgoHelper()
	var policies v1.NodeNetworkConfigurationPolicyList
	Expect(f.Client.List(ctx, &policies)).To(Succeed())
	same := len(policies.Items) == 0
	for _, n := range f.Nodes() {
		now := snap(ctx, n)
		same = same && now.equal(f.pristine[n.Name])
	}
	return same
}

// apply is kubectl apply of a new object: strict about its fields.
func (f *fleet) apply(ctx context.Context, manifest string) string {
	GinkgoHelper()
	object := &unstructured.Unstructured{}
	Expect(yaml.Unmarshal([]byte(manifest), &object.Object)).To(Succeed())
	Expect(f.Client.Create(ctx, object, client.FieldValidation("Strict"))).To(Succeed())
	return object.GetName()
}

// reach waits for an example's outcome and does what a person does for it.
func (f *fleet) reach(ctx context.Context, example docs.Example, names []string) {
	GinkgoHelper()
	last := names[len(names)-1]
	switch outcome := example.Outcome; {
	case outcome.Status == "Failing":
		f.awaitExampleFailing(ctx, names, outcome.Message)
		if len(names) == 1 {
			for _, n := range f.Nodes() {
				f.awaitAsBefore(ctx, n)
			}
		}
		return
	case outcome.Status == "Planned":
		f.planned(ctx, last)
	case outcome.Then == docs.Confirm:
		f.confirm(ctx, last)
	case outcome.Then == docs.Resume:
		f.resume(ctx, last)
	}
	for _, name := range names {
		f.awaitAvailable(ctx, name)
	}
	marks, known := exampleMarks[example.Name]
	Expect(known).To(BeTrue(), "exampleMarks has no line for %s", example.Name)
	awaitKernel(ctx, f.node(), marks...)
}

// awaitAvailable is kubectl wait --for condition=Available, and gives up at
// once when the policy fails.
func (f *fleet) awaitAvailable(ctx context.Context, name string) {
	GinkgoHelper()
	Eventually(ctx, func(g Gomega) {
		policy, err := f.policy(ctx, name)
		g.Expect(err).NotTo(HaveOccurred())
		if message := said(policy.Status.Conditions, v1.PolicyDegraded); message != "" && policy.Status.ObservedGeneration == policy.Generation {
			StopTrying("it failed: " + message + ": " + f.whyFailing(ctx, name)).Now()
		}
		g.Expect(policy.Status.ObservedGeneration).To(Equal(policy.Generation))
		g.Expect(said(policy.Status.Conditions, v1.PolicyAvailable)).To(ContainSubstring("nodes successfully configured"), "of policy %s", name)
	}).Should(Succeed())
}

func (f *fleet) enactmentsOf(ctx context.Context, policy string) []v1.NodeNetworkConfigurationEnactment {
	GinkgoHelper()
	var list v1.NodeNetworkConfigurationEnactmentList
	Expect(f.Client.List(ctx, &list, client.MatchingLabels{v1.EnactmentPolicyLabel: policy})).To(Succeed())
	return list.Items
}

func (f *fleet) whyFailing(ctx context.Context, policy string) string {
	for _, enactment := range f.enactmentsOf(ctx, policy) {
		if message := said(enactment.Status.Conditions, v1.EnactmentFailing); message != "" {
			return message
		}
	}
	return ""
}

func (f *fleet) awaitExampleFailing(ctx context.Context, names []string, part string) {
	GinkgoHelper()
	Eventually(ctx, func() string {
		var messages []string
		for _, name := range names {
			messages = append(messages, f.whyFailing(ctx, name))
		}
		return strings.Join(messages, "")
	}).Should(And(ContainSubstring(part), Not(ContainSubstring("\n"))))
}

// confirm waits until a node asks for it.
func (f *fleet) confirm(ctx context.Context, name string) {
	GinkgoHelper()
	Eventually(ctx, func() string {
		var messages []string
		for _, enactment := range f.enactmentsOf(ctx, name) {
			messages = append(messages, said(enactment.Status.Conditions, v1.EnactmentProgressing))
		}
		return strings.Join(messages, "\n")
	}).Should(ContainSubstring("kubectl annotate"))
	policy, err := f.policy(ctx, name)
	Expect(err).NotTo(HaveOccurred())
	f.patch(ctx, name, fmt.Sprintf(`{"metadata": {"annotations": {%q: "%d"}}}`, v1.ConfirmAnnotation, policy.Generation))
}

func (f *fleet) resume(ctx context.Context, name string) {
	GinkgoHelper()
	Eventually(ctx, func(g Gomega) {
		policy, err := f.policy(ctx, name)
		g.Expect(err).NotTo(HaveOccurred())
		g.Expect(said(policy.Status.Conditions, v1.PolicyProgressing)).To(ContainSubstring("paused after 1 canary node"))
		g.Expect(policy.Status.Counts.Available).To(BeEquivalentTo(1))
	}).Should(Succeed())
	f.patch(ctx, name, `{"spec": {"rollout": {"pauseAfterCanary": false}}}`)
}

// planned waits for the plan, finds the nodes untouched, and applies what was
// planned, pinned, as the page tells.
func (f *fleet) planned(ctx context.Context, name string) {
	GinkgoHelper()
	var hashes []string
	Eventually(ctx, func(g Gomega) {
		policy, err := f.policy(ctx, name)
		g.Expect(err).NotTo(HaveOccurred())
		planned := false
		for _, c := range policy.Status.Conditions {
			planned = planned || c.Type == v1.Planned && c.Status == metav1.ConditionTrue
		}
		g.Expect(planned).To(BeTrue())
		hashes = nil
		for _, plan := range policy.Status.Plans {
			hashes = append(hashes, plan.Hash)
		}
		g.Expect(hashes).NotTo(BeEmpty())
	}).Should(Succeed())
	for _, n := range f.Nodes() {
		f.expectAsBefore(ctx, n)
	}
	pinned, err := json.Marshal(hashes)
	Expect(err).NotTo(HaveOccurred())
	f.patch(ctx, name, fmt.Sprintf(`{"spec": {"mode": "Apply", "planHashes": %s}}`, pinned))
}

func (f *fleet) patch(ctx context.Context, name, patch string) {
	GinkgoHelper()
	policy := &v1.NodeNetworkConfigurationPolicy{}
	policy.Name = name
	Expect(f.Client.Patch(ctx, policy, client.RawPatch("application/merge-patch+json", []byte(patch)))).To(Succeed())
}

// withdraw deletes all policies and waits until the nodes are done with them.
func (f *fleet) withdraw(ctx context.Context) {
	GinkgoHelper()
	Expect(f.Client.DeleteAllOf(ctx, &v1.NodeNetworkConfigurationPolicy{})).To(Or(Succeed(), MatchError(apierrors.IsNotFound, "IsNotFound")))
	Eventually(ctx, func(g Gomega) {
		var left v1.NodeNetworkConfigurationEnactmentList
		g.Expect(f.Client.List(ctx, &left)).To(Succeed())
		g.Expect(left.Items).To(BeEmpty())
	}).Should(Succeed())
}
