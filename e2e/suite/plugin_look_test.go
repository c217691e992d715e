//go:build linux

package suite

import (
	"encoding/json"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/nmstate/kubernetes-nmstate/plugin/view"
)

var _ = Describe("Looking at nodes with the kubectl plugin", func() {
	It("lists interfaces, tells who has set one, and what a node does not have", func(ctx SpecContext) {
		f := take(ctx, threeNodes)
		f.create(ctx, planPolicy("mtu", "drift: Report", planMTU))
		f.awaitAvailable(ctx, "mtu")
		first := f.node()

		var found []view.Interface
		out, progress, code := f.plugin(ctx, "get", "interfaces", "--where", "mtu == 1400", "-o", "json")
		Expect(code).To(Equal(0), progress)
		Expect(json.Unmarshal([]byte(out), &found)).To(Succeed())
		Expect(found).To(HaveLen(3))
		Expect(found).To(HaveEach(And(HaveField("Name", "eth1"), HaveField("MAC", Not(BeEmpty())), HaveField("Policies", HaveExactElements("mtu")))))
		_, progress, code = f.plugin(ctx, "get", "interfaces", "--where", "mtu = 1400")
		Expect(code).To(Equal(2))
		Expect(progress).To(HavePrefix("kubectl-nmstate: usage: --where mtu = 1400: column 5: "))

		_, progress, code = f.plugin(ctx, "diff", first.Name)
		Expect(code).To(Equal(0), progress)
		_, err := first.Exec(ctx, "ip", "link", "set", "eth1", "mtu", "1300")
		Expect(err).NotTo(HaveOccurred())
		f.awaitDrifted(ctx, first, metav1.ConditionTrue)
		out, progress, code = f.plugin(ctx, "diff", first.Name)
		Expect(code).To(Equal(1), progress)
		Expect(out).To(And(ContainSubstring("\n-interfaces[eth1].mtu: 1300\n+interfaces[eth1].mtu: 1400\n"), ContainSubstring("\n interfaces[eth1].type: ethernet\n")))

		var settings []view.Setting
		out, progress, code = f.plugin(ctx, "why", first.Name, "eth1.mtu", "-o", "json")
		Expect(code).To(Equal(0), progress)
		Expect(json.Unmarshal([]byte(out), &settings)).To(Succeed())
		Expect(settings).To(HaveExactElements(And(
			HaveField("Value", "1400"), HaveField("Policies", HaveExactElements("mtu")), HaveField("Since", Not(BeNil())), HaveField("Drift", HaveField("Found", "1300")),
		)))

		// What a policy wants that failed is no part of the node's desired state.
		_, err = first.Exec(ctx, "ip", "link", "set", "eth1", "mtu", "1400")
		Expect(err).NotTo(HaveOccurred())
		f.awaitDrifted(ctx, first, metav1.ConditionFalse)
		f.create(ctx, planPolicy("other", "onDelete: Revert", `[{name: eth1, type: ethernet, state: up, mtu: 1300}]`))
		f.awaitFailing(ctx, first.Name, "other")
		out, progress, code = f.plugin(ctx, "diff", first.Name)
		Expect(code).To(Equal(1), progress)
		Expect(out).To(ContainSubstring("desired by policy other, which is not applied: Failing: policy other conflicts with policy mtu"))
	}, SpecTimeout(specTimeout))
})
