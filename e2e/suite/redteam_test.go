//go:build linux

package suite

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
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

	It("who writes over the words of a handler that runs stops no other node, and that one's not for good", func(ctx SpecContext) {
		f := take(ctx, threeNodes)
		f.create(ctx, bridgePolicy("203.0.113.10"))
		f.awaitPolicy(ctx, "bridge", policySuccess)
		taken, others := f.Nodes()[2], f.Nodes()[:2]
		for _, n := range others {
			f.label(ctx, n.Name, "example.com/side", "good")
		}
		restarts := unit(ctx, taken, "handler").Restarts
		end := f.besiege(ctx, taken)
		defer end()

		f.create(ctx, canaryPolicy("  nodeSelector: {example.com/side: good}"))
		Expect(f.awaitPolicy(ctx, "canary", policySuccess)).To(Equal("2/2 nodes successfully configured"))
		f.edit(ctx, bridgePolicy("203.0.113.11"))
		for _, n := range others {
			awaitKernel(ctx, n, hasBridge)
			awaitKernel(ctx, n, bridged("203.0.113.11")...)
		}

		end()
		// Nobody tells the handler what the thief wrote last over its report: its next one
		// puts it right, within five minutes, or when somebody asks for it.
		nns := f.mustState(ctx, taken)
		before := nns.DeepCopy()
		nns.Labels = map[string]string{v1.ForceRefreshLabel: "after-the-thief"}
		Expect(f.Client.Patch(ctx, nns, client.MergeFrom(before))).To(Succeed())
		f.edit(ctx, bridgePolicy("203.0.113.12"))
		Expect(f.awaitPolicy(ctx, "bridge", policySuccess)).To(Equal("3/3 nodes successfully configured"))
		for _, n := range f.Nodes() {
			awaitKernel(ctx, n, bridged("203.0.113.12")...)
			f.awaitEnactment(ctx, n.Name, "bridge", enactmentSuccess)
		}
		f.awaitDrifted(ctx, taken, metav1.ConditionFalse)
		Expect(f.mustState(ctx, taken).Status.CurrentState.Raw).To(ContainSubstring("203.0.113.12"))
		Expect(unit(ctx, taken, "handler").Restarts).To(Equal(restarts))
	}, SpecTimeout(2*specTimeout))
})

// besiege has a thief write beside the node's handler, from when it has done everything
// once until end is called.
func (f *fleet) besiege(ctx context.Context, n *lab.Node) (end func()) {
	GinkgoHelper()
	thief := redteam.Thief{Client: f.asHandlerOf(ctx, n), Node: f.nodeObject(ctx, n), Policy: "bridge", Namespace: "nmstate"}
	ctx, cancel := context.WithCancel(ctx)
	rounds, refused := 0, make(chan []string, 1)
	began := make(chan struct{})
	begin := sync.OnceFunc(func() { close(began) })
	go func() {
		refused <- redteam.Beside(ctx, thief, func() { rounds++; begin() })
	}()
	Eventually(ctx, began).Should(BeClosed())
	return sync.OnceFunc(func() {
		cancel()
		Expect(<-refused).To(BeEmpty(), "what was not let through proves nothing")
		AddReportEntry("rounds of the thief", rounds)
	})
}

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
