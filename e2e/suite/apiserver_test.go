//go:build linux

package suite

import (
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	v1 "github.com/nmstate/kubernetes-nmstate/api/v1"
	"github.com/nmstate/kubernetes-nmstate/handler/txn"
)

var _ = Describe("An API server that stops", func() {
	It("in mid-apply and for good costs a good policy its place: the node goes back within the window and tells it later", func(ctx SpecContext) {
		f := take(ctx, oneNode)
		n := f.node()
		log := follow(n)
		f.create(ctx, bridgePolicy("203.0.113.10"))
		log.until(ctx, string(txn.Applying))
		Expect(f.APIServer(ctx, "kill")).To(Succeed())
		log.until(ctx, string(txn.Probing))
		started := time.Now()
		f.awaitAsBefore(ctx, n)
		AddReportEntry("back", time.Since(started).Round(100*time.Millisecond).String())
		Expect(f.APIServer(ctx, "start")).To(Succeed())
		enactment := f.awaitEnactment(ctx, n.Name, "bridge", enactmentFailed)
		Expect(said(enactment.Status.Conditions, v1.EnactmentFailing)).To(ContainSubstring("api-server"))
		Expect(enactment.Status.Rollback).To(HaveField("Result", "RolledBack"))
		f.expectAsBefore(ctx, n)
	}, SpecTimeout(specTimeout))

	It("during probing does not keep a node from its rollback", func(ctx SpecContext) {
		f := take(ctx, oneNode)
		n := f.node()
		log := follow(n)
		f.create(ctx, cutOffPolicy())
		log.until(ctx, string(txn.Probing))
		Expect(f.APIServer(ctx, "stop")).To(Succeed())
		f.awaitAsBefore(ctx, n)
		Expect(f.APIServer(ctx, "start")).To(Succeed())
		f.awaitEnactment(ctx, n.Name, "cut-off", enactmentFailed)
		f.expectAsBefore(ctx, n)
	}, SpecTimeout(specTimeout))
})
