//go:build linux

package suite

import (
	"fmt"
	"strings"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
)

// A policy's null goes through the API server, the enactment, the node's spec and the
// journal. Lost on the way it leaves an empty column behind, which takes away every
// key, the node's system-id among them.
var _ = Describe("Open vSwitch's database", func() {
	It("loses the one key that a policy takes away, and has it again when the policy goes", func(ctx SpecContext) {
		f := take(ctx, oneNode)
		startOpenVSwitch(ctx, f)
		f.create(ctx, reverting(statePolicy(`{ovs-db: {external_ids: {count: null, never: null}, other_config: {new: "1", vlan-limit: null}}}`)))
		f.awaitEnactment(ctx, f.node().Name, "state", enactmentSuccess)
		Expect(openVSwitch(ctx, f)).To(Equal(`external_ids={system-id=rack7} other_config={new="1"}`))
		f.delete(ctx, "state")
		Eventually(func() string { return openVSwitch(ctx, f) }).WithContext(ctx).WithTimeout(time.Minute).
			Should(Equal(`external_ids={count="3", system-id=rack7} other_config={vlan-limit="0"}`))
	}, SpecTimeout(3*time.Minute))
})

const openVSwitchSocket = "unix:/run/openvswitch/db.sock"

// startOpenVSwitch starts the database server in the node, with some keys.
func startOpenVSwitch(ctx SpecContext, f *fleet) {
	script := `set -e
mkdir -p /run/openvswitch
mount -t tmpfs tmpfs /run/openvswitch
cd /run/openvswitch
ovsdb-tool create conf.db /usr/share/openvswitch/vswitch.ovsschema
ovsdb-server conf.db --remote=punix:/run/openvswitch/db.sock --unixctl=/run/openvswitch/ctl --pidfile=/run/openvswitch/pid --detach --log-file=/dev/null
`
	_, err := f.node().Exec(ctx, "sh", "-c", script)
	Expect(err).NotTo(HaveOccurred())
	DeferCleanup(func(ctx SpecContext) {
		_, err := f.node().Exec(ctx, "sh", "-c", "kill $(cat /run/openvswitch/pid); umount -l /run/openvswitch")
		Expect(err).NotTo(HaveOccurred())
	})
	_, err = f.node().Exec(ctx, "ovsdb-client", "transact", openVSwitchSocket, `["Open_vSwitch", {"op": "insert", "table": "Open_vSwitch", "row": {
		"external_ids": ["map", [["system-id", "rack7"], ["count", "3"]]], "other_config": ["map", [["vlan-limit", "0"]]]}}]`)
	Expect(err).NotTo(HaveOccurred())
}

// openVSwitch is what the database holds for the node.
func openVSwitch(ctx SpecContext, f *fleet) string {
	var columns []string
	for _, column := range []string{"external_ids", "other_config"} {
		out, err := f.node().Exec(ctx, "ovsdb-client", "dump", "--format=list", "--data=string", openVSwitchSocket, "Open_vSwitch", "Open_vSwitch", column)
		Expect(err).NotTo(HaveOccurred())
		_, value, found := strings.Cut(string(out), ":")
		Expect(found).To(BeTrue(), "the database answers %q", out)
		columns = append(columns, fmt.Sprintf("%s=%s", column, strings.TrimSpace(value)))
	}
	return strings.Join(columns, " ")
}
