//go:build linux

package suite

import (
	"fmt"
	"os/exec"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	v1 "github.com/nmstate/kubernetes-nmstate/api/v1"
	"github.com/nmstate/kubernetes-nmstate/e2e/lab"
)

var _ = Describe("A policy", func() {
	It("becomes Available on all nodes, and kubectl wait sees it", func(ctx SpecContext) {
		f := take(ctx, threeNodes)
		f.create(ctx, bridgePolicy("203.0.113.10"))
		if _, err := exec.LookPath("kubectl"); err == nil {
			for _, object := range []string{"nncp/bridge", "nnce/node1.bridge", "nnce/node3.bridge", "nns/node1"} {
				out, err := kubectl(ctx, f, "wait", object, "--for=condition=Available", "--timeout=60s").CombinedOutput()
				Expect(err).NotTo(HaveOccurred(), string(out))
			}
		} else {
			AddReportEntry("left out: kubectl wait, since there is no kubectl")
		}
		Expect(f.awaitPolicy(ctx, "bridge", policySuccess)).To(Equal("3/3 nodes successfully configured"))
		for _, n := range f.Nodes() {
			enactment := f.awaitEnactment(ctx, n.Name, "bridge", enactmentSuccess)
			Expect(said(enactment.Status.Conditions, v1.EnactmentAvailable)).To(Equal("successfully reconciled"))
			awaitKernel(ctx, n, bridged("203.0.113.10")...)
			Expect(checkpoints(ctx, n)).To(BeEmpty())
		}
	}, SpecTimeout(specTimeout))

	It("that cuts nodes off is tried on one, which rolls back alone, and is aborted on the rest", func(ctx SpecContext) {
		f := take(ctx, threeNodes)
		watches, applied := map[string]*lab.Watch{}, map[string]int{}
		for _, n := range f.Nodes() {
			watch, err := f.Watch(ctx, n)
			Expect(err).NotTo(HaveOccurred())
			watches[n.Name], applied[n.Name] = watch, applies(n)
		}
		f.create(ctx, cutOffPolicy())
		Expect(f.awaitPolicy(ctx, "cut-off", policyFailed)).To(Equal("1/3 nodes failed to configure, 2 nodes aborted configuration"))

		var failed []string
		for _, n := range f.Nodes() {
			enactment, err := f.enactment(ctx, n.Name, "cut-off")
			Expect(err).NotTo(HaveOccurred())
			outage := watches[n.Name].Stop()
			if message := said(enactment.Status.Conditions, v1.EnactmentFailing); message != "" {
				failed = append(failed, n.Name)
				Expect(tableOf(enactment.Status.Conditions)).To(Equal(enactmentFailed))
				Expect(message).To(And(ContainSubstring("probing for 6s"), ContainSubstring("api-server"), Not(ContainSubstring("\n"))))
				Expect(enactment.Status.Rollback).To(HaveField("Result", "RolledBack"))
				Expect(outage.Gaps).To(HaveLen(1), "outages of %s", n.Name)
				AddReportEntry("outage", fmt.Sprintf("%s away for %.1f s, probe window %d s: %s", n.Name, outage.Longest().Seconds(), window, message))
			} else {
				Expect(tableOf(enactment.Status.Conditions)).To(Equal(enactmentAborted))
				Expect(outage.Gaps).To(BeEmpty(), "outages of %s", n.Name)
				Expect(applies(n)).To(Equal(applied[n.Name]), "applies on %s", n.Name)
			}
			f.awaitAsBefore(ctx, n)
			Expect(checkpoints(ctx, n)).To(BeEmpty())
		}
		Expect(failed).To(HaveLen(1))
	}, SpecTimeout(specTimeout))
})
