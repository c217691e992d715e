//go:build linux

package suite

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "github.com/nmstate/kubernetes-nmstate/api/v1"
	"github.com/nmstate/kubernetes-nmstate/e2e/cluster"
	"github.com/nmstate/kubernetes-nmstate/e2e/lab"
)

var _ = Describe("A policy that names a Secret", func() {
	DescribeTable("waits for it in one line, brings its value to NetworkManager and nowhere else, and each new value again", func(ctx SpecContext, mode string) {
		f := take(ctx, oneNode)
		n := f.node()
		serving, end := f.serve(ctx, mode)
		defer end()
		before := applies(n)
		f.create(ctx, fmt.Sprintf(`
apiVersion: nmstate.io/v1
kind: NodeNetworkConfigurationPolicy
metadata: {name: secure-port}
spec:
  probeTimeoutSeconds: %d
  desiredState:
    interfaces:
    - {name: eth2, type: ethernet, state: up, 802.1x: {identity: node1, eap-methods: [pwd], password: "{{ secret.port.password }}"}}
`, window))
		Expect(f.awaitFailing(ctx, n.Name, "secure-port")).To(ContainSubstring(
			"spec.desiredState.interfaces[eth2].802.1x.password: {{ secret.port.password }}: there is no Secret port in namespace nmstate: create it"))
		Expect(applies(n)).To(Equal(before))

		held := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: "nmstate", Name: "port"}, StringData: map[string]string{"key": "Canary-of-the-key"}}
		Expect(f.Client.Create(ctx, held)).To(Succeed())
		Eventually(ctx, func() string { return f.whyFailing(ctx, "secure-port") }).Should(ContainSubstring(
			"Secret port in namespace nmstate has no key password, it has key: add it, or name another one"))
		Expect(applies(n)).To(Equal(before))

		values := []string{"Canary-of-a-password", "Canary-that-is-newer"}
		for _, value := range values {
			held.StringData = map[string]string{"password": value}
			Expect(f.Client.Update(ctx, held)).To(Succeed())
			Eventually(ctx, func() string {
				// There is nothing to be found between two trials.
				out, _ := n.Exec(ctx, "sh", "-c", "grep -h password= /run/NetworkManager/system-connections/*")
				return string(out)
			}).Should(ContainSubstring("password=" + value))
			f.expectTold(ctx, n, serving, values...)
		}
		Expect(f.awaitFailing(ctx, n.Name, "secure-port")).To(ContainSubstring("NetworkManager has it"))
		f.expectTold(ctx, n, serving, values...)
		Expect(f.asHandlerOf(ctx, n).Get(ctx, client.ObjectKeyFromObject(held), held)).To(MatchError(ContainSubstring("forbidden")))

		f.delete(ctx, "secure-port")
		f.awaitAsBefore(ctx, n)
		f.awaitNothingRuns(ctx, n)
		kept, err := n.Exec(ctx, "sh", "-c", "cat /var/lib/kubernetes-nmstate/*")
		Expect(err).NotTo(HaveOccurred())
		Expect(string(kept)).To(And(ContainSubstring("secure-port"), Not(ContainSubstring("Canary"))))
		rights, err := n.Exec(ctx, "stat", "-c", "%a", "/var/lib/kubernetes-nmstate/secrets.key")
		Expect(err).NotTo(HaveOccurred())
		Expect(strings.TrimSpace(string(rights))).To(Equal("600"))
		Expect(f.Client.Delete(ctx, held)).To(Succeed())
	},
		Entry("that the handlers render", cluster.Distributed, SpecTimeout(specTimeout)),
		Entry("that the controllers render", cluster.Centralized, SpecTimeout(specTimeout)),
	)
})

var _ = Describe("A policy that has secrets in clear text", func() {
	values := []string{"Canary-of-a-password", "Canary-of-a-private-key", "50b71a8ef0bd5751ea76de6d6c98c03a", "Canary-of-IPsec", "Canary-of-OVS"}
	DescribeTable("brings them to NetworkManager and shows them in the policy alone", func(ctx SpecContext, mode string) {
		f := take(ctx, oneNode)
		n := f.node()
		serving, end := f.serve(ctx, mode)
		defer end()
		f.create(ctx, fmt.Sprintf(`
apiVersion: nmstate.io/v1
kind: NodeNetworkConfigurationPolicy
metadata: {name: clear-port}
spec:
  probeTimeoutSeconds: %d
  desiredState:
    interfaces:
    - {name: eth2, type: ethernet, state: up, 802.1x: {identity: node1, eap-methods: [pwd], password: Canary-of-a-password,
       private-key: /etc/node.pem, private-key-password: Canary-of-a-private-key}}
`, window))
		Eventually(ctx, func() string {
			out, _ := n.Exec(ctx, "sh", "-c", "grep -h password= /run/NetworkManager/system-connections/*") // Nothing between two trials.
			return string(out)
		}).Should(And(ContainSubstring("password=Canary-of-a-password"), ContainSubstring("private-key-password=Canary-of-a-private-key")))
		f.expectTold(ctx, n, serving, values...)
		Expect(f.awaitFailing(ctx, n.Name, "clear-port")).To(ContainSubstring("NetworkManager has it"))
		f.delete(ctx, "clear-port")
		// The lab's kernel makes no macsec0, so the rest is not tried either. It is written all the same.
		f.create(ctx, fmt.Sprintf(`
apiVersion: nmstate.io/v1
kind: NodeNetworkConfigurationPolicy
metadata: {name: clear-others}
spec:
  probeTimeoutSeconds: %d
  desiredState:
    interfaces:
    - {name: macsec0, type: macsec, state: up, macsec: {base-iface: eth2, mka-cak: 50b71a8ef0bd5751ea76de6d6c98c03a,
       mka-ckn: f2b4297d39da7330910a74abc0449feb45b5c0b9fc23df1430e1898fcf1c4550, port: 0, encrypt: true, validation: strict, send-sci: true}}
    - {name: hosta, type: ipsec, state: up, libreswan: {left: 192.0.2.11, right: 192.0.2.250, psk: Canary-of-IPsec, ikev2: insist}}
    ovs-db: {external_ids: {remote_psk: Canary-of-OVS}, other_config: {tunnel_password: Canary-of-OVS}}
`, window))
		Expect(f.awaitFailing(ctx, n.Name, "clear-others")).To(ContainSubstring("macsec"))
		f.expectTold(ctx, n, serving, values...)
		enactment, err := f.enactment(ctx, n.Name, "clear-others")
		Expect(err).NotTo(HaveOccurred())
		Expect(strings.Count(string(enactment.Status.DesiredState.Raw), "{{ secret.Policy.")).To(Equal(4))
		f.delete(ctx, "clear-others")
		f.awaitAsBefore(ctx, n)
		f.awaitNothingRuns(ctx, n)
		kept, err := n.Exec(ctx, "sh", "-c", "cat /var/lib/kubernetes-nmstate/*")
		Expect(err).NotTo(HaveOccurred())
		Expect(string(kept)).To(And(ContainSubstring("clear-port"), Not(ContainSubstring("Canary")), Not(ContainSubstring("50b71a8ef0bd"))))
	},
		Entry("that the handlers render", cluster.Distributed, SpecTimeout(specTimeout)),
		Entry("that the controllers render", cluster.Centralized, SpecTimeout(specTimeout)),
	)
})

// expectTold looks for values in all that leaves the programs: objects of the API with
// everything in them, events too, what both programs serve at their ports, and logs.
// What is there instead is the reference. A policy shows what it has in clear text.
func (f *fleet) expectTold(ctx context.Context, n *lab.Node, s serving, values ...string) {
	GinkgoHelper()
	where := s.told(ctx, n)
	for _, kind := range []schema.GroupVersionKind{
		v1.GroupVersion.WithKind("NodeNetworkConfigurationPolicyList"), v1.GroupVersion.WithKind("NodeNetworkConfigurationEnactmentList"),
		v1.GroupVersion.WithKind("NodeNetworkStateList"), {Group: "events.k8s.io", Version: "v1", Kind: "EventList"},
		{Version: "v1", Kind: "NodeList"}, {Version: "v1", Kind: "ConfigMapList"}, {Group: "coordination.k8s.io", Version: "v1", Kind: "LeaseList"},
	} {
		list := &unstructured.UnstructuredList{}
		list.SetGroupVersionKind(kind)
		Expect(f.Client.List(ctx, list)).To(Succeed())
		for i := range list.Items {
			if list.Items[i].GetKind() == "NodeNetworkConfigurationPolicy" {
				unstructured.RemoveNestedField(list.Items[i].Object, "spec", "desiredState")
			}
		}
		raw, err := json.Marshal(list)
		Expect(err).NotTo(HaveOccurred())
		where[kind.Kind] = string(raw)
	}
	Expect(where["NodeNetworkConfigurationEnactmentList"]).To(MatchRegexp(`\{\{ secret\.(port\.password|Policy\.[0-9a-f]+) `))
	for _, log := range []string{filepath.Join(f.root, "controllers.log"), n.LogPath("handler"), n.LogPath("nm")} {
		raw, err := os.ReadFile(log)
		Expect(err).NotTo(HaveOccurred())
		where[log] = string(raw)
	}
	for place, text := range where {
		for _, value := range values {
			Expect(text).NotTo(ContainSubstring(value), place)
			Expect(text).NotTo(ContainSubstring(base64.StdEncoding.EncodeToString([]byte(value))), place)
		}
	}
}
