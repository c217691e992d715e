//go:build linux

package suite

import (
	"context"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/nmstate/kubernetes-nmstate/e2e/lab"
)

// byLease is a node with one NIC, whose address is leased.
const byLease = `
nodes:
- name: node1
  nics: [{name: eth0, switch: lan, address: dhcp}]
switches:
- {name: lan, gateway: 192.0.2.1/24, dns: true, dhcp: {from: 192.0.2.100, to: 192.0.2.150}}
`

// leasedBridge takes the NIC's place, and a lease of its own.
const leasedBridge = `
apiVersion: nmstate.io/v1
kind: NodeNetworkConfigurationPolicy
metadata: {name: bridge}
spec:
  onDelete: Revert
  desiredState:
    interfaces:
    - name: br0
      type: linux-bridge
      state: up
      ipv4: {enabled: true, dhcp: true}
      bridge: {options: {stp: {enabled: false}}, port: [{name: eth0}]}
`

// A DHCP server leases by MAC address, and a bridge may have another one than its port:
// systemd gives it one of its own (MACAddressPolicy=persistent), or the policy does. Then the
// node's InternalIP is on no interface, for good where the kubelet has --node-ip. The Node
// stays Ready: the kubelet calls the API server, which does not call back.
var _ = Describe("A bridge that takes the place of a NIC with a lease", func() {
	DescribeTable("is told of where the cluster does not find the node any more", func(ctx SpecContext, mac string, gone bool) {
		f := take(ctx, byLease)
		n := f.node()
		var leased string
		Eventually(ctx, func() string { leased = addressOf(ctx, n, "eth0"); return leased }).ShouldNot(BeEmpty())
		f.knowsBy(ctx, n, leased)

		f.create(ctx, strings.Replace(leasedBridge, "state: up\n", "state: up\n"+mac, 1))
		done := f.awaitEnactment(ctx, n.Name, "bridge", enactmentSuccess)
		Expect(addressOf(ctx, n, "br0")).NotTo(BeEmpty())
		if !gone {
			Expect(addressOf(ctx, n, "br0")).To(Equal(leased))
			Expect(done.Status.NotVerified).To(BeEmpty(), "the lease is there by the commit")
			return
		}
		Expect(addressOf(ctx, n, "br0")).NotTo(Equal(leased))
		Expect(done.Status.NotVerified).To(ConsistOf(HavePrefix(leased + ": the cluster knows the node by this InternalIP")))
	},
		Entry("it has a MAC address of its own", "      mac-address: 02:00:5e:00:53:01\n", true, SpecTimeout(specTimeout)),
		Entry("it has that of the NIC", "      copy-mac-from: eth0\n", false, SpecTimeout(specTimeout)),
	)
})

// addressOf is the interface's IPv4 address, empty while it has none.
func addressOf(ctx context.Context, n *lab.Node, nic string) string {
	GinkgoHelper()
	out, err := n.Exec(ctx, "ip", "-4", "-brief", "address", "show", "dev", nic)
	Expect(err).NotTo(HaveOccurred(), string(out))
	fields := strings.Fields(string(out)) // Name, state, addresses.
	if len(fields) < 3 {
		return ""
	}
	address, _, _ := strings.Cut(fields[2], "/")
	return address
}

// knowsBy says in the Node what a kubelet with this --node-ip says.
func (f *fleet) knowsBy(ctx context.Context, n *lab.Node, address string) {
	GinkgoHelper()
	var node corev1.Node
	Expect(f.Client.Get(ctx, client.ObjectKey{Name: n.Name}, &node)).To(Succeed())
	told := node.DeepCopy()
	told.Status.Addresses = []corev1.NodeAddress{{Type: corev1.NodeInternalIP, Address: address}, {Type: corev1.NodeHostName, Address: n.Name}}
	Expect(f.Client.Status().Patch(ctx, told, client.MergeFrom(&node))).To(Succeed())
}
