//go:build linux

package suite

import (
	"context"
	"fmt"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	v1 "github.com/nmstate/kubernetes-nmstate/api/v1"
)

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

// apply is kubectl apply of a new object: strict about its fields.
func (f *fleet) apply(ctx context.Context, manifest string) string {
	GinkgoHelper()
	object := &unstructured.Unstructured{}
	Expect(yaml.Unmarshal([]byte(manifest), &object.Object)).To(Succeed())
	Expect(f.Client.Create(ctx, object, client.FieldValidation("Strict"))).To(Succeed())
	return object.GetName()
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
