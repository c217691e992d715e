//go:build linux

package suite

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/google/go-cmp/cmp"
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	v1 "github.com/nmstate/kubernetes-nmstate/api/v1"
	"github.com/nmstate/kubernetes-nmstate/e2e/lab"
	"github.com/nmstate/kubernetes-nmstate/handler/txn"
)

var _ = Describe("What no policy names", func() {
	It("survives the first policy for a NIC that NetworkManager had only observed", func(ctx SpecContext) {
		f := take(ctx, oneNode)
		n := f.node()
		f.foreignOn(ctx, n, "eth1", foreignOnEth1)
		before := snap(ctx, n)
		f.create(ctx, mtuPolicy("eth1"))
		f.awaitEnactment(ctx, n.Name, "mtu", enactmentSuccess)
		awaitKernel(ctx, n, []string{`link {`, `"ifname":"eth1"`, `"mtu":1400`})
		Expect(cmp.Diff(others(before, "eth1"), others(snap(ctx, n), "eth1"))).To(BeEmpty())
	}, SpecTimeout(specTimeout))

	It("survives a change of the NIC that carries it, and its being taken back", func(ctx SpecContext) {
		f := take(ctx, oneNode)
		n := f.node()
		f.foreignOn(ctx, n, "eth0", foreignOnEth0)
		before := snap(ctx, n)
		f.create(ctx, mtuPolicy("eth0"))
		f.awaitEnactment(ctx, n.Name, "mtu", enactmentSuccess)
		after := snap(ctx, n)
		Expect(cmp.Diff(others(before, "eth0"), others(after, "eth0"))).To(BeEmpty())
		f.create(ctx, cutOffPolicy())
		Expect(f.awaitFailing(ctx, n.Name, "cut-off")).To(ContainSubstring("probing for"))
		f.await(ctx, n, after)
	}, SpecTimeout(specTimeout))

	It("is there again after a rollback on a NIC that NetworkManager had only observed", func(ctx SpecContext) {
		f := take(ctx, oneNode)
		n := f.node()
		f.foreignOn(ctx, n, "eth1", foreignOnEth1)
		before := snap(ctx, n)
		f.create(ctx, twoPolicy())
		Expect(f.awaitFailing(ctx, n.Name, "two")).To(ContainSubstring("probing for"))
		f.expectRolledBack(ctx, n)
		Expect(cmp.Diff(others(before, "eth1"), others(snap(ctx, n), "eth1"))).To(BeEmpty())
	}, SpecTimeout(specTimeout))

	It("is there again when the handler was killed in mid-trial", func(ctx SpecContext) {
		f := take(ctx, oneNode)
		n := f.node()
		f.foreignOn(ctx, n, "eth0", foreignOnEth0)
		before := snap(ctx, n)
		log, restarts := follow(n), unit(ctx, n, "handler").Restarts
		f.create(ctx, cutOffPolicy())
		log.until(ctx, string(txn.Probing))
		killHandler(ctx, n)
		awaitHandler(ctx, n, restarts+1)
		f.await(ctx, n, before)
		f.awaitEnactment(ctx, n.Name, "cut-off", enactmentFailed)
		f.await(ctx, n, before)
	}, SpecTimeout(specTimeout))

	It("is there again when NetworkManager was killed in mid-trial, and is not made NetworkManager's own", func(ctx SpecContext) {
		f := take(ctx, oneNode)
		n := f.node()
		f.foreignOn(ctx, n, "eth0", foreignOnEth0)
		before := snap(ctx, n)
		log := follow(n)
		f.create(ctx, cutOffPolicy())
		log.until(ctx, string(txn.Probing))
		Expect(f.CutAPI(ctx)).To(Succeed()) // nothing is tried again before it was looked at
		restartNM(ctx, n)
		f.awaitOthers(ctx, n, before, "eth0")
		Expect(f.ConnectAPI(ctx)).To(Succeed())
		f.awaitEnactment(ctx, n.Name, "cut-off", enactmentFailed)
		f.awaitOthers(ctx, n, before, "eth0")
	}, SpecTimeout(specTimeout))

	It("follows the address of a NIC to the bridge that takes the NIC", func(ctx SpecContext) {
		f := take(ctx, oneNode)
		n := f.node()
		f.foreignOn(ctx, n, "eth1", foreignPods)
		f.create(ctx, bridgePolicy("203.0.113.5"))
		f.awaitEnactment(ctx, n.Name, "bridge", enactmentSuccess)
		awaitKernel(ctx, n,
			[]string{`route {`, `"dst":"10.244.1.0/24"`, `"dev":"br1"`, `"gateway":"203.0.113.2"`},
			[]string{`route {`, `"dst":"10.244.2.0/24"`, `"dev":"br1"`, `"protocol":"bird"`, `"metric":32`},
		)
	}, SpecTimeout(specTimeout))

	It("fails the policy by name where it cannot be put back, and the node is as before", func(ctx SpecContext) {
		f := take(ctx, oneNode)
		n := f.node()
		f.foreignOn(ctx, n, "eth1", foreignOnEth1)
		before := snap(ctx, n)
		f.create(ctx, addressPolicy("eth1", "198.51.100.5"))
		message := f.awaitFailing(ctx, n.Name, "address")
		AddReportEntry("said", message)
		Expect(message).To(ContainSubstring("route 10.244.1.0/24 via 203.0.113.2 dev eth1 proto boot was dropped and cannot be put back"))
		f.expectRolledBack(ctx, n)
		Expect(cmp.Diff(others(before, "eth1"), others(snap(ctx, n), "eth1"))).To(BeEmpty())
	}, SpecTimeout(specTimeout))
})

// foreignOnEth1 makes eth1 a NIC that NetworkManager observes, with what a CNI,
// a routing daemon and a person put there.
const foreignOnEth1 = `
link set eth1 up
address add 203.0.113.5/24 dev eth1
address add 203.0.113.6/32 dev eth1
address add 2001:db8:1::5/64 dev eth1 nodad
route add 10.244.1.0/24 via 203.0.113.2 dev eth1
route add 10.244.2.0/24 via 203.0.113.2 dev eth1 proto bird metric 32
route add 10.244.3.0/24 dev eth1 proto 186 scope link mtu 1300
route add 10.244.4.0/24 proto bird nexthop via 203.0.113.2 dev eth1 weight 2 nexthop via 192.0.2.1 dev eth0
route add 10.244.5.0/24 via 203.0.113.2 dev eth1 table 100
-6 route add fd00:244::/64 via 2001:db8:1::2 dev eth1
-6 route add fd00:245::/64 dev eth1 proto bird
route add 10.245.1.0/24 via 192.0.2.1 dev eth0
`

// foreignPods are a CNI's routes to the pods of other nodes.
const foreignPods = `
link set eth1 up
address add 203.0.113.5/24 dev eth1
route add 10.244.1.0/24 via 203.0.113.2 dev eth1
route add 10.244.2.0/24 via 203.0.113.2 dev eth1 proto bird metric 32
`

// foreignOnEth0 are such things beside what NetworkManager made on eth0.
const foreignOnEth0 = `
address add 192.0.2.200/32 dev eth0
route add 10.245.1.0/24 via 192.0.2.1 dev eth0
route add 10.245.2.0/24 via 192.0.2.1 dev eth0 proto bird metric 32
route add 10.245.3.0/24 via 192.0.2.1 dev eth0 table 100
-6 route add fd00:245::/64 via 2001:db8::1 dev eth0 proto bird
`

// foreignOn runs ip in the node and waits until NetworkManager has seen it.
func (f *fleet) foreignOn(ctx context.Context, n *lab.Node, nic, commands string) {
	GinkgoHelper()
	for line := range strings.Lines(strings.TrimSpace(commands)) {
		_, err := n.Exec(ctx, append([]string{"ip"}, strings.Fields(line)...)...)
		Expect(err).NotTo(HaveOccurred())
	}
	Eventually(ctx, func(g Gomega) {
		out, err := n.Exec(ctx, "nmcli", "-t", "-f", "DEVICE,STATE", "device")
		g.Expect(err).NotTo(HaveOccurred())
		g.Expect(string(out)).To(ContainSubstring(nic + ":connected"))
	}).Should(Succeed())
}

// awaitOthers waits until the transaction is over and what the policy for the
// NIC does not name is byte for byte as it was.
func (f *fleet) awaitOthers(ctx context.Context, n *lab.Node, before snapshot, nic string) {
	GinkgoHelper()
	Eventually(ctx, func(g Gomega) {
		g.Expect(filepath.Join(n.DiskPath(journalDir), "journal.json")).NotTo(BeAnExistingFile())
		g.Expect(cmp.Diff(others(before, nic), others(snap(ctx, n), nic))).To(BeEmpty())
	}).Should(Succeed())
}

// others are the kernel's lines without what a policy for the NIC may change
// of it: its link, the attributes of its addresses, and the routes that follow
// from them.
func others(s snapshot, nic string) []string {
	var kept []string
	for _, line := range s.Kernel {
		own := strings.Contains(line, `"dev":"`+nic+`"`) || strings.Contains(line, `"ifname":"`+nic+`"`)
		derived := strings.Contains(line, `"protocol":"kernel"`) || strings.HasPrefix(line, "link ") || strings.HasPrefix(line, "address ")
		if own && derived {
			continue
		}
		kept = append(kept, line)
	}
	return append(kept, addressesOf(s, nic)...)
}

// addressesOf are the NIC's addresses without their attributes and without
// those that it gave itself.
func addressesOf(s snapshot, nic string) []string {
	var found []string
	for _, line := range s.Kernel {
		if !strings.HasPrefix(line, "address ") || !strings.Contains(line, `"ifname":"`+nic+`"`) {
			continue
		}
		for part := range strings.SplitSeq(line, `"local":"`) {
			address, rest, _ := strings.Cut(part, `"`)
			_, length, said := strings.Cut(rest, `"prefixlen":`)
			if said && !strings.HasPrefix(address, "fe80:") {
				length, _, _ = strings.Cut(length, ",")
				found = append(found, nic+" "+address+"/"+length)
			}
		}
	}
	slices.Sort(found)
	return found
}

func mtuPolicy(nic string) string {
	return fmt.Sprintf(`
apiVersion: nmstate.io/v1
kind: NodeNetworkConfigurationPolicy
metadata: {name: mtu}
spec:
  probeTimeoutSeconds: %d
  desiredState:
    interfaces:
    - {name: %s, type: ethernet, state: up, mtu: 1400}
`, window, nic)
}

func addressPolicy(nic, address string) string {
	return fmt.Sprintf(`
apiVersion: nmstate.io/v1
kind: NodeNetworkConfigurationPolicy
metadata: {name: address}
spec:
  probeTimeoutSeconds: %d
  desiredState:
    interfaces:
    - name: %s
      type: ethernet
      state: up
      ipv4: {enabled: true, dhcp: false, address: [{ip: %s, prefix-length: 24}]}
`, window, nic, address)
}

// twoPolicy gives eth1 another MTU and cuts the node off on eth0.
func twoPolicy() string {
	return fmt.Sprintf(`
apiVersion: nmstate.io/v1
kind: NodeNetworkConfigurationPolicy
metadata: {name: two}
spec:
  maxUnavailable: 1
  probeTimeoutSeconds: %d
  desiredState:
    interfaces:
    - {name: eth1, type: ethernet, state: up, mtu: 1400}
    - name: eth0
      type: ethernet
      state: up
      ipv4: {enabled: true, dhcp: false, address: [{ip: 203.0.113.99, prefix-length: 24}]}
`, window)
}

// expectRolledBack is for a failure after which nothing is left behind.
func (f *fleet) expectRolledBack(ctx context.Context, n *lab.Node) {
	GinkgoHelper()
	nns, err := f.nodeState(ctx, n.Name)
	Expect(err).NotTo(HaveOccurred())
	Expect(nns.Status.Transaction).NotTo(BeNil())
	Expect(nns.Status.Transaction.Differences).To(BeEmpty())
	Expect(nns.Status.Transaction.Result).To(Equal(v1.TransactionRolledBack))
}
