//go:build linux

package suite

import (
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
)

const refusedHead = `
apiVersion: nmstate.io/v1
kind: NodeNetworkConfigurationPolicy
metadata: {name: refused}
spec:
  desiredState:
    interfaces:
`

var _ = Describe("A desired state that cannot be", func() {
	DescribeTable("is refused with its reason and changes nothing",
		func(ctx SpecContext, interfaces, reason string) {
			f := take(ctx, oneNode)
			n := f.node()
			f.create(ctx, refusedHead+interfaces)
			message := f.awaitFailing(ctx, n.Name, "refused")
			AddReportEntry("said", message)
			Expect(message).To(ContainSubstring(reason))
			f.awaitAsBefore(ctx, n)
			Expect(checkpoints(ctx, n)).To(BeEmpty())
		},
		Entry("by libnmstate: a bond that refers to a port that is not there", `
    - {name: br1, type: linux-bridge, state: up, bridge: {port: [{name: eth9, vlan: {}}]}}
`, "eth9", SpecTimeout(specTimeout)),
		Entry("by libnmstate: an MTU below IPv6's least", `
    - {name: eth1, type: ethernet, state: up, mtu: 600, ipv6: {enabled: true}}
`, "mtu", SpecTimeout(specTimeout)),
		Entry("by name: a key that is misspelt", `
    - {name: eth1, type: ethernet, state: up, ipv4: {enabeld: true}}
`, `did you mean "enabled"?`, SpecTimeout(specTimeout)),
		Entry("by name: a type that does not exist", `
    - {name: br1, type: linux-brigde, state: up}
`, `did you mean "linux-bridge"?`, SpecTimeout(specTimeout)),
	)
})
