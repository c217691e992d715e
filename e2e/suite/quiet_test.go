//go:build linux

package suite

import (
	"slices"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/nmstate/kubernetes-nmstate/e2e/controlplane"
)

var _ = Describe("A node that is as its policy says", func() {
	It("is not applied again by a handler's restart or a label, and writes nothing while idle", func(ctx SpecContext) {
		f := take(ctx, oneNode)
		n := f.node()
		never := applies(n)
		f.create(ctx, bridgePolicy("203.0.113.10"))
		f.awaitEnactment(ctx, n.Name, "bridge", enactmentSuccess)
		f.awaitPolicy(ctx, "bridge", policySuccess)
		before := applies(n)
		Expect(before).To(Equal(never+1), "applies of the policy")

		restarts := unit(ctx, n, "handler").Restarts
		killHandler(ctx, n)
		awaitHandler(ctx, n, restarts+1)
		Expect(n.Handler(ctx, "restart")).To(Succeed())

		var node corev1.Node
		Expect(f.Client.Get(ctx, client.ObjectKey{Name: n.Name}, &node)).To(Succeed())
		labelled := node.DeepCopy()
		labelled.Labels["example.com/unrelated"] = "yes"
		Expect(f.Client.Patch(ctx, labelled, client.MergeFrom(&node))).To(Succeed())

		// What the restart itself has to say is said within seconds.
		const quiet = 20 * time.Second
		settle, since := time.Now().Add(patience), time.Now()
		for time.Since(since) < quiet && time.Now().Before(settle) {
			written := f.writes(since)
			if len(written) > 0 {
				GinkgoWriter.Println(controlplane.Summary(written))
				since = written[len(written)-1].Time.Add(time.Millisecond)
			}
			time.Sleep(time.Second)
		}
		Expect(time.Since(since)).To(BeNumerically(">=", quiet), "there was always something written")
		Expect(applies(n)).To(Equal(before), "applies after the restart and the label")
		f.awaitEnactment(ctx, n.Name, "bridge", enactmentSuccess)
	}, SpecTimeout(specTimeout))
})

// writes are those of the product since then.
func (f *fleet) writes(since time.Time) []controlplane.Request {
	GinkgoHelper()
	all, err := controlplane.ReadRequests(f.audit, controlplane.Filter{
		Since: since,
		Verbs: []string{"create", "update", "patch", "delete", "deletecollection"},
	})
	Expect(err).NotTo(HaveOccurred())
	return slices.DeleteFunc(all, func(r controlplane.Request) bool {
		return r.Group != "nmstate.io" && r.Resource != "events"
	})
}
