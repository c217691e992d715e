//go:build linux

package suite

import (
	"os/exec"
	"path/filepath"

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

	It("of a few words does without completion: nmstate-revert", func(ctx SpecContext) {
		Expect(said(ctx, "nmstate-revert", "--version")).To(MatchRegexp(`^nmstate-revert with nmstate \d+\.\d+\.\d+\n$`))
		Expect(said(ctx, "nmstate-revert", "--help")).To(ContainSubstring("nmstate-revert"))
	}, SpecTimeout(specTimeout))
})
