//go:build linux && cgo && nmstate

package nmstate

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/godbus/dbus/v5"
	"github.com/vishvananda/netlink"
	"k8s.io/utils/clock"

	"github.com/nmstate/kubernetes-nmstate/handler/backend"
	"github.com/nmstate/kubernetes-nmstate/handler/dump"
	"github.com/nmstate/kubernetes-nmstate/handler/profiles"
)

const nmConfiguration = `[main]
plugins=keyfile
auth-polkit=false
no-auto-default=*
dns=default
rc-manager=file
hostname-mode=none
[keyfile]
unmanaged-devices=interface-name:peer*
`

const nicProfile = `[connection]
id=eth1
uuid=00000000-0000-4000-8000-000000000001
type=ethernet
interface-name=eth1
[ipv4]
method=manual
address1=192.0.2.1/24,192.0.2.254
[ipv6]
method=disabled
`

// node is a node whose NetworkManager this test starts and ends. There is one
// at a time: they share the namespaces of the test binary.
type node struct {
	backend *Backend
	nm      *exec.Cmd
	log     bytes.Buffer
	// nics are the node's network cards beside eth1.
	nics []string
	// files are the node's beside those of every node, and initrd's come again at each boot.
	files, initrd map[string]string
	// ready tells when the node is as its profiles say.
	ready func(pictured) bool
}

// newNode makes the network, D-Bus and NetworkManager as on a fresh machine.
func newNode(t *testing.T) *node {
	t.Helper()
	return newNodeWith(t, nil, nil)
}

// newNodeWith makes a node with more network cards and profiles, which are the
// contents of files by their names.
func newNodeWith(t *testing.T, nics []string, byName map[string]string) *node {
	t.Helper()
	n := &node{nics: nics, files: map[string]string{}}
	for name, content := range byName {
		n.files[profiles.DiskDir+"/"+name] = content
	}
	n.begin(t)
	return n
}

func (n *node) begin(t *testing.T) {
	t.Helper()
	if cannotBeNode != "" {
		if os.Getenv("NMSTATE_STRICT") == "1" {
			t.Fatal(cannotBeNode)
		}
		t.Skip(cannotBeNode)
	}
	n.freshNetwork(t)
	freshFiles(t)
	for path, content := range n.files {
		written(t, path, content)
	}
	n.bootFiles(t)
	startBus(t)
	t.Cleanup(func() {
		n.stopNetworkManager(t)
		if t.Failed() {
			t.Logf("NetworkManager's last words:\n%s", tail(n.log.String(), 40))
		}
	})
	n.startNetworkManager(t)
	eventually(t, "the NIC has its address and route", func() bool {
		kernel := n.Kernel(t)
		return strings.Contains(kernel, "192.0.2.1/24") && strings.Contains(kernel, "via 192.0.2.254")
	})
	n.backend = newBackend(t)
}

func newBackend(t *testing.T) *Backend {
	t.Helper()
	executable, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	made, err := New(Options{Executable: executable, RevertHelper: os.Getenv("NMSTATE_REVERT"), Clock: clock.RealClock{}})
	if err != nil {
		t.Fatal(err)
	}
	return made
}

func (n *node) freshNetwork(t *testing.T) {
	t.Helper()
	links, err := dump.Whole(netlink.LinkList)
	if err != nil {
		t.Fatalf("listing links: %v", err)
	}
	for _, link := range links {
		if link.Attrs().Name != "lo" {
			_ = netlink.LinkDel(link) // A veth goes with its peer.
		}
	}
	rules, err := dump.Whole(func() ([]netlink.Rule, error) { return netlink.RuleList(netlink.FAMILY_ALL) })
	if err != nil {
		t.Fatalf("listing rules: %v", err)
	}
	for _, rule := range rules {
		if rule.Priority > 0 && rule.Priority < 32766 { // The others are the kernel's own.
			_ = netlink.RuleDel(&rule)
		}
	}
	for i, nic := range append([]string{"eth1"}, n.nics...) {
		peer := fmt.Sprintf("peer%d", i)
		veth := &netlink.Veth{LinkAttrs: netlink.LinkAttrs{Name: nic, HardwareAddr: []byte{2, 0, 0, 0, 0, byte(i + 1)}}, PeerName: peer, PeerHardwareAddr: []byte{2, 0, 0, 0, 1, byte(i + 1)}}
		if err := netlink.LinkAdd(veth); err != nil {
			t.Fatalf("making the NIC %s: %v", nic, err)
		}
		setUp(t, nic)
		setUp(t, peer)
	}
	setUp(t, "lo")
}

func setUp(t *testing.T, name string) {
	t.Helper()
	link, err := netlink.LinkByName(name)
	if err != nil {
		t.Fatalf("finding %s: %v", name, err)
	}
	if err := netlink.LinkSetUp(link); err != nil {
		t.Fatalf("setting %s up: %v", name, err)
	}
}

func freshFiles(t *testing.T) {
	t.Helper()
	for _, dir := range []string{
		"/etc/NetworkManager/conf.d", "/etc/NetworkManager/dispatcher.d", "/etc/NetworkManager/system-connections",
		"/run/NetworkManager", "/var/lib/NetworkManager", "/etc/network", "/usr/lib/NetworkManager/system-connections",
	} {
		empty(t, dir)
	}
	files := map[string]string{
		"/etc/NetworkManager/NetworkManager.conf":                  nmConfiguration,
		"/etc/NetworkManager/system-connections/eth1.nmconnection": nicProfile,
		"/etc/resolv.conf": "",
		"/etc/hostname":    "node\n",
	}
	for path, content := range files {
		written(t, path, content)
	}
}

func written(t *testing.T, path, content string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	_ = os.Remove(path) // It may be a link to somewhere else.
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
}

func empty(t *testing.T, dir string) {
	t.Helper()
	entries, err := filepath.Glob(dir + "/*")
	if err != nil {
		t.Fatal(err)
	}
	for _, entry := range entries {
		if err := os.RemoveAll(entry); err != nil {
			t.Fatal(err)
		}
	}
}

// startBus starts the node's D-Bus, which then lives as long as the node.
func startBus(t *testing.T) {
	t.Helper()
	const socket = "/run/dbus/system_bus_socket"
	if _, err := os.Stat(socket); err == nil {
		return
	}
	bus := exec.Command("dbus-daemon", "--system", "--nofork", "--nopidfile", "--nosyslog")
	if err := bus.Start(); err != nil {
		t.Fatalf("starting D-Bus: %v", err)
	}
	eventually(t, "D-Bus is up", func() bool {
		_, err := os.Stat(socket)
		return err == nil
	})
}

func (n *node) startNetworkManager(t *testing.T) {
	t.Helper()
	// NetworkManager takes a read-only /sys for a machine without udev; with
	// udev it would wait for it for ever. Later it has to write there.
	remount(t, syscall.MS_RDONLY)
	n.nm = exec.Command("NetworkManager", "--debug", "--log-level=INFO")
	n.nm.Stdout, n.nm.Stderr = &n.log, &n.log
	if err := n.nm.Start(); err != nil {
		t.Fatalf("starting NetworkManager: %v", err)
	}
	eventually(t, "NetworkManager is up", func() bool { return startupComplete(t) })
	remount(t, 0)
}

func remount(t *testing.T, flags uintptr) {
	t.Helper()
	if err := syscall.Mount("sysfs", "/sys", "sysfs", syscall.MS_REMOUNT|flags, ""); err != nil {
		t.Fatalf("remounting /sys: %v", err)
	}
}

func startupComplete(t *testing.T) bool {
	m, err := dialled(t.Context(), "")
	if err != nil {
		return false
	}
	defer m.close()
	starting := true
	err = m.property(t.Context(), nmPath, nmName, "Startup", &starting)
	return err == nil && !starting
}

func (n *node) stopNetworkManager(t *testing.T) {
	t.Helper()
	if n.nm == nil {
		return
	}
	if err := n.nm.Process.Kill(); err != nil {
		t.Errorf("killing NetworkManager: %v", err)
	}
	_ = n.nm.Wait() // It was killed.
	n.nm = nil
}

// eventually polls until done, a minute at most.
func eventually(t *testing.T, what string, done func() bool) {
	t.Helper()
	deadline := time.After(time.Minute)
	poll := time.NewTicker(20 * time.Millisecond)
	defer poll.Stop()
	for !done() {
		select {
		case <-poll.C:
		case <-deadline:
			t.Fatalf("waited a minute in vain: %s", what)
		}
	}
}

func tail(text string, lines int) string {
	all := strings.Split(strings.TrimSpace(text), "\n")
	return strings.Join(all[max(0, len(all)-lines):], "\n")
}

// Backend implements conformance.Node, as do the following.
func (n *node) Backend() backend.Backend { return n.backend }

func (n *node) NIC() string { return "eth1" }

func (n *node) Eventually(t *testing.T, what string, done func() bool) {
	t.Helper()
	eventually(t, what, done)
}

func (n *node) RestartNetworkManager(t *testing.T) {
	t.Helper()
	n.stopNetworkManager(t)
	n.startNetworkManager(t)
}

func (n *node) Reboot(t *testing.T) {
	t.Helper()
	n.stopNetworkManager(t)
	empty(t, "/run/NetworkManager")
	n.bootFiles(t)
	n.freshNetwork(t)
	n.startNetworkManager(t)
}

// bootFiles writes what the initrd or netplan writes at each boot.
func (n *node) bootFiles(t *testing.T) {
	t.Helper()
	for path, content := range n.initrd {
		written(t, path, content)
	}
}

func (n *node) ForeignCheckpoint(t *testing.T, rollbackAfter time.Duration) backend.Checkpoint {
	t.Helper()
	m, err := dialled(t.Context(), "")
	if err != nil {
		t.Fatal(err)
	}
	defer m.close()
	var path dbus.ObjectPath
	call := m.call(t.Context(), answerWithin, nmPath, nmName+".CheckpointCreate",
		[]dbus.ObjectPath{}, uint32(rollbackAfter.Seconds()), uint32(0))
	if err := call.Store(&path); err != nil {
		t.Fatalf("making a foreign checkpoint: %v", err)
	}
	return backend.Checkpoint(path)
}

func (n *node) Kernel(t *testing.T) string {
	t.Helper()
	links, err := dump.Whole(netlink.LinkList)
	if err != nil {
		t.Fatalf("listing links: %v", err)
	}
	names := map[int]string{}
	for _, link := range links {
		names[link.Attrs().Index] = link.Attrs().Name
	}
	var lines []string
	for _, link := range links {
		attrs := link.Attrs()
		if isPeer(attrs.Name) {
			continue
		}
		lines = append(lines, fmt.Sprintf("%s %s mtu %d %s of %q up %t",
			attrs.Name, link.Type(), attrs.MTU, attrs.HardwareAddr, names[attrs.MasterIndex], attrs.RawFlags&syscall.IFF_UP != 0))
		addresses, err := dump.Whole(func() ([]netlink.Addr, error) { return netlink.AddrList(link, netlink.FAMILY_ALL) })
		if err != nil {
			t.Fatalf("listing addresses: %v", err)
		}
		for _, address := range addresses {
			if !address.IP.IsLinkLocalUnicast() {
				lines = append(lines, attrs.Name+" address "+address.IPNet.String())
			}
		}
	}
	routes, err := dump.Whole(func() ([]netlink.Route, error) { return netlink.RouteList(nil, netlink.FAMILY_ALL) })
	if err != nil {
		t.Fatalf("listing routes: %v", err)
	}
	for _, route := range routes {
		if route.Dst != nil && route.Dst.IP.IsLinkLocalUnicast() || isPeer(names[route.LinkIndex]) {
			continue
		}
		lines = append(lines, fmt.Sprintf("route %s via %s dev %s metric %d", route.Dst, route.Gw, names[route.LinkIndex], route.Priority))
	}
	slices.Sort(lines)
	return strings.Join(lines, "\n")
}

// isPeer tells the other end of a network card's cable, which is not the node's.
func isPeer(name string) bool { return strings.HasPrefix(name, "peer") }
