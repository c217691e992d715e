//go:build linux && cgo && nmstate

package nmstate

import (
	"fmt"
	"maps"
	"net/netip"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/nmstate/kubernetes-nmstate/handler/observe"
	"github.com/nmstate/kubernetes-nmstate/handler/profiles"
)

// field is a node as distributions deliver it: what gives its NICs their network,
// where no administrator wrote a profile.
type field struct {
	// files are there at the first boot, and initrd's at each.
	files, initrd map[string]string
	changes       map[string]change
}

const inRun, onDiskDir = profiles.RunDir + "/", profiles.DiskDir + "/"

func fields() map[string]field {
	const none = `"ipv6": {"enabled": false}`
	address := func(name, address string) string {
		return fmt.Sprintf(`{"name": %q, "type": "ethernet", "state": "up", "ipv4": {"enabled": true, "dhcp": false, "address": [{"ip": %q, "prefix-length": 24}]}, %s}`,
			name, address, none)
	}
	interfaces := func(all ...string) string { return `{"interfaces": [` + strings.Join(all, ",") + `]}` }
	nic := map[string]change{
		"static": {desired: interfaces(address("eth2", "198.51.102.2"))},
		"MTU":    {desired: interfaces(`{"name": "eth2", "type": "ethernet", "state": "up", "mtu": 1400}`)},
		"bridge": {desired: interfaces(`{"name": "br0", "type": "linux-bridge", "state": "up",
			"bridge": {"options": {"stp": {"enabled": false}}, "port": [{"name": "eth2"}]},
			"ipv4": {"enabled": true, "dhcp": false, "address": [{"ip": "198.51.102.2", "prefix-length": 24}]}, ` + none + `}`)},
	}
	const everyNIC = `[connection]
id=Wired Connection
uuid=00000000-0000-4000-8000-000000000077
type=ethernet
autoconnect-priority=-100
autoconnect-retries=1
multi-connect=3
[ipv4]
method=auto
dhcp-timeout=2147483647
[ipv6]
method=link-local
[user]
org.freedesktop.NetworkManager.origin=nm-initrd-generator
`
	return map[string]field{
		// Fedora CoreOS, RHEL CoreOS.
		"one profile for all, from the initrd": {initrd: map[string]string{inRun + "default_connection.nmconnection": everyNIC}, changes: nic},
		"one profile for all, on disk":         {files: map[string]string{onDiskDir + "default_connection.nmconnection": everyNIC}, changes: nic},
		"one profile for all, of the same priority": {files: map[string]string{
			onDiskDir + "default_connection.nmconnection": strings.Replace(everyNIC, "autoconnect-priority=-100\n", "", 1),
			onDiskDir + "eth1.nmconnection":               strings.Replace(nicProfile, "type=", "autoconnect-priority=5\ntype=", 1),
		}, changes: nic},
		// Where nobody says no-auto-default.
		"NetworkManager's own": {files: map[string]string{"/etc/NetworkManager/conf.d/automatic.conf": "[main]\nno-auto-default=\n"}, changes: nic},
		// Anaconda's.
		"a port that names its bridge by UUID": {files: map[string]string{
			onDiskDir + "br9.nmconnection":  "[connection]\nid=br9\nuuid=00000000-0000-4000-8000-000000000009\ntype=bridge\ninterface-name=br9\nautoconnect-slaves=1\n[bridge]\nstp=false\nmac-address=02:00:00:00:00:99\n[ipv4]\nmethod=manual\naddress1=198.51.109.2/24\n[ipv6]\nmethod=disabled\n",
			onDiskDir + "eth2.nmconnection": "[connection]\nid=br9 port\nuuid=00000000-0000-4000-8000-000000000019\ntype=ethernet\ninterface-name=eth2\nautoconnect=false\nmaster=00000000-0000-4000-8000-000000000009\nslave-type=bridge\n",
		}, changes: map[string]change{
			"static":      {desired: strings.Replace(interfaces(address("br9", "198.51.109.3")), `"ethernet"`, `"linux-bridge"`, 1)},
			"bridge away": {desired: interfaces(`{"name": "br9", "type": "linux-bridge", "state": "absent"}`, address("eth2", "198.51.102.7")), absent: []profiles.Interface{{Name: "br9", Type: "linux-bridge"}}},
			"MTU":         {desired: interfaces(`{"name": "eth2", "type": "ethernet", "state": "up", "mtu": 1400}`)},
		}},
		"by hardware address": {files: map[string]string{onDiskDir + "cloud.nmconnection": `[connection]
id=cloud-init eth2
uuid=00000000-0000-4000-8000-000000000022
type=ethernet
[user]
org.freedesktop.NetworkManager.origin=cloud-init
[ethernet]
mac-address=02:00:00:00:00:02
[ipv4]
method=auto
dhcp-timeout=2147483647
[ipv6]
method=link-local
`}, changes: nic},
		// bootc, OSTree: of the image, which nobody can write.
		"of the image": {files: map[string]string{"/usr/lib/NetworkManager/system-connections/eth2.nmconnection": `[connection]
id=image eth2
uuid=00000000-0000-4000-8000-000000000024
type=ethernet
interface-name=eth2
[ipv4]
method=manual
address1=198.51.102.9/24
[ipv6]
method=ignore
`}, changes: nic},
		"from netplan": {initrd: map[string]string{inRun + "netplan-eth2.nmconnection": `[connection]
id=netplan-eth2
uuid=00000000-0000-4000-8000-000000000023
type=ethernet
interface-name=eth2
[ethernet]
wake-on-lan=0
[ipv4]
method=manual
address1=198.51.102.9/24
[ipv6]
method=ignore
`}, changes: nic},
	}
}

// TestTrialInTheField makes a change permanent on each, and takes one back; with
// NMSTATE_ALL_SCENARIOS=1, which takes seven minutes, every change in every way.
func TestTrialInTheField(t *testing.T) {
	few := []string{"static, made permanent", "bridge, NetworkManager killed"}
	for where, f := range fields() {
		for name, c := range f.changes {
			for ending, end := range endings() {
				if os.Getenv("NMSTATE_ALL_SCENARIOS") != "1" && !slices.Contains(few, name+", "+ending) {
					continue
				}
				t.Run(where+", "+name+", "+ending, func(t *testing.T) {
					advertise(t, "peer1", netip.MustParsePrefix("2001:db8:102::/64"))
					advertise(t, "peer2", netip.MustParsePrefix("2001:db8:103::/64"))
					n := &node{nics: []string{"eth2", "eth3"}, files: f.files, initrd: f.initrd}
					n.begin(t)
					n.ready = hasProfile
					if f.takesByItself() {
						n.ready = func(now pictured) bool {
							return hasProfile(now) && strings.Contains(now.kernel, "eth2 address 2001:db8:102:")
						}
					}
					end(t, n.attempt(t, c))
				})
			}
		}
	}
}

// TestAStandInFollowsItsProfile: changes before the boot and after it, of what netplan has
// written.
func TestAStandInFollowsItsProfile(t *testing.T) {
	f := fields()["from netplan"]
	n := &node{nics: []string{"eth2"}, files: f.files, initrd: f.initrd}
	n.begin(t)
	n.ready = hasProfile
	for _, boot := range [][]string{{"198.51.102.3", "198.51.102.4"}, {"198.51.102.5", "198.51.102.6"}, {"198.51.102.7"}} {
		for _, address := range boot {
			n.permanent(t, strings.Replace(f.changes["static"].desired, "198.51.102.2", address, 1))
		}
		n.Reboot(t)
		eventually(t, "the boot brings "+boot[len(boot)-1], func() bool { return strings.Contains(n.Kernel(t), "eth2 address "+boot[len(boot)-1]+"/24") })
	}
	disk := slices.Sorted(maps.Keys(onDisk(n.picture(t).Files)))
	disk = slices.DeleteFunc(disk, func(at string) bool { return !strings.HasSuffix(at, ".nmconnection") })
	if len(disk) > 3 { // That of eth1, netplan's and its stand-in.
		t.Errorf("profiles have become more and more: %v", disk)
	}
}

// takesByItself tells whether the kernel takes what routers advertise, and not NetworkManager:
// eth2 is activated before it has that.
func (f field) takesByItself() bool {
	for _, files := range []map[string]string{f.files, f.initrd} {
		for _, text := range files {
			if strings.Contains(text, "[ipv6]\nmethod=ignore") {
				return true
			}
		}
	}
	return false
}

// hasProfile tells whether a profile is active on eth2.
func hasProfile(now pictured) bool {
	return slices.ContainsFunc(now.Devices, func(d profiles.Device) bool { return d.Name == "eth2" && d.Profile != "" })
}

// permanent makes a change permanent, as the handler does.
func (n *node) permanent(t *testing.T, desired string) {
	t.Helper()
	a := n.attempt(t, change{desired: desired})
	a.do(t, profiles.Permanent(a.before.Snapshot, &a.trial, a.picture(t).Snapshot, profiles.Change{}))
	if err := n.backend.Commit(t.Context(), a.checkpoint); err != nil {
		t.Fatal(err)
	}
	a.do(t, profiles.Tidy(a.before.Snapshot, &a.trial, a.picture(t).Snapshot, profiles.Change{}))
}

// nmstate has no word for these, and loses them with any change.
func TestWhatNoPolicyCanSayIsKept(t *testing.T) {
	n := &node{nics: []string{"eth2"}, files: map[string]string{onDiskDir + "eth2.nmconnection": "[connection]\nid=eth2\nuuid=00000000-0000-4000-8000-000000000044\ntype=ethernet\ninterface-name=eth2\n" +
		"autoconnect-priority=-7\nzone=trusted\n[ipv4]\nmethod=manual\naddress1=198.51.102.9/24\ndhcp-timeout=70\n[ipv6]\nmethod=disabled\ndhcp-timeout=66\n"}}
	n.begin(t)
	n.ready = hasProfile
	for _, mtu := range []string{"1400", "1300"} {
		n.permanent(t, `{"interfaces": [{"name": "eth2", "type": "ethernet", "state": "up", "mtu": `+mtu+`}]}`)
		out, err := exec.Command("nmcli", "-g", "connection.zone,connection.autoconnect-priority,ipv4.dhcp-timeout,ipv6.dhcp-timeout,802-3-ethernet.mtu", "connection", "show", "eth2").CombinedOutput()
		if want := []string{"trusted", "-7", "70", "66", mtu}; err != nil || !slices.Equal(strings.Fields(string(out)), want) {
			t.Errorf("with an MTU of %s: %q, %v, want %q", mtu, out, err, want)
		}
	}
	n.permanent(t, `{"interfaces": [{"name": "eth2", "type": "ethernet", "state": "up", "ipv4": {"enabled": true, "dhcp": true}}]}`)
	out, err := exec.Command("nmcli", "-g", "connection.autoconnect-priority,ipv4.dhcp-timeout", "connection", "show", "eth2").CombinedOutput()
	if want := []string{"-7", "2147483647"}; err != nil || !slices.Equal(strings.Fields(string(out)), want) {
		t.Errorf("a policy's DHCP never gives up: %q, %v, want %q", out, err, want)
	}
}

// Debian, where somebody has said managed=true: NetworkManager has what it reads in a
// trial, and no plugin to save it with.
func TestAProfileThatCannotBeSavedIsTold(t *testing.T) {
	n := &node{nics: []string{"eth2"}, files: map[string]string{
		"/etc/NetworkManager/conf.d/debian.conf": "[main]\nplugins=ifupdown,keyfile\n[ifupdown]\nmanaged=true\n",
		"/etc/network/interfaces":                "auto eth2\niface eth2 inet static\n\taddress 198.51.102.9\n\tnetmask 255.255.255.0\n",
	}}
	n.begin(t)
	n.ready = hasProfile
	before := n.settled(t)
	const desired = `{"interfaces": [{"name": "br0", "type": "linux-bridge", "state": "up", "bridge": {"port": [{"name": "eth2"}]}}]}`
	checkpoint, _, err := n.backend.Apply(t.Context(), parsed(t, desired), time.Minute, nil)
	if err == nil || checkpoint != "" || !strings.Contains(err.Error(), "interfaces[eth2]: NetworkManager reads the profile from /etc/network/interfaces") {
		t.Errorf("Apply: %q, %v", checkpoint, err)
	}
	if now := n.picture(t); now.kernel != before.kernel || !slices.Equal(now.Unsaved, before.Unsaved) {
		t.Errorf("something was tried: %+v", now)
	}

	// What the message says to do.
	written(t, "/etc/network/interfaces", "")
	for _, command := range []string{`nmcli connection clone "Ifupdown (eth2)" eth2`, "nmcli connection up eth2"} {
		if out, err := exec.Command("sh", "-c", command).CombinedOutput(); err != nil {
			t.Fatalf("%s: %v: %s", command, err, out)
		}
	}
	n.permanent(t, desired)
	n.Reboot(t)
	eventually(t, "the boot brings the port", func() bool { return strings.Contains(n.Kernel(t), `of "br0"`) })
}

// Of servers whose gateway is outside of their network, as hosters rent them out.
func TestARouteThatNmstateCannotWriteIsTold(t *testing.T) {
	n := &node{nics: []string{"eth2"}, files: map[string]string{onDiskDir + "eth2.nmconnection": "[connection]\nid=eth2\nuuid=00000000-0000-4000-8000-000000000044\ntype=ethernet\ninterface-name=eth2\n" +
		"[ipv4]\nmethod=manual\naddress1=198.51.102.9/32\nroute1=203.0.113.0/24,198.51.103.1\nroute1_options=onlink=true\n[ipv6]\nmethod=disabled\n"}}
	n.begin(t)
	before := n.Kernel(t)
	_, _, err := n.backend.Apply(t.Context(), parsed(t, `{"interfaces": [{"name": "eth2", "type": "ethernet", "state": "up", "mtu": 1400}]}`), time.Minute, nil)
	if err == nil || !strings.Contains(err.Error(), "onlink") {
		t.Errorf("Apply: %v", err)
	}
	eventually(t, "it is as before", func() bool { return n.Kernel(t) == before })

	// ipv4.gateway of the same kind is written.
	out, err := exec.Command("nmcli", "connection", "modify", "eth2", "ipv4.routes", "", "ipv4.gateway", "198.51.103.1", "ipv4.route-metric", "900").CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	if out, err := exec.Command("nmcli", "connection", "up", "eth2").CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	if _, _, err = n.backend.Apply(t.Context(), parsed(t, `{"interfaces": [{"name": "eth2", "type": "ethernet", "state": "up", "mtu": 1400}]}`), time.Minute, nil); err != nil {
		t.Errorf("Apply with a gateway: %v", err)
	}
	eventually(t, "the gateway is there", func() bool { return strings.Contains(n.Kernel(t), "via 198.51.103.1 dev eth2") })
}

// Kubespray writes such a file: NetworkManager refuses what nmstate wants of it then.
func TestNameServersOfAFileGoBeforeAPolicys(t *testing.T) {
	n := &node{files: map[string]string{"/etc/NetworkManager/conf.d/dns.conf": "[global-dns-domain-*]\nservers=169.254.25.10\n"}}
	n.begin(t)
	before := n.Kernel(t)
	_, _, err := n.backend.Apply(t.Context(), parsed(t, `{"dns-resolver": {"config": {"server": ["192.0.2.53"]}}}`), time.Minute, nil)
	if err == nil || !strings.Contains(err.Error(), "[global-dns-domain-*]") {
		t.Errorf("Apply: %v", err)
	}
	eventually(t, "it is as before", func() bool { return n.Kernel(t) == before })
}

// nmstate reads back from NetworkManager what no program of the node may see.
func TestWhoKeepsResolvConf(t *testing.T) {
	for conf, want := range map[string]struct {
		keeps   string
		written bool
	}{
		"":                                    {"file", true},
		"[main]\ndns=none\n":                  {"unmanaged", false},
		"[main]\nrc-manager=unmanaged\n":      {"unmanaged", false},
		"[main]\ndns=systemd-resolved\n":      {"file", true},
		"[main]\ndns=none\nrc-manager=file\n": {"unmanaged", false},
	} {
		t.Run(strings.NewReplacer("[main]\n", "", "\n", " ").Replace(conf), func(t *testing.T) {
			n := &node{files: map[string]string{"/etc/NetworkManager/conf.d/dns.conf": conf, "/etc/resolv.conf": ""}}
			n.begin(t)
			if _, _, err := n.backend.Apply(t.Context(), parsed(t, `{"dns-resolver": {"config": {"server": ["192.0.2.53"]}}}`), time.Minute, nil); err != nil {
				t.Fatal(err)
			}
			told, err := observe.AskNetworkManager(t.Context(), "")
			if err != nil || told.ResolvConf != want.keeps {
				t.Errorf("it tells %+v, %v", told, err)
			}
			raw, err := os.ReadFile("/etc/resolv.conf")
			if err != nil || strings.Contains(string(raw), "nameserver") != want.written {
				t.Errorf("/etc/resolv.conf: %q, %v", raw, err)
			}
			if raw, err := os.ReadFile("/run/NetworkManager/resolv.conf"); !want.written && (err != nil || !strings.Contains(string(raw), "nameserver 192.0.2.53")) {
				t.Errorf("where whoever keeps the file finds them: %q, %v", raw, err)
			}
		})
	}
}
