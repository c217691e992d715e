//go:build linux

package suite

import (
	"context"
	"encoding/base64"
	"fmt"
	"net/url"
	"os"
	"path/filepath"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"k8s.io/client-go/tools/clientcmd"

	v1 "github.com/nmstate/kubernetes-nmstate/api/v1"
	"github.com/nmstate/kubernetes-nmstate/e2e/lab"
)

// familyPolicy changes one family of the link that carries the API server.
func familyPolicy(what string) string {
	return fmt.Sprintf(`
apiVersion: nmstate.io/v1
kind: NodeNetworkConfigurationPolicy
metadata: {name: family}
spec:
  probeTimeoutSeconds: %d
  desiredState:
    interfaces:
    - {name: eth0, type: ethernet, state: up, %s}
`, window, what)
}

var _ = Describe("An API server with an IPv4 and an IPv6 address", func() {
	DescribeTable("is to answer in each family in which it answered before", func(ctx SpecContext, what, lost string) {
		f := take(ctx, oneNode)
		n := f.node()
		// Gateways that answer no ping demand nothing, so that nothing else finds it.
		Expect(f.Gateway(ctx, "ping", false)).To(Succeed())
		defer func() { Expect(f.Gateway(context.WithoutCancel(ctx), "ping", true)).To(Succeed()) }()
		defer f.byName(ctx, n)()

		f.create(ctx, familyPolicy(what))
		if lost == "" {
			f.awaitEnactment(ctx, n.Name, "family", enactmentSuccess)
			return
		}
		Expect(f.awaitFailing(ctx, n.Name, "family")).To(MatchRegexp("api-server.*" + lost))
		f.awaitAsBefore(ctx, n)
	},
		Entry("IPv6 leads elsewhere", "ipv6: {enabled: true, dhcp: false, autoconf: false, address: [{ip: '2001:db8:9::11', prefix-length: 64}]}", "2001:db8::1", SpecTimeout(specTimeout)),
		Entry("IPv4 leads elsewhere", "ipv4: {enabled: true, dhcp: false, address: [{ip: 203.0.113.11, prefix-length: 24}]}", "192.0.2.1", SpecTimeout(specTimeout)),
		Entry("IPv6 is switched off in so many words", "ipv6: {enabled: false}", "", SpecTimeout(specTimeout)),
	)
})

// byName has the node's handler ask for the API server by a name that has an address of
// each family; end has it ask as before.
func (f *fleet) byName(ctx context.Context, n *lab.Node) (end func()) {
	GinkgoHelper()
	const name, at = "api.lab.example", "/etc/api.kubeconfig"
	config, err := clientcmd.LoadFromFile(filepath.Join(filepath.Dir(n.LogPath("handler")), "kubeconfig"))
	Expect(err).NotTo(HaveOccurred())
	for _, one := range config.Clusters {
		server, err := url.Parse(one.Server)
		Expect(err).NotTo(HaveOccurred())
		one.Server = "https://" + name + ":" + server.Port()
	}
	raw, err := clientcmd.Write(*config)
	Expect(err).NotTo(HaveOccurred())
	byHand(ctx, n, "sh", "-c", fmt.Sprintf("echo %s | base64 -d >%s && echo '192.0.2.1 %s\n2001:db8::1 %s' >>/etc/hosts",
		base64.StdEncoding.EncodeToString(raw), at, name, name))
	Expect(n.SetHandlerArgs("--revert-helper", filepath.Join(bin, "nmstate-revert"), "--kubeconfig", at)).To(Succeed())
	Expect(n.Handler(ctx, "restart")).To(Succeed())
	return func() {
		Expect(n.SetHandlerArgs("--revert-helper", filepath.Join(bin, "nmstate-revert"))).To(Succeed())
		Expect(n.Handler(context.WithoutCancel(ctx), "restart")).To(Succeed())
	}
}

// onlyIPv6 is the bridge over the link that carries the API server, with this address.
func onlyIPv6(address string) string {
	return fmt.Sprintf(`
apiVersion: nmstate.io/v1
kind: NodeNetworkConfigurationPolicy
metadata: {name: bridge}
spec:
  probeTimeoutSeconds: %d
  desiredState:
    interfaces:
    - name: br0
      type: linux-bridge
      state: up
      bridge: {options: {stp: {enabled: false}}, port: [{name: eth0}]}
      ipv6: {enabled: true, dhcp: false, autoconf: false, address: [{ip: "%s", prefix-length: 64}]}
    routes:
      config: [{destination: "::/0", next-hop-address: "2001:db8::1", next-hop-interface: br0}]
`, window, address)
}

var _ = Describe("A node that has no IPv4", func() {
	It("is configured, taken back when the API server is lost, and reached after a boot", func(ctx SpecContext) {
		topology, err := os.ReadFile("../lab/topologies/ipv6-only.yaml")
		Expect(err).NotTo(HaveOccurred())
		f := take(ctx, string(topology))
		n := f.node()
		f.create(ctx, onlyIPv6("2001:db8::11"))
		done := f.awaitEnactment(ctx, n.Name, "bridge", enactmentSuccess)
		Expect(done.Status.GuardedBy).To(ConsistOf("api-server", "default-gateway", "dns", "node-ready"))

		bridged := profiles(n) // The bridge's link-local address is the kernel's, and another one each time (ADR 0036).
		f.edit(ctx, onlyIPv6("2001:db8:9::11"))
		Expect(f.awaitFailing(ctx, n.Name, "bridge")).To(ContainSubstring("api-server: [2001:db8::1]:6443 did not answer"))
		lost, err := f.enactment(ctx, n.Name, "bridge")
		Expect(err).NotTo(HaveOccurred())
		Expect(lost.Status.Rollback.Result).To(BeEquivalentTo(v1.TransactionRolledBack))
		Expect(profiles(n)).To(Equal(bridged))

		Expect(n.Power(ctx, "off")).To(Succeed())
		Expect(n.Power(ctx, "on")).To(Succeed())
		Expect(profiles(n)).To(Equal(bridged))
		f.edit(ctx, onlyIPv6("2001:db8::11"))
		f.awaitEnactment(ctx, n.Name, "bridge", enactmentSuccess)
	}, SpecTimeout(specTimeout))
})
