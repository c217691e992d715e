//go:build linux

package suite

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/tools/clientcmd"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "github.com/nmstate/kubernetes-nmstate/api/v1"
	"github.com/nmstate/kubernetes-nmstate/e2e/lab"
	"github.com/nmstate/kubernetes-nmstate/e2e/redteam"
)

var _ = Describe("Somebody with a handler's token", func() {
	It("can do what the security page says and no more, and stops no other node", func(ctx SpecContext) {
		f := take(ctx, threeNodes)
		f.create(ctx, bridgePolicy("203.0.113.10"))
		f.awaitPolicy(ctx, "bridge", policySuccess)
		taken := f.Nodes()[2]
		Expect(taken.Handler(ctx, "stop")).To(Succeed())
		rows, err := redteam.Run(ctx, redteam.Thief{
			Client: f.asHandlerOf(ctx, taken), Node: f.nodeObject(ctx, taken), Victim: f.nodeObject(ctx, f.Nodes()[0]), Policy: "bridge", Namespace: "nmstate",
		})
		Expect(err).NotTo(HaveOccurred())
		GinkgoWriter.Println(redteam.Table(redteam.Attempts()))
		Expect(redteam.Compare(rows)).To(BeEmpty())

		f.edit(ctx, bridgePolicy("203.0.113.11"))
		for _, n := range f.Nodes()[:2] {
			awaitKernel(ctx, n, bridged("203.0.113.11")...)
		}
		f.awaitEvents(ctx, "bridge", "EnactmentIgnored")
		// Its handler does not run, so the controllers do it.
		Eventually(func(g Gomega) {
			var all v1.NodeNetworkConfigurationEnactmentList
			g.Expect(f.Client.List(ctx, &all)).To(Succeed())
			names := slices.Collect(func(yield func(string) bool) {
				for _, e := range all.Items {
					if e.Policy() != "bridge" && !yield(e.Name) {
						return
					}
				}
			})
			g.Expect(names).To(BeEmpty())
		}).WithContext(ctx).WithTimeout(3 * time.Minute).WithPolling(time.Second).Should(Succeed())

		Expect(taken.Handler(ctx, "start")).To(Succeed())
		awaitKernel(ctx, taken, bridged("203.0.113.11")...)
		Expect(f.awaitPolicy(ctx, "bridge", policySuccess)).To(Equal("3/3 nodes successfully configured"))
	}, SpecTimeout(specTimeout))
})

func (f *fleet) nodeObject(ctx context.Context, n *lab.Node) *corev1.Node {
	GinkgoHelper()
	node := &corev1.Node{}
	Expect(f.Client.Get(ctx, client.ObjectKey{Name: n.Name}, node)).To(Succeed())
	return node
}

// asHandlerOf is a client with the node's own kubeconfig, on the node's network.
func (f *fleet) asHandlerOf(ctx context.Context, n *lab.Node) client.Client {
	GinkgoHelper()
	kubeconfig, err := os.ReadFile(filepath.Join(filepath.Dir(n.LogPath("handler")), "kubeconfig"))
	Expect(err).NotTo(HaveOccurred())
	config, err := clientcmd.RESTConfigFromKubeConfig(kubeconfig)
	Expect(err).NotTo(HaveOccurred())
	config.Dial, config.QPS = n.Dial, -1
	stolen, err := client.New(config, client.Options{Scheme: f.Client.Scheme(), Mapper: f.Client.RESTMapper()})
	Expect(err).NotTo(HaveOccurred())
	Expect(stolen.Get(ctx, client.ObjectKey{Name: n.Name}, &v1.NodeNetworkState{})).To(Succeed())
	return stolen
}
