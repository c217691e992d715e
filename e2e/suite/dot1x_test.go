//go:build linux

package suite

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/nmstate/kubernetes-nmstate/e2e/lab"
)

// dot1x is a port of the lab's switch that asks for 802.1X, and the programs for it:
// hostapd at the port, wpa_supplicant in the node.
type dot1x struct {
	*fleet
	node *lab.Node
	// programs are in this folder.
	programs string
	port     string
	hostapd  *exec.Cmd
}

const dot1xFolder = "/run/dot1x"

// newDot1x readies a node. Nodes without a supplicant are what other specs need, so it goes
// with the spec.
func newDot1x(ctx context.Context, f *fleet, n *lab.Node, nic string) *dot1x {
	GinkgoHelper()
	out, err := exec.CommandContext(ctx, "bash", "../lab/noderoot.sh", "dot1x").Output()
	if failed := (*exec.ExitError)(nil); errors.As(err, &failed) && failed.ExitCode() == 3 && os.Getenv("NMSTATE_STRICT") != "1" {
		Skip("skipped: hack/noderoot.sh dot1x: " + strings.TrimSpace(string(failed.Stderr)))
	}
	Expect(err).NotTo(HaveOccurred(), "hack/noderoot.sh dot1x")
	d := &dot1x{fleet: f, node: n, programs: strings.TrimSpace(string(out)), port: n.Name + "." + nic}
	packed, err := exec.CommandContext(ctx, "sh", "-c", "cd "+d.programs+" && tar -c usr/sbin/wpa_supplicant usr/lib/*/libpcsclite* usr/lib/*/libnl-* usr/share/dbus-1/system.d/wpa_supplicant.conf").Output()
	Expect(err).NotTo(HaveOccurred())
	var said bytes.Buffer
	Expect(n.Run(ctx, lab.Command{
		Args: []string{"sh", "-ec", `
mkdir -p ` + dot1xFolder + ` /etc/dbus-1/system.d /etc/NetworkManager/conf.d
cd ` + dot1xFolder + ` && tar -x
cp usr/share/dbus-1/system.d/wpa_supplicant.conf /etc/dbus-1/system.d/
printf '[connection-dot1x]\nconnection.auth-retries=1\n802-1x.auth-timeout=8\n' >/etc/NetworkManager/conf.d/dot1x.conf
dbus-send --system --print-reply --dest=org.freedesktop.DBus / org.freedesktop.DBus.ReloadConfig
nmcli general reload conf
LD_LIBRARY_PATH=$(echo usr/lib/*) usr/sbin/wpa_supplicant -u -B -P ` + dot1xFolder + `/pid -f ` + dot1xFolder + `/log`},
		Stdin: bytes.NewReader(packed), Stdout: &said, Stderr: &said,
	})).To(Succeed(), said.String())
	DeferCleanup(func(ctx SpecContext) {
		d.lockOut()
		if CurrentSpecReport().Failed() {
			return // The lab goes with it.
		}
		byHand(ctx, n, "sh", "-c", `kill $(cat `+dot1xFolder+`/pid)
rm -rf `+dot1xFolder+` /etc/dbus-1/system.d/wpa_supplicant.conf /etc/NetworkManager/conf.d/dot1x.conf
dbus-send --system --print-reply --dest=org.freedesktop.DBus / org.freedesktop.DBus.ReloadConfig
nmcli general reload conf`)
	}, NodeTimeout(patience))
	return d
}

// letIn has the port open for who knows the password of an identity.
func (d *dot1x) letIn(ctx context.Context, identity, password string) {
	GinkgoHelper()
	d.lockOut()
	folder := GinkgoT().TempDir()
	for name, text := range map[string]string{
		"users":   fmt.Sprintf("%q PWD %q\n", identity, password),
		"hostapd": fmt.Sprintf("interface=%s\ndriver=wired\nieee8021x=1\neap_server=1\neap_user_file=%s/users\nuse_pae_group_addr=1\n", d.port, folder),
	} {
		Expect(os.WriteFile(filepath.Join(folder, name), []byte(text), 0o600)).To(Succeed())
	}
	loaders, err := filepath.Glob(filepath.Join(d.programs, "usr/lib*/ld-linux*"))
	Expect(err).NotTo(HaveOccurred())
	libraries, err := filepath.Glob(filepath.Join(d.programs, "usr/lib/*-linux-gnu*"))
	Expect(err).NotTo(HaveOccurred())
	Expect(loaders).NotTo(BeEmpty())
	// It ends with lockOut, which may be after ctx.
	d.hostapd = exec.CommandContext(context.WithoutCancel(ctx), "nsenter", "-t", fmt.Sprint(d.Status(ctx).Fabric.PID), "-n", //nolint:gosec // Our own programs.
		loaders[0], "--library-path", strings.Join(libraries, ":"), filepath.Join(d.programs, "usr/sbin/hostapd"), filepath.Join(folder, "hostapd"))
	d.hostapd.Stdout, d.hostapd.Stderr = GinkgoWriter, GinkgoWriter
	Expect(d.hostapd.Start()).To(Succeed())
}

// lockOut ends what answers at the port.
func (d *dot1x) lockOut() {
	if d.hostapd != nil {
		_ = d.hostapd.Process.Kill() // It may have ended.
		_ = d.hostapd.Wait()
		d.hostapd = nil
	}
}

// pullOut takes the cable out and puts it in again, for the switch to ask anew.
func (d *dot1x) pullOut(ctx context.Context, nic string) {
	GinkgoHelper()
	Expect(d.node.Carrier(ctx, nic, false)).To(Succeed())
	Eventually(ctx, func() string { return connection(ctx, d.node, nic) }).Should(ContainSubstring("unavailable"))
	Expect(d.node.Carrier(ctx, nic, true)).To(Succeed())
}

var _ = Describe("A port that asks for 802.1X", func() {
	It("is Available once the switch lets the node in, and has drifted when it does so no more", func(ctx SpecContext) {
		f := take(ctx, oneNode)
		n := f.node()
		d := newDot1x(ctx, f, n, "eth2")
		d.letIn(ctx, "node1", "Canary-of-a-port")
		f.create(ctx, fmt.Sprintf(`
apiVersion: nmstate.io/v1
kind: NodeNetworkConfigurationPolicy
metadata: {name: port}
spec:
  drift: Report
  probeTimeoutSeconds: %d
  desiredState:
    interfaces:
    - {name: eth2, type: ethernet, state: up, ipv4: {enabled: false}, ipv6: {enabled: false},
       802.1x: {identity: node1, eap-methods: [pwd], password: Canary-of-a-port}}
`, 4*window))
		f.awaitEnactment(ctx, n.Name, "port", enactmentSuccess)
		Expect(connection(ctx, n, "eth2")).To(ContainSubstring("(connected)"))
		f.awaitDrifted(ctx, n, metav1.ConditionFalse)

		d.letIn(ctx, "nobody", "Canary-of-another")
		d.pullOut(ctx, "eth2")
		drift := f.awaitDrifted(ctx, n, metav1.ConditionTrue)
		Expect(drift).To(HaveLen(1))
		Expect(drift[0].Path + ": " + drift[0].Found).To(Equal("interfaces[eth2].state: disconnected in NetworkManager"))

		d.letIn(ctx, "node1", "Canary-of-a-port")
		byHand(ctx, n, "nmcli", "--wait", "30", "device", "connect", "eth2")
		f.awaitDrifted(ctx, n, metav1.ConditionFalse)
	}, SpecTimeout(specTimeout))
})
