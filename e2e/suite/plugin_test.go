//go:build linux

package suite

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"os/exec"
	"path/filepath"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/nmstate/kubernetes-nmstate/plugin/view"
)

// plugin runs kubectl-nmstate against the fleet's API server.
func (f *fleet) plugin(ctx context.Context, args ...string) (out, progress string, code int) {
	GinkgoHelper()
	cmd := exec.CommandContext(ctx, filepath.Join(bin, "kubectl-nmstate"), append(args, "--kubeconfig", f.Kubeconfig())...)
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	err := cmd.Run()
	var ended *exec.ExitError
	if err != nil && !errors.As(err, &ended) {
		Expect(err).NotTo(HaveOccurred())
	}
	GinkgoWriter.Printf("kubectl nmstate %s: exit code %d\n%s%s", strings.Join(args, " "), cmd.ProcessState.ExitCode(), &stderr, &stdout)
	return stdout.String(), stderr.String(), cmd.ProcessState.ExitCode()
}

// statusOf waits with the plugin, and returns the exit code and what a script gets.
func (f *fleet) statusOf(ctx context.Context, name string) (view.Policy, string, int) {
	GinkgoHelper()
	var policy view.Policy
	out, progress, code := f.plugin(ctx, "status", name, "--wait", "--timeout", "2m", "-o", "json")
	Expect(json.Unmarshal([]byte(out), &policy)).To(Succeed(), progress)
	return policy, progress, code
}

var _ = Describe("The kubectl plugin", func() {
	It("tells a good rollout from a failing one by the exit code, and who failed and why", func(ctx SpecContext) {
		f := take(ctx, threeNodes)
		f.create(ctx, bridgePolicy("203.0.113.10"))
		good, progress, code := f.statusOf(ctx, "bridge")
		Expect(code).To(Equal(0), progress)
		Expect(good.Nodes).To(HaveLen(3))
		Expect(good.Nodes).To(HaveEach(HaveField("Phase", view.Available)))
		Expect(good.Slots.Holders).To(BeEmpty())
		Expect(progress).To(ContainSubstring("bridge: Available: 3/3 nodes successfully configured"))

		f.create(ctx, cutOffPolicy())
		bad, progress, code := f.statusOf(ctx, "cut-off")
		Expect(code).To(Equal(1), progress)
		Expect(bad.Slots).To(And(HaveField("Of", 1), HaveField("Holders", HaveLen(1))))
		Expect(bad.Nodes).To(ContainElement(And(
			HaveField("Name", bad.Slots.Holders[0]), HaveField("Phase", view.Failing), HaveField("Cause", ContainSubstring("api-server")),
		)))
		for _, n := range f.Nodes() {
			f.awaitEnactment(ctx, n.Name, "bridge", enactmentSuccess)
		}
	}, SpecTimeout(specTimeout))

	It("ends with 3 where a person is waited for, and its word lets the rollout go on", func(ctx SpecContext) {
		f := take(ctx, oneNode)
		f.create(ctx, planPolicy("mtu", "mode: Plan", planMTU))
		planned, progress, code := f.statusOf(ctx, "mtu")
		Expect(code).To(Equal(0), progress)
		Expect(planned.Nodes).To(HaveExactElements(HaveField("Phase", view.Planned)))

		f.edit(ctx, planPolicy("mtu", "rollout: {paused: true}", planMTU))
		_, progress, code = f.statusOf(ctx, "mtu")
		Expect(code).To(Equal(3), progress)
		f.edit(ctx, planPolicy("mtu", "rollout: {paused: true}\n  probes: [{type: confirm}]", planMTU))
		out, _, code := f.plugin(ctx, "resume", "mtu")
		Expect(code).To(Equal(0))
		Expect(out).To(Equal("policy mtu: resumed\n"))
		waits, progress, code := f.statusOf(ctx, "mtu")
		Expect(code).To(Equal(3), progress)
		Expect(waits.Nodes).To(HaveExactElements(HaveField("Phase", view.Confirm)))
		_, _, code = f.plugin(ctx, "confirm", "mtu")
		Expect(code).To(Equal(0))
		_, progress, code = f.statusOf(ctx, "mtu")
		Expect(code).To(Equal(0), progress)
		awaitKernel(ctx, f.node(), []string{`link {`, `"ifname":"eth1"`, `"mtu":1400`})
	}, SpecTimeout(specTimeout))
})
