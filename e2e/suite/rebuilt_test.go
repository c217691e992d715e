//go:build linux

package suite

import (
	"bytes"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"golang.org/x/tools/txtar"
	"sigs.k8s.io/yaml"

	v1 "github.com/nmstate/kubernetes-nmstate/api/v1"
	"github.com/nmstate/kubernetes-nmstate/e2e/lab"
)

// everyKind is what this kernel can hold of all that a policy makes.
const everyKind = `
interfaces:
- {name: eth1, type: ethernet, state: up, mtu: 1400}
- name: br1
  type: linux-bridge
  state: up
  mtu: 1400
  bridge: {options: {stp: {enabled: false}, mac-ageing-time: 200}, port: [{name: eth1, stp-path-cost: 50}]}
  ipv4: {enabled: true, dhcp: false, address: [{ip: 198.51.100.10, prefix-length: 24}, {ip: 203.0.113.10, prefix-length: 26}]}
  ipv6: {enabled: true, dhcp: false, autoconf: false, address: [{ip: "2001:db8:51::10", prefix-length: 64}]}
- {name: eth2, type: ethernet, state: up, mtu: 1450, ipv4: {enabled: true, dhcp: false, address: [{ip: 198.18.2.11, prefix-length: 24}]}}
- name: mac1
  type: mac-vlan
  state: up
  mac-vlan: {base-iface: eth2, mode: bridge, promiscuous: true}
  ipv4: {enabled: true, dhcp: false, address: [{ip: 198.18.2.12, prefix-length: 24}]}
- {name: vx1, type: vxlan, state: up, vxlan: {base-iface: eth2, id: 42, remote: 198.18.2.99, destination-port: 4789}}
- {name: veth9, type: veth, state: up, veth: {peer: veth9p}, ipv4: {enabled: true, dhcp: false, address: [{ip: 203.0.113.129, prefix-length: 28}]}}
- {name: veth9p, type: veth, state: up, veth: {peer: veth9}}
routes:
  config:
  - {destination: 10.20.0.0/16, next-hop-address: 198.51.100.254, next-hop-interface: br1, metric: 150}
  - {destination: "2001:db8:99::/48", next-hop-address: "2001:db8:51::fe", next-hop-interface: br1}
  - {destination: 10.30.0.0/16, next-hop-address: 198.18.2.1, next-hop-interface: eth2, table-id: 200}
route-rules:
  config:
  - {ip-from: 198.18.2.0/24, route-table: 200, priority: 1000}
dns-resolver:
  config: {server: [192.0.2.1, "2001:db8::1"], search: [example.com]}
`

// Whoever has a NodeNetworkState has the node, in a lab of its own.
var _ = Describe("A node that was reported", func() {
	It("is rebuilt in another lab with all that a policy made, and reports the same there", func(ctx SpecContext) {
		f := take(ctx, oneNode)
		f.create(ctx, statePolicy(everyKind))
		f.awaitEnactment(ctx, f.node().Name, "state", enactmentSuccess)
		again := f.rebuild(ctx)
		for _, there := range []string{"198.51.100.254", "198.18.2.1", "192.0.2.1"} { // Where the routes lead.
			_, err := again.Exec(ctx, "ping", "-c", "1", "-W", "5", there)
			Expect(err).NotTo(HaveOccurred())
		}
		_, err := again.Exec(ctx, "nmcli", "connection", "modify", "br1", "ipv4.routes", "")
		Expect(err).NotTo(HaveOccurred())
		_, err = again.Exec(ctx, "nmcli", "device", "reapply", "br1")
		Expect(err).NotTo(HaveOccurred())
		said := f.compared(ctx)
		Expect(said).To(HaveSuffix("exit status 1"), "a difference is told")
		Expect(said).To(ContainSubstring("node1: routes.config[10.20.0.0/16 via 198.51.100.254 dev br1 metric about 150]: "))
	}, SpecTimeout(specTimeout))

	It("is rebuilt whatever a policy made of it", func(ctx SpecContext) {
		states, err := txtar.ParseFile("testdata/states.txtar")
		Expect(err).NotTo(HaveOccurred())
		f := take(ctx, oneNode)
		for _, state := range states.Files {
			By(state.Name)
			f.create(ctx, statePolicy(string(state.Data)))
			f.awaitEnactment(ctx, f.node().Name, "state", enactmentSuccess)
			f.rebuild(ctx)
			f.delete(ctx, "state")
			Eventually(func() error {
				_, err := f.enactment(ctx, f.node().Name, "state")
				return err
			}).WithContext(ctx).Should(HaveOccurred(), "the enactment goes with its policy")
		}
	}, SpecTimeout(5*time.Minute))

	It("is rebuilt from each form that a report has, with types that this kernel lacks", func(ctx SpecContext) {
		files, err := filepath.Glob("../lab/rebuild/testdata/*[nl]")
		Expect(err).NotTo(HaveOccurred())
		Expect(len(files)).To(BeNumerically(">=", 4))
		for _, file := range files {
			topology, err := exec.CommandContext(ctx, filepath.Join(bin, "lab"), "from-nns", file).Output()
			Expect(err).NotTo(HaveOccurred(), file)
			_, err = lab.ParseTopology(topology)
			Expect(err).NotTo(HaveOccurred(), file)
		}
	}, SpecTimeout(specTimeout))
})

// reportFile is where rebuild keeps the report of the fleet's node.
func (f *fleet) reportFile() string { return filepath.Join(f.root, "report.yaml") }

// rebuilt is the name of the lab that is made of a report.
const rebuilt = "rebuilt"

// rebuild makes another lab of what the fleet's node reports, and waits until the
// node there reports the same.
func (f *fleet) rebuild(ctx context.Context) *lab.Node {
	GinkgoHelper()
	nns := f.mustState(ctx, f.node())
	nns.APIVersion, nns.Kind = v1.GroupVersion.String(), "NodeNetworkState" // A typed client leaves them out.
	report, err := yaml.Marshal(nns)
	Expect(err).NotTo(HaveOccurred())
	Expect(os.WriteFile(f.reportFile(), report, 0o600)).To(Succeed())
	topology := filepath.Join(f.root, "rebuilt.yaml")
	f.lab(ctx, "from-nns", f.reportFile(), "-o", topology)
	DeferCleanup(func(ctx SpecContext) { f.lab(ctx, "down") }, NodeTimeout(time.Minute))
	f.lab(ctx, "up", "--quiet", "-f", topology, "--control-plane", "none", "--bind", bin)
	Eventually(ctx, func() string { return f.compared(ctx) }).Should(BeEmpty())
	made, err := lab.Open(f.root, rebuilt)
	Expect(err).NotTo(HaveOccurred())
	return made.Nodes()[0]
}

// compared is what lab from-nns --compare says, with its exit code if it is not 0.
func (f *fleet) compared(ctx context.Context) string {
	cmd := exec.CommandContext(ctx, filepath.Join(bin, "lab"), "--root", f.root, "--name", rebuilt, "from-nns", f.reportFile(), "--compare")
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, GinkgoWriter
	if err := cmd.Run(); err != nil {
		return out.String() + err.Error()
	}
	return out.String()
}

// lab runs the program on the lab that is made of a report.
func (f *fleet) lab(ctx context.Context, args ...string) {
	GinkgoHelper()
	out, err := exec.CommandContext(ctx, filepath.Join(bin, "lab"), append([]string{"--root", f.root, "--name", rebuilt}, args...)...).CombinedOutput()
	GinkgoWriter.Printf("lab %v: %s", args, out)
	Expect(err).NotTo(HaveOccurred())
}
