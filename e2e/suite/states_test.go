//go:build linux

package suite

import (
	"fmt"
	"strings"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"golang.org/x/tools/txtar"
)

// The read-back is stricter than the field: a state that nmstate verified and
// that is not found again would be rolled back for ever.
var _ = Describe("A desired state", func() {
	It("of each kind that this kernel can hold is applied, found again, and reported Available", func(ctx SpecContext) {
		states, err := txtar.ParseFile("testdata/states.txtar")
		Expect(err).NotTo(HaveOccurred())
		Expect(len(states.Files)).To(BeNumerically(">=", 16))
		f := take(ctx, oneNode)
		for _, state := range states.Files {
			started := time.Now()
			By(state.Name)
			f.create(ctx, statePolicy(string(state.Data)))
			f.awaitEnactment(ctx, f.node().Name, "state", enactmentSuccess)
			GinkgoWriter.Printf("%s: Available after %.1f s\n", state.Name, time.Since(started).Seconds())
			f.delete(ctx, "state")
			Eventually(func() error {
				_, err := f.enactment(ctx, f.node().Name, "state")
				return err
			}).WithContext(ctx).Should(HaveOccurred(), "the enactment goes with its policy")
		}
	}, SpecTimeout(5*time.Minute))
})

func statePolicy(desired string) string {
	return fmt.Sprintf(`
apiVersion: nmstate.io/v1
kind: NodeNetworkConfigurationPolicy
metadata: {name: state}
spec:
  probeTimeoutSeconds: 20
  desiredState:
    %s
`, strings.ReplaceAll(strings.TrimSpace(desired), "\n", "\n    "))
}
