//go:build linux

package suite

import (
	"context"
	"fmt"
	"strings"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/nmstate/kubernetes-nmstate/e2e/lab"
)

// podsUnmanaged is what udev's rules tell NetworkManager of a node on which it runs, and
// of a lab's nodes, which have no udev, nobody.
const podsUnmanaged = `[device-pods]
match-device=driver:veth,except:interface-name:eth*
managed=0
`

const podsConf = "/etc/NetworkManager/conf.d/50-pods.conf"

// What a cluster does with a node's network all day is nobody's news.
var _ = Describe("A node that runs pods and Services", func() {
	It("writes nothing for pods that come and go", func(ctx SpecContext) {
		f := take(ctx, oneNode)
		n := f.node()
		leavePodsAlone(ctx, n)
		byHand(ctx, n, "sh", "-ec", "ip link add cni0 address 02:00:00:00:00:01 type bridge && ip address add 10.244.0.1/24 dev cni0 && ip link set cni0 up")
		byHand(ctx, n, "sh", "-ec", podComes(0)) // Features and state of the bridge follow from its first port.
		Eventually(ctx, func() string { return string(f.mustState(ctx, n).Status.CurrentState.Raw) }).Should(ContainSubstring("10.244.0.1"))
		DeferCleanup(func(ctx SpecContext) { byHand(ctx, n, "sh", "-ec", podGoes(0)) })
		f.awaitNoNews(ctx)

		begun := time.Now()
		for pod := 1; pod <= 10; pod++ {
			byHand(ctx, n, "sh", "-ec", podComes(pod))
		}
		for pod := 1; pod <= 10; pod++ {
			byHand(ctx, n, "sh", "-ec", podGoes(pod))
		}
		f.awaitNoNews(ctx)
		Expect(f.writes(begun)).To(BeEmpty())
	}, SpecTimeout(specTimeout))

	It("writes what it pays for while Services come on and on, and tells the last one", func(ctx SpecContext) {
		f := take(ctx, oneNode)
		n := f.node()
		const old, added = 5000, 60
		services := func(from, to int) {
			var batch strings.Builder
			for i := from; i < to; i++ {
				fmt.Fprintf(&batch, "address add 10.96.%d.%d/32 dev kube-ipvs0\n", i/250, 1+i%250)
			}
			Expect(n.Run(ctx, lab.Command{Args: []string{"ip", "-batch", "-"}, Stdin: strings.NewReader(batch.String())})).To(Succeed())
		}
		byHand(ctx, n, "sh", "-ec", "ip link add kube-ipvs0 type bridge") // As large as kube-proxy's, which is a dummy.
		services(0, old)
		f.awaitService(ctx, n, old-1)
		begun := time.Now()
		for i := range added {
			services(old+i, old+i+1)
		}
		f.awaitService(ctx, n, old+added-1)
		// 200 KB are paid for in 40 s, and 30 s of that may be written ahead.
		most := 3 + int(time.Since(begun)/(40*time.Second))
		AddReportEntry("writes", fmt.Sprintf("%d for %d Services in %.0f s", len(f.writes(begun)), added, time.Since(begun).Seconds()))
		Expect(len(f.writes(begun))).To(BeNumerically("<=", most))
	}, SpecTimeout(specTimeout))
})

func leavePodsAlone(ctx context.Context, n *lab.Node) {
	GinkgoHelper()
	byHand(ctx, n, "sh", "-ec", "echo '"+podsUnmanaged+"' >"+podsConf+" && nmcli general reload conf")
	DeferCleanup(func(ctx SpecContext) { byHand(ctx, n, "sh", "-c", "rm -f "+podsConf+" && nmcli general reload conf") })
}

// podComes gives a pod a veth on a CNI's bridge and one that a route leads to.
func podComes(pod int) string {
	return fmt.Sprintf(`
ip netns add pod%[1]d
ip link add vethpod%[1]d type veth peer name eth0 netns pod%[1]d
ip link set vethpod%[1]d master cni0 up
ip link add cali%[1]d type veth peer name eth1 netns pod%[1]d
ip link set cali%[1]d up
ip -n pod%[1]d link set eth0 up
ip -n pod%[1]d link set eth1 up
ip route add 10.99.0.%[1]d/32 dev cali%[1]d scope link`, pod)
}

func podGoes(pod int) string { return fmt.Sprintf("ip netns del pod%d", pod) }

// awaitNoNews waits until nothing is written for longer than news are put off on a small
// node, from now on: what was put off a moment ago is still to come.
func (f *fleet) awaitNoNews(ctx context.Context) {
	GinkgoHelper()
	quiet := time.Now()
	Eventually(ctx, func(g Gomega) {
		if len(f.writes(quiet)) > 0 {
			quiet = time.Now()
		}
		g.Expect(time.Since(quiet)).To(BeNumerically(">", 3*time.Second))
	}).Should(Succeed())
}

// awaitService waits until the report has the address of a Service.
func (f *fleet) awaitService(ctx context.Context, n *lab.Node, service int) {
	GinkgoHelper()
	address := fmt.Sprintf(`"10.96.%d.%d"`, service/250, 1+service%250)
	Eventually(ctx, func() bool {
		return strings.Contains(string(f.mustState(ctx, n).Status.CurrentState.Raw), address)
	}).WithTimeout(2 * time.Minute).Should(BeTrue())
}
