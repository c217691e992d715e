//go:build linux

package suite

import (
	"context"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	v1 "github.com/nmstate/kubernetes-nmstate/api/v1"
)

// The rows of the tables of conditions that no other spec waits for
// (api-contract).
var (
	policyProgressing = table{
		v1.PolicyDegraded:    "Unknown ConfigurationProgressing",
		v1.PolicyAvailable:   "Unknown ConfigurationProgressing",
		v1.PolicyProgressing: "True ConfigurationProgressing",
		v1.PolicyIgnored:     "False ConfigurationProgressing",
	}
	policyIgnored = table{
		v1.PolicyDegraded:    "False NoMatchingNode",
		v1.PolicyAvailable:   "False NoMatchingNode",
		v1.PolicyProgressing: "False NoMatchingNode",
		v1.PolicyIgnored:     "True NoMatchingNode",
	}
	enactmentProgressing = table{
		v1.EnactmentFailing:     "Unknown ConfigurationProgressing",
		v1.EnactmentAvailable:   "Unknown ConfigurationProgressing",
		v1.EnactmentProgressing: "True ConfigurationProgressing",
		v1.EnactmentPending:     "False ConfigurationProgressing",
		v1.EnactmentAborted:     "False ConfigurationProgressing",
	}
	enactmentPending = table{
		v1.EnactmentFailing:     "False MaxUnavailableLimitReached",
		v1.EnactmentAvailable:   "False MaxUnavailableLimitReached",
		v1.EnactmentProgressing: "False MaxUnavailableLimitReached",
		v1.EnactmentPending:     "True MaxUnavailableLimitReached",
		v1.EnactmentAborted:     "False MaxUnavailableLimitReached",
	}
	enactmentRetrying = table{
		v1.EnactmentFailing:     "True Retrying",
		v1.EnactmentAvailable:   "False Retrying",
		v1.EnactmentProgressing: "True Retrying",
		v1.EnactmentPending:     "False Retrying",
		v1.EnactmentAborted:     "False SuccessfullyConfigured", // the older project's quirk
	}
)

var _ = Describe("The conditions of a policy and its enactments", func() {
	It("tell who changes and who waits while a rollout is under way", func(ctx SpecContext) {
		f := take(ctx, threeNodes)
		policy := canaryPolicy("  probes: [{type: confirm, timeoutSeconds: 120}]")
		f.create(ctx, strings.Replace(policy, `maxUnavailable: "100%"`, "maxUnavailable: 1", 1))
		f.awaitPolicy(ctx, "canary", policyProgressing)
		Eventually(ctx, func(g Gomega) {
			got := f.rowsOf(ctx, g, "canary")
			g.Expect(got).To(ConsistOf(enactmentProgressing, enactmentPending, enactmentPending))
			current, err := f.policy(ctx, "canary")
			g.Expect(err).NotTo(HaveOccurred())
			g.Expect(said(current.Status.Conditions, v1.PolicyProgressing)).To(Equal("Policy is progressing 0/3 nodes finished, 2 pending"))
		}).Should(Succeed())
		f.confirm(ctx, "canary")
		Expect(f.awaitPolicy(ctx, "canary", policySuccess)).To(Equal("3/3 nodes successfully configured"))
		for _, n := range f.Nodes() {
			f.awaitEnactment(ctx, n.Name, "canary", enactmentSuccess)
		}
	}, SpecTimeout(specTimeout))

	It("tell that no node matches, and that a failure is tried again", func(ctx SpecContext) {
		f := take(ctx, oneNode)
		f.create(ctx, `
apiVersion: nmstate.io/v1
kind: NodeNetworkConfigurationPolicy
metadata: {name: nowhere}
spec:
  nodeSelector: {example.com/no-such-label: "yes"}
  desiredState:
    interfaces: [{name: eth1, type: ethernet, state: up}]
`)
		f.awaitPolicy(ctx, "nowhere", policyIgnored)
		policy, err := f.policy(ctx, "nowhere")
		Expect(err).NotTo(HaveOccurred())
		Expect(said(policy.Status.Conditions, v1.PolicyIgnored)).To(Equal("Policy does not match any node"))

		f.create(ctx, `
apiVersion: nmstate.io/v1
kind: NodeNetworkConfigurationPolicy
metadata: {name: too-small}
spec:
  desiredState:
    interfaces: [{name: eth1, type: ethernet, state: up, mtu: 600, ipv6: {enabled: true}}]
`)
		n := f.node()
		enactment := f.awaitEnactment(ctx, n.Name, "too-small", enactmentRetrying)
		Expect(said(enactment.Status.Conditions, v1.EnactmentFailing)).To(MatchRegexp(`MTU.* Retrying [1-5]/5$`))
		f.awaitEnactment(ctx, n.Name, "too-small", enactmentFailed)
		f.awaitPolicy(ctx, "too-small", policyFailed)
		f.expectAsBefore(ctx, n)
	}, SpecTimeout(specTimeout))
})

// rowsOf are the tables of a policy's enactments of its newest generation.
func (f *fleet) rowsOf(ctx context.Context, g Gomega, policy string) []table {
	current, err := f.policy(ctx, policy)
	g.Expect(err).NotTo(HaveOccurred())
	var rows []table
	for _, e := range f.enactmentsOf(ctx, policy) {
		g.Expect(e.Status.PolicyGeneration).To(Equal(current.Generation))
		rows = append(rows, tableOf(e.Status.Conditions))
	}
	return rows
}
