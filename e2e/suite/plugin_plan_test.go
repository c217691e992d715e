//go:build linux

package suite

import (
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	v1 "github.com/nmstate/kubernetes-nmstate/api/v1"
	"github.com/nmstate/kubernetes-nmstate/plugin/view"
)

// fileOf is a file with the manifest.
func fileOf(manifest string) string {
	GinkgoHelper()
	name := filepath.Join(GinkgoT().TempDir(), "policy.yaml")
	Expect(os.WriteFile(name, []byte(manifest), 0o600)).To(Succeed())
	return name
}

// planOf is what the plugin shows of a manifest.
func (f *fleet) planOf(ctx context.Context, manifest string) (view.Plan, int) {
	GinkgoHelper()
	out, progress, code := f.plugin(ctx, "plan", "-f", fileOf(manifest), "-o", "json")
	var plans []view.Plan
	Expect(json.Unmarshal([]byte(out), &plans)).To(Succeed(), progress)
	Expect(plans).To(HaveLen(1))
	return plans[0], code
}

func (f *fleet) policies(ctx context.Context) []string {
	GinkgoHelper()
	var list v1.NodeNetworkConfigurationPolicyList
	Expect(f.Client.List(ctx, &list)).To(Succeed())
	var names []string
	for i := range list.Items {
		names = append(names, list.Items[i].Name)
	}
	return names
}

var _ = Describe("A plan that the kubectl plugin makes", func() {
	It("shows a new policy and an edit by groups of nodes, touches nothing, and is what is applied then", func(ctx SpecContext) {
		f := take(ctx, threeNodes)
		const other = `[{name: eth1, type: ethernet, state: up, mtu: 1300}]`
		out, _, code := f.plugin(ctx, "plan", "-f", fileOf(planPolicy("mtu", "onDelete: Revert", planMTU)))
		Expect(code).To(Equal(1))
		Expect(out).To(And(HavePrefix("mtu  3 Reapply: eth1: it comes up\n"), ContainSubstring("mtu: 1500 -> 1400\n")))
		Expect(f.policies(ctx)).To(BeEmpty())
		for _, n := range f.Nodes() {
			f.expectAsBefore(ctx, n)
		}

		f.create(ctx, planPolicy("mtu", "onDelete: Revert", planMTU))
		f.awaitAvailable(ctx, "mtu")
		same, code := f.planOf(ctx, planPolicy("mtu", "onDelete: Revert", planMTU))
		Expect(code).To(Equal(0))
		Expect(same.Says).To(Equal("nothing would change on 3 nodes"))

		before, err := f.policy(ctx, "mtu")
		Expect(err).NotTo(HaveOccurred())
		edit, code := f.planOf(ctx, planPolicy("mtu", "onDelete: Revert", other))
		Expect(code).To(Equal(1))
		Expect(edit.Groups).To(HaveExactElements(And(HaveField("Nodes", HaveLen(3)), HaveField("Interfaces", HaveExactElements(HaveField("Changes", HaveExactElements("mtu: 1400 -> 1300")))))))
		after, err := f.policy(ctx, "mtu")
		Expect(err).NotTo(HaveOccurred())
		Expect(after.Generation).To(Equal(before.Generation))
		Expect(f.policies(ctx)).To(HaveExactElements("mtu"))

		// A policy that is in the way is told, as it would be of the edit itself.
		refused, code := f.planOf(ctx, planPolicy("other", "onDelete: Revert", other))
		Expect(code).To(Equal(2))
		Expect(refused.Refused).To(HaveExactElements(And(HaveField("Nodes", HaveLen(3)), HaveField("Cause", ContainSubstring("conflicts with policy mtu")))))

		_, progress, code := f.plugin(ctx, "apply", "-f", fileOf(planPolicy("mtu", "onDelete: Revert", other)), "--plan", "0123456789abcdef")
		Expect(code).To(Equal(0), progress)
		_, _, code = f.plugin(ctx, "status", "mtu", "--wait", "--timeout", "2m")
		Expect(code).To(Equal(1))
		_, progress, code = f.plugin(ctx, "apply", "-f", fileOf(planPolicy("mtu", "onDelete: Revert", other)), "--plan", edit.Groups[0].Hash)
		Expect(code).To(Equal(0), progress)
		f.awaitAvailable(ctx, "mtu")
		awaitKernel(ctx, f.node(), []string{`link {`, `"ifname":"eth1"`, `"mtu":1300`})
	}, SpecTimeout(specTimeout))

	It("leaves nothing behind when it is interrupted", func(ctx SpecContext) {
		f := take(ctx, oneNode)
		// No node answers: its handler is stopped.
		Expect(f.node().Handler(ctx, "stop")).To(Succeed())
		cmd := exec.CommandContext(ctx, filepath.Join(bin, "kubectl-nmstate"), "plan", "-f", fileOf(planPolicy("mtu", "onDelete: Revert", planMTU)), "--kubeconfig", f.Kubeconfig())
		cmd.Stdout, cmd.Stderr = GinkgoWriter, GinkgoWriter
		Expect(cmd.Start()).To(Succeed())
		Eventually(ctx, func() []string { return f.policies(ctx) }).Should(HaveExactElements(HavePrefix("mtu-plan-")))
		Expect(cmd.Process.Signal(os.Interrupt)).To(Succeed())
		Expect(cmd.Wait()).To(MatchError("exit status 2"))
		Expect(f.policies(ctx)).To(BeEmpty())
	}, SpecTimeout(specTimeout))
})
