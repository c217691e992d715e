//go:build linux

package suite

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	v1 "github.com/nmstate/kubernetes-nmstate/api/v1"
	"github.com/nmstate/kubernetes-nmstate/e2e/lab"
	"github.com/nmstate/kubernetes-nmstate/handler/state"
)

// manyBridges make a report beyond the bound; with all scenarios as many as we promise,
// whose whole report etcd does not take. nmstate takes long to read them: four times in
// the life of a change.
func manyBridges() int {
	if os.Getenv(allOfThem) == "1" {
		return 1500
	}
	return 350
}

// makeBridges are somebody else's: NetworkManager has no profile for them.
func makeBridges(ctx context.Context, n *lab.Node, count int) {
	GinkgoHelper()
	var batch strings.Builder
	for i := range count {
		fmt.Fprintf(&batch, "link add many%d type bridge\nlink set many%d up\n", i, i)
	}
	Expect(n.Run(ctx, lab.Command{Args: []string{"ip", "-batch", "-"}, Stdin: strings.NewReader(batch.String())})).To(Succeed())
}

var _ = Describe("A node with very many interfaces", func() {
	It("is reported within the bound, tells the whole when asked, and is configured as a small one", func(ctx SpecContext) {
		f := take(ctx, oneNode)
		n := f.node()
		count := manyBridges()
		started := time.Now()
		makeBridges(ctx, n, count)
		GinkgoWriter.Printf("%d bridges after %.1f s\n", count, time.Since(started).Seconds())

		var status v1.NodeNetworkStateStatus
		Eventually(ctx, func(g Gomega) {
			status = f.mustState(ctx, n).Status
			g.Expect(status.Truncated).NotTo(BeNil())
			g.Expect(status.Truncated.Omitted).To(ContainElement(And(
				HaveField("Type", "linux-bridge"), HaveField("Count", BeEquivalentTo(count)), HaveField("Names", fmt.Sprintf("many[0-%d]", count-1)))))
		}).WithTimeout(4 * time.Minute).Should(Succeed())
		said, err := json.Marshal(status.Truncated)
		Expect(err).NotTo(HaveOccurred())
		GinkgoWriter.Printf("reported after %.1f s: %d bytes of %d, and %d that say what is left out\n", time.Since(started).Seconds(),
			len(status.CurrentState.Raw), status.Truncated.Size, len(said))
		Expect(len(status.CurrentState.Raw) + len(said)).To(BeNumerically("<=", 512<<10))
		Expect(string(status.CurrentState.Raw)).To(And(ContainSubstring(`"eth0"`), ContainSubstring(`"0.0.0.0/0"`)))

		asked := time.Now()
		printed, err := n.Exec(ctx, filepath.Join(bin, "handler"), "state", "-o", "json")
		Expect(err).NotTo(HaveOccurred())
		whole, err := state.Parse(printed)
		Expect(err).NotTo(HaveOccurred())
		GinkgoWriter.Printf("handler state after %.1f s, which is what nmstate takes to read the node: %d bytes\n", time.Since(asked).Seconds(), len(printed))
		_, there := whole.Interface(fmt.Sprintf("many%d", count-1))
		Expect(there).To(BeTrue())

		applied := time.Now()
		// The window has reading the node back in it, which nmstate takes seconds for here.
		f.create(ctx, strings.Replace(bridgePolicy("203.0.113.10"), fmt.Sprintf("probeTimeoutSeconds: %d", window), "probeTimeoutSeconds: 120", 1))
		Eventually(ctx, func(g Gomega) { // nmstate reads the node some times in an apply.
			enactment, err := f.enactment(ctx, n.Name, "bridge")
			g.Expect(err).NotTo(HaveOccurred())
			g.Expect(tableOf(enactment.Status.Conditions)).To(Equal(enactmentSuccess))
		}).WithTimeout(8 * time.Minute).Should(Succeed())
		GinkgoWriter.Printf("a policy Available after %.1f s\n", time.Since(applied).Seconds())
		Eventually(ctx, func(g Gomega) {
			g.Expect(string(f.mustState(ctx, n).Status.CurrentState.Raw)).To(ContainSubstring(`"br1"`))
		}).Should(Succeed(), "what a policy names is reported")
	}, SpecTimeout(10*time.Minute))
})
