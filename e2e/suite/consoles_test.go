//go:build linux

package suite

import (
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// Two web consoles are installed out there, and read objects by paths of their own: v1
// for policies, v1beta1 for the rest.
var _ = Describe("The web consoles", func() {
	It("find in our objects what they read", func(ctx SpecContext) {
		f := take(ctx, oneNode)
		n := f.node()
		f.create(ctx, bridgePolicy("203.0.113.10"))
		f.awaitEnactment(ctx, n.Name, "bridge", enactmentSuccess)
		f.awaitPolicy(ctx, "bridge", policySuccess)

		policy := unstructuredOf("v1", "NodeNetworkConfigurationPolicy")
		Expect(f.Client.Get(ctx, client.ObjectKey{Name: "bridge"}, policy)).To(Succeed())
		Expect(at(policy, "spec", "desiredState", "interfaces")).NotTo(BeEmpty())
		Expect(firstTrue(policy)).To(Equal("Available"))

		list := &unstructured.UnstructuredList{}
		list.SetGroupVersionKind(schema.GroupVersionKind{Group: "nmstate.io", Version: "v1beta1", Kind: "NodeNetworkConfigurationEnactmentList"})
		Expect(f.Client.List(ctx, list, client.MatchingLabels{"nmstate.io/policy": "bridge", "nmstate.io/node": n.Name})).To(Succeed())
		Expect(list.Items).To(HaveLen(1), "enactments by their labels")
		Expect(firstTrue(&list.Items[0])).To(Equal("Available"), "the first condition that is True is the state")

		state := unstructuredOf("v1beta1", "NodeNetworkState")
		Eventually(func(g Gomega) {
			g.Expect(f.Client.Get(ctx, client.ObjectKey{Name: n.Name}, state)).To(Succeed())
			found := interfacesByName(state)
			bridge := found["br1"]
			g.Expect(bridge).To(SatisfyAll(HaveKeyWithValue("type", "linux-bridge"), HaveKeyWithValue("state", "up"), HaveKey("mtu"), HaveKey("mac-address")))
			ports, _, err := unstructured.NestedSlice(bridge, "bridge", "port")
			g.Expect(err).NotTo(HaveOccurred())
			g.Expect(ports).To(ConsistOf(HaveKeyWithValue("name", "eth1")), "bridge.port[].name")
			addresses, _, err := unstructured.NestedSlice(found["eth0"], "ipv4", "address")
			g.Expect(err).NotTo(HaveOccurred())
			g.Expect(addresses).To(ContainElement(HaveKey("ip")), "ipv4.address[].ip")
			for _, name := range []string{"eth0", "eth1", "br1"} {
				enabled, is, err := unstructured.NestedBool(found[name], "lldp", "enabled")
				g.Expect(err).NotTo(HaveOccurred())
				g.Expect(is).To(BeTrue(), name+": lldp.enabled is there")
				g.Expect(enabled).To(BeFalse())
			}
		}).WithContext(ctx).WithTimeout(patience).Should(Succeed())
	}, SpecTimeout(specTimeout))
})

func unstructuredOf(version, kind string) *unstructured.Unstructured {
	object := &unstructured.Unstructured{}
	object.SetGroupVersionKind(schema.GroupVersionKind{Group: "nmstate.io", Version: version, Kind: kind})
	return object
}

func at(object *unstructured.Unstructured, path ...string) any {
	GinkgoHelper()
	value, _, err := unstructured.NestedFieldNoCopy(object.Object, path...)
	Expect(err).NotTo(HaveOccurred())
	return value
}

// firstTrue is the type of the first condition that is True, whichever type it has: so a
// console tells the state.
func firstTrue(object *unstructured.Unstructured) string {
	GinkgoHelper()
	conditions, _, err := unstructured.NestedSlice(object.Object, "status", "conditions")
	Expect(err).NotTo(HaveOccurred())
	for _, one := range conditions {
		if c, is := one.(map[string]any); is && c["status"] == "True" {
			kind, _ := c["type"].(string)
			return kind
		}
	}
	return ""
}

func interfacesByName(state *unstructured.Unstructured) map[string]map[string]any {
	GinkgoHelper()
	all, _, err := unstructured.NestedSlice(state.Object, "status", "currentState", "interfaces")
	Expect(err).NotTo(HaveOccurred())
	found := map[string]map[string]any{}
	for _, one := range all {
		if tree, is := one.(map[string]any); is {
			name, _ := tree["name"].(string)
			found[name] = tree
		}
	}
	return found
}
