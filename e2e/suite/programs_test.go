//go:build linux

package suite

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
)

var _ = Describe("A program", func() {
	said := func(ctx SpecContext, program string, args ...string) string {
		GinkgoHelper()
		out, err := exec.CommandContext(ctx, filepath.Join(bin, program), args...).CombinedOutput()
		Expect(err).NotTo(HaveOccurred(), "%s %v: %s", program, args, out)
		return string(out)
	}

	DescribeTable("tells its version and how it is used, and completes in a shell", func(ctx SpecContext, program string) {
		Expect(said(ctx, program, "--version")).To(MatchRegexp(`^` + program + ` version \S+\n$`))
		Expect(said(ctx, program, "--help")).To(And(ContainSubstring("Usage:"), ContainSubstring("Examples:"), ContainSubstring("--version")))
		Expect(said(ctx, program, "completion", "bash")).To(ContainSubstring("__start_" + program))
	},
		Entry("handler", "handler", SpecTimeout(specTimeout)),
		Entry("controllers", "controllers", SpecTimeout(specTimeout)),
		Entry("kubectl-nmstate", "kubectl-nmstate", SpecTimeout(specTimeout)),
		Entry("lab", "lab", SpecTimeout(specTimeout)),
		Entry("control-plane", "control-plane", SpecTimeout(specTimeout)),
	)

	It("of the name handler prints the profiles for a state, and one line of what is wrong with it", func(ctx SpecContext) {
		file := filepath.Join(GinkgoT().TempDir(), "state.yaml")
		profiles := func(state string, args ...string) (string, error) {
			Expect(os.WriteFile(file, []byte(state), 0o600)).To(Succeed())
			cmd := exec.CommandContext(ctx, filepath.Join(bin, "handler"), append([]string{"profiles"}, args...)...)
			cmd.Stdin = strings.NewReader(state)
			out, err := cmd.CombinedOutput()
			return string(out), err
		}
		const state = "{interfaces: [{name: eth1, type: ethernet, state: up, mtu: 1400}]}"
		for _, args := range [][]string{{}, {"-"}, {file}} {
			out, err := profiles(state, args...)
			Expect(err).NotTo(HaveOccurred())
			Expect(out).To(And(HavePrefix("# eth1.nmconnection\n[connection]\n"), ContainSubstring("\nmtu=1400\n")))
		}
		files := map[string]string{}
		out, err := profiles(state, "-o", "json")
		Expect(err).NotTo(HaveOccurred())
		Expect(json.Unmarshal([]byte(out), &files)).To(Succeed())
		Expect(files).To(HaveKeyWithValue("eth1.nmconnection", ContainSubstring("\nmtu=1400\n")))
		for wrong, want := range map[string]string{
			"interfaces: [": "reading the network state", "{interfaces: [{name: eth1, type: ethernet, mtu: many}]}": "generating the profiles",
		} {
			out, err := profiles(wrong)
			Expect(err).To(HaveOccurred())
			Expect(out).To(MatchRegexp("^handler: " + want + ": [^\n]+\n$"))
		}
	}, SpecTimeout(specTimeout))

	It("of a few words does without completion: nmstate-revert", func(ctx SpecContext) {
		Expect(said(ctx, "nmstate-revert", "--version")).To(MatchRegexp(`^nmstate-revert with nmstate \d+\.\d+\.\d+\n$`))
		Expect(said(ctx, "nmstate-revert", "--help")).To(ContainSubstring("nmstate-revert"))
	}, SpecTimeout(specTimeout))
})
