//go:build linux

package suite

import (
	"bytes"
	"context"
	"errors"
	"os/exec"
	"path/filepath"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/nmstate/kubernetes-nmstate/e2e/lab"
)

var _ = Describe("handler --once", func() {
	It("exits 0 when the node is as its policies say, and again when there is nothing to do", func(ctx SpecContext) {
		f := take(ctx, oneNode)
		n := f.node()
		Expect(n.Handler(ctx, "stop")).To(Succeed())
		f.create(ctx, bridgePolicy("203.0.113.10"))
		code, last := once(ctx, n)
		Expect(code).To(BeZero(), last)
		f.awaitEnactment(ctx, n.Name, "bridge", enactmentSuccess)
		awaitKernel(ctx, n, bridged("203.0.113.10")...)
		before := applies(n)
		code, last = once(ctx, n)
		Expect(code).To(BeZero(), last)
		Expect(applies(n)).To(Equal(before))
	}, SpecTimeout(specTimeout))

	It("exits with one line when a policy fails, and the node is as before", func(ctx SpecContext) {
		f := take(ctx, oneNode)
		n := f.node()
		Expect(n.Handler(ctx, "stop")).To(Succeed())
		defer func() { Expect(n.Handler(ctx, "start")).To(Succeed()) }()
		f.create(ctx, cutOffPolicy())
		code, last := once(ctx, n)
		AddReportEntry("said", last)
		Expect(code).To(Equal(1))
		Expect(last).To(And(HavePrefix("handler: node1.cut-off: "), ContainSubstring("api-server"), Not(ContainSubstring("api-server: no answer"))))
		f.awaitAsBefore(ctx, n)
		f.awaitEnactment(ctx, n.Name, "cut-off", enactmentFailed)
	}, SpecTimeout(specTimeout))
})

// once runs one pass in the node and returns its exit code and last words.
func once(ctx context.Context, n *lab.Node, args ...string) (code int, last string) {
	GinkgoHelper()
	code, _, last = onceTold(ctx, n, args...)
	return code, last
}

// onceTold returns what the pass printed as well.
func onceTold(ctx context.Context, n *lab.Node, args ...string) (code int, printed, last string) {
	GinkgoHelper()
	var stdout, stderr bytes.Buffer
	err := n.Run(ctx, lab.Command{
		Args: append([]string{
			filepath.Join(bin, "handler"), "--once", "--once-timeout=90s", "--revert-helper", filepath.Join(bin, "nmstate-revert"),
		}, args...),
		Stdout: &stdout, Stderr: &stderr,
	})
	GinkgoWriter.Println(stdout.String(), stderr.String())
	code, last = ending(err, stderr.String())
	return code, stdout.String(), last
}

// ending is a program's exit code and last words.
func ending(err error, stderr string) (code int, last string) {
	GinkgoHelper()
	lines := strings.Split(strings.TrimSpace(stderr), "\n")
	last = lines[len(lines)-1]
	ended := &exec.ExitError{}
	if errors.As(err, &ended) {
		return ended.ExitCode(), last
	}
	Expect(err).NotTo(HaveOccurred())
	return 0, last
}
