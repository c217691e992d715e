package kind

import (
	"context"
	"os"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/nmstate/kubernetes-nmstate/e2e/redteam"
)

// stolen is what the lab's suite tries as well, here with the token of a real pod
// whose handler goes on beside it.
func stolen() {
	It("can do what the security page says and no more, and stops no other node", func(ctx SpecContext) {
		k.become(ctx, manifest("tried", everywhere, bridge("e2e-br", "10.33.0.1")), "tried", k.all(), bridged("e2e-br", "10.33.0.1")...)
		rows, err := redteam.Run(ctx, redteam.Thief{
			Client: k.asHandlerOf(ctx, k.workers[0]), Node: k.object(ctx, k.workers[0]), Victim: k.object(ctx, k.workers[1]),
			Policy: "tried", Namespace: namespace,
		})
		Expect(err).NotTo(HaveOccurred())
		Expect(redteam.Compare(rows)).To(BeEmpty())
		k.become(ctx, manifest("afterwards", everywhere, bridge("e2e-br2", "10.34.0.1")), "afterwards", k.all(), bridged("e2e-br2", "10.34.0.1")...)
	}, SpecTimeout(specTimeout))
}

func (c *cluster) object(ctx context.Context, n *node) *corev1.Node {
	GinkgoHelper()
	object := &corev1.Node{}
	Expect(c.Get(ctx, client.ObjectKey{Name: n.name}, object)).To(Succeed())
	return object
}

// asHandlerOf is a client with a token such as the node's handler has: bound to its pod.
func (c *cluster) asHandlerOf(ctx context.Context, n *node) client.Client {
	GinkgoHelper()
	pod := c.awaitHandler(ctx, n, "")
	ask := &authenticationv1.TokenRequest{Spec: authenticationv1.TokenRequestSpec{
		BoundObjectRef: &authenticationv1.BoundObjectReference{APIVersion: "v1", Kind: "Pod", Name: pod.Name, UID: pod.UID},
	}}
	account := &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: pod.Spec.ServiceAccountName}}
	Expect(c.SubResource("token").Create(ctx, account, ask)).To(Succeed())
	config, err := clientcmd.BuildConfigFromFlags("", os.Getenv("KUBECONFIG"))
	Expect(err).NotTo(HaveOccurred())
	config = rest.AnonymousClientConfig(config)
	config.BearerToken, config.QPS = ask.Status.Token, -1
	thief, err := client.New(config, client.Options{Scheme: c.Scheme(), Mapper: c.RESTMapper()})
	Expect(err).NotTo(HaveOccurred())
	return thief
}
