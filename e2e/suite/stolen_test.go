//go:build linux

package suite

import (
	"context"
	"os"
	"path/filepath"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"k8s.io/client-go/tools/clientcmd"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "github.com/nmstate/kubernetes-nmstate/api/v1"
	"github.com/nmstate/kubernetes-nmstate/e2e/lab"
)

var _ = Describe("Somebody with a handler's token", func() {
	It("who tells of a generation that there is not stops no other node, and is told of", func(ctx SpecContext) {
		f := take(ctx, threeNodes)
		f.create(ctx, bridgePolicy("203.0.113.10"))
		f.awaitPolicy(ctx, "bridge", policySuccess)
		victim := f.Nodes()[2]
		Expect(victim.Handler(ctx, "stop")).To(Succeed())
		stolen := f.asHandlerOf(ctx, victim)
		lie := &v1.NodeNetworkConfigurationEnactment{}
		lie.Name = v1.EnactmentName(victim.Name, "bridge")
		Expect(stolen.Status().Patch(ctx, lie, client.RawPatch("application/merge-patch+json", []byte(`{"status":{"policyGeneration":1099511627776}}`)))).To(Succeed())

		f.edit(ctx, bridgePolicy("203.0.113.11"))
		for _, n := range f.Nodes()[:2] {
			awaitKernel(ctx, n, bridged("203.0.113.11")...)
		}
		f.awaitEvents(ctx, "bridge", "EnactmentIgnored")

		Expect(victim.Handler(ctx, "start")).To(Succeed())
		awaitKernel(ctx, victim, bridged("203.0.113.11")...)
		Expect(f.awaitPolicy(ctx, "bridge", policySuccess)).To(Equal("3/3 nodes successfully configured"))
	}, SpecTimeout(specTimeout))
})

// asHandlerOf is a client with the node's own kubeconfig, on the node's network.
func (f *fleet) asHandlerOf(ctx context.Context, n *lab.Node) client.Client {
	GinkgoHelper()
	kubeconfig, err := os.ReadFile(filepath.Join(filepath.Dir(n.LogPath("handler")), "kubeconfig"))
	Expect(err).NotTo(HaveOccurred())
	config, err := clientcmd.RESTConfigFromKubeConfig(kubeconfig)
	Expect(err).NotTo(HaveOccurred())
	config.Dial = n.Dial
	stolen, err := client.New(config, client.Options{Scheme: f.Client.Scheme(), Mapper: f.Client.RESTMapper()})
	Expect(err).NotTo(HaveOccurred())
	var policies v1.NodeNetworkConfigurationPolicyList
	Expect(stolen.List(ctx, &policies)).To(Succeed())
	return stolen
}
