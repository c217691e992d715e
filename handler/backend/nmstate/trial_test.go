//go:build linux && cgo && nmstate

package nmstate

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/godbus/dbus/v5"
	"github.com/google/go-cmp/cmp"

	"github.com/nmstate/kubernetes-nmstate/handler/backend"
	"github.com/nmstate/kubernetes-nmstate/handler/profiles"
)

// patience with what NetworkManager brings up.
const patience = 5 * time.Second

// byHand are profiles as administrators write them, with what NetworkManager
// would not write like this.
func byHand() map[string]string {
	profile := func(number int, lines string) string {
		return fmt.Sprintf("# written by hand - do not touch\n[connection]\nuuid=00000000-0000-4000-8000-%012d\n%s", number, lines)
	}
	return map[string]string{
		"eth1.nmconnection": profile(1, "id=Primary NIC\ntype=ethernet\ninterface-name=eth1\nautoconnect-priority=5\n"+
			"[ipv4]\nmethod = manual\n# the gateway is the old one\naddress1=192.0.2.1/24,192.0.2.254\ndns=192.0.2.254;\n[ipv6]\nmethod=disabled\n"),
		"eth3-a.nmconnection": profile(31, "id=eth3-a\ntype=ethernet\ninterface-name=eth3\nautoconnect-priority=10\nzone=internal\nstable-id=by-hand\n"+
			"[ipv4]\nmethod=manual\naddress1=198.51.100.3/24\ndhcp-send-hostname=false\n[ipv6]\nmethod=disabled\n[user]\norg.example.owner=netops\n"),
		"eth3-b.nmconnection": profile(32, "id=eth3-b\ntype=ethernet\ninterface-name=eth3\nautoconnect=false\npermissions=user:root:;\n"+
			"[802-1x]\neap=md5;\nidentity=rack7\npassword=s3cret\n[ipv4]\nmethod=manual\naddress1=198.51.101.3/24\n[ipv6]\nmethod=disabled\n"),
		"br9.nmconnection": profile(9, "id=br9\ntype=bridge\ninterface-name=br9\n[bridge]\nstp=false\nmac-address=02:00:00:00:00:99\n"+
			"[ipv4]\nmethod=manual\naddress1=198.18.0.9/24\n[ipv6]\nmethod=disabled\n"),
		"eth4.nmconnection": profile(4, "id=eth4 port\ntype=ethernet\ninterface-name=eth4\nmaster=br9\nslave-type=bridge\n"),
		"eth5.nmconnection": profile(5, "id=eth5 automatic\ntype=ethernet\ninterface-name=eth5\n"+
			"[ipv4]\nmethod=auto\ndhcp-timeout=2147483647\n[ipv6]\nmethod=link-local\n"),
	}
}

// change is one that a trial makes, from the node of byHand.
type change struct {
	desired string
	absent  []profiles.Interface
	// prepare changes what no profile speaks of.
	prepare []string
	// byHand are the devices that this configures.
	byHand []string
	// forgets tells that what was prepared does not outlive a reboot.
	forgets bool
	// onlyByState tells that no profile leads back: NetworkManager's rollback
	// makes the device again with another hardware address and, before 1.52, with
	// a profile on disk; without a checkpoint there is nobody but nmstate's revert.
	onlyByState bool
}

func changes() map[string]change {
	const none = `"ipv6": {"enabled": false}`
	address := func(name, kind, address string) string {
		return fmt.Sprintf(`{"name": %q, "type": %q, "state": "up", "ipv4": {"enabled": true, "dhcp": false, "address": [{"ip": %q, "prefix-length": 24}]}, %s}`,
			name, kind, address, none)
	}
	interfaces := func(all ...string) string { return `{"interfaces": [` + strings.Join(all, ",") + `]}` }
	gone := func(name, kind string) string {
		return fmt.Sprintf(`{"name": %q, "type": %q, "state": "absent"}`, name, kind)
	}
	bridge := func(name string) []profiles.Interface {
		return []profiles.Interface{{Name: name, Type: "linux-bridge"}}
	}
	return map[string]change{
		"static": {desired: interfaces(address("eth1", "ethernet", "192.0.2.2"))},
		"bridge": {desired: `{"interfaces": [{"name": "br0", "type": "linux-bridge", "state": "up",
			"bridge": {"options": {"stp": {"enabled": false}}, "port": [{"name": "eth1"}]},
			"ipv4": {"enabled": true, "dhcp": false, "address": [{"ip": "192.0.2.1", "prefix-length": 24}]}, "ipv6": {"enabled": false}}],
			"routes": {"config": [{"destination": "0.0.0.0/0", "next-hop-address": "192.0.2.254", "next-hop-interface": "br0"}]}}`},
		"automatic to static":            {desired: interfaces(address("eth5", "ethernet", "198.51.105.5"))},
		"a bridge away, its port static": {desired: interfaces(gone("br9", "linux-bridge"), address("eth4", "ethernet", "198.18.0.9")), absent: bridge("br9")},
		"a bridge away":                  {desired: interfaces(gone("br9", "linux-bridge")), absent: bridge("br9")},
		"veth": {desired: interfaces(`{"name": "veth1", "type": "veth", "state": "up", "veth": {"peer": "veth1p"},
			"ipv4": {"enabled": true, "dhcp": false, "address": [{"ip": "198.18.5.1", "prefix-length": 24}]}, ` + none + `}`)},
		"MTU":   {desired: interfaces(`{"name": "eth1", "type": "ethernet", "state": "up", "mtu": 1400}`)},
		"route": {desired: `{"routes": {"config": [{"destination": "203.0.113.0/24", "next-hop-address": "192.0.2.254", "next-hop-interface": "eth1"}]}}`},
		"DNS":   {desired: `{"dns-resolver": {"config": {"server": ["192.0.2.53"], "search": ["example.org"]}}}`},
		"a NIC configured by hand": {desired: interfaces(address("eth2", "ethernet", "198.18.9.2")),
			byHand: []string{"eth2"}, prepare: []string{"ip addr add 198.18.9.1/24 dev eth2"}, forgets: true},
		"a NIC with two profiles": {desired: interfaces(address("eth3", "ethernet", "198.51.100.103"))},
		"a NIC away":              {desired: interfaces(gone("eth3", "ethernet")), absent: []profiles.Interface{{Name: "eth3", Type: "ethernet"}}},
		"a foreign bridge away": {desired: interfaces(gone("brx", "linux-bridge")), absent: bridge("brx"), forgets: true, onlyByState: true, byHand: []string{"brx"},
			prepare: []string{"ip link add brx address 02:00:00:00:00:98 type bridge", "ip addr add 198.18.8.1/24 dev brx", "ip link set brx up"}},
		"the next boot's hostname": {desired: `{"hostname": {"config": "node-9"}}`},
	}
}

// pictured is what a trial must leave as it was.
type pictured struct {
	kernel, resolv, dns string
	profiles.Snapshot
}

func (n *node) picture(t *testing.T) pictured {
	t.Helper()
	found, err := n.backend.Profiles(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	resolv, err := os.ReadFile("/etc/resolv.conf")
	if err != nil {
		t.Fatal(err)
	}
	return pictured{automatic.ReplaceAllString(n.Kernel(t), "$1$2"), string(resolv), globalDNS(t), found}
}

// automatic is what comes out otherwise each time: metrics, which NetworkManager
// counts up by device, and gives to what was configured by hand when it takes it over, and the hardware address of a veth.
var automatic = regexp.MustCompile(`(veth1p? veth mtu \d+ )\S+|(metric )\d+`)

func globalDNS(t *testing.T) string {
	t.Helper()
	m, err := dialled(t.Context(), "")
	if err != nil {
		t.Fatal(err)
	}
	defer m.close()
	var configuration map[string]dbus.Variant
	if err := m.property(t.Context(), nmPath, nmName, "GlobalDnsConfiguration", &configuration); err != nil {
		t.Fatal(err)
	}
	return fmt.Sprint(configuration)
}

// settled waits until the node is as its profiles say.
func (n *node) settled(t *testing.T) pictured {
	t.Helper()
	var now pictured
	eventually(t, "every NIC has its profile", func() bool {
		now = n.picture(t)
		if n.ready != nil {
			return n.ready(now)
		}
		active := map[string]string{}
		for _, d := range now.Devices {
			active[d.Name] = d.Profile
		}
		return active["eth1"] != "" && active["eth3"] != "" && active["br9"] != "" && active["eth4"] != "" && active["eth5"] != "" &&
			strings.Contains(now.kernel, "eth4 veth mtu 1500 02:00:00:00:00:04 of \"br9\"") &&
			strings.Contains(now.kernel, "198.18.0.9/24") && strings.Contains(now.kernel, "198.51.100.3/24")
	})
	return now
}

// attempt is a change that is in place.
type attempt struct {
	*node
	change
	checkpoint backend.Checkpoint
	before     pictured
	trial      profiles.Trial
	after      pictured
}

func (n *node) attempt(t *testing.T, c change) *attempt {
	t.Helper()
	for _, command := range c.prepare {
		if out, err := exec.Command("sh", "-c", command).CombinedOutput(); err != nil {
			t.Fatalf("%s: %v: %s", command, err, out)
		}
	}
	a := &attempt{node: n, change: c, before: n.settled(t)}
	for _, name := range c.byHand {
		eventually(t, "NetworkManager has seen what was configured by hand", func() bool {
			a.before = n.picture(t)
			return slices.ContainsFunc(a.before.Devices, func(d profiles.Device) bool { return d.Name == name && d.External })
		})
	}
	checkpoint, held, err := n.backend.Apply(t.Context(), parsed(t, c.desired), time.Minute, nil)
	if err != nil {
		t.Fatal(err)
	}
	a.checkpoint, a.after = checkpoint, n.picture(t)
	a.trial = profiles.Trial{Snapshot: a.after.Snapshot, Held: held}
	if diff := cmp.Diff(onDisk(a.before.Files), onDisk(a.after.Files)); diff != "" {
		t.Errorf("the trial has changed the disk:\n%s", diff)
	}
	if a.after.Hostname != a.before.Hostname {
		t.Errorf("the trial has changed the next boot's hostname to %s", a.after.Hostname)
	}
	return a
}

func onDisk(files profiles.Files) map[string]string {
	found := map[string]string{}
	for at, file := range files {
		if path.Dir(at) != profiles.RunDir {
			found[at] = fmt.Sprintf("%o %s", file.Mode, file.Content)
		}
	}
	return found
}

func (a *attempt) do(t *testing.T, actions []profiles.Action) {
	t.Helper()
	for _, action := range actions {
		t.Logf("%s", action)
		// What is not there any more needs nothing: a veth goes with its peer.
		if err := a.backend.Do(t.Context(), action); err != nil && !errors.Is(err, backend.ErrGone) {
			t.Fatal(err)
		}
	}
}

func (a *attempt) filesBack(t *testing.T, seen profiles.Snapshot) {
	t.Helper()
	a.do(t, profiles.FilesBack(a.before.Snapshot, &a.trial, seen, a.picture(t).Snapshot))
	a.do(t, profiles.DNSBack(&a.trial))
}

func (a *attempt) devicesBack(t *testing.T, seen profiles.Snapshot) {
	t.Helper()
	touched := profiles.Touched(a.before.Snapshot, &a.trial, seen)
	a.do(t, profiles.DevicesBack(a.before.Snapshot, &a.trial, seen, a.picture(t).Snapshot, touched))
}

// endings are how a trial ends, with whether it is to be as before then.
func endings() map[string]func(*testing.T, *attempt) {
	return map[string]func(*testing.T, *attempt){
		"rollback": func(t *testing.T, a *attempt) {
			seen := a.picture(t).Snapshot
			a.filesBack(t, seen)
			// NetworkManager may tell that it could not take back all; and it does
			// not where a device is just going down. Then the devices follow.
			if err := a.backend.Rollback(t.Context(), a.checkpoint); err != nil {
				t.Logf("rollback: %v", err)
			}
			a.filesBack(t, seen)
			if lines := a.differences(t, false); len(lines) > 0 {
				t.Logf("after NetworkManager's rollback it is not as before:\n%s", strings.Join(lines, "\n"))
				a.devicesBack(t, seen)
			}
			a.isAsBefore(t, false)
		},
		"NetworkManager killed": func(t *testing.T, a *attempt) {
			a.RestartNetworkManager(t)
			seen := a.picture(t).Snapshot
			a.filesBack(t, seen)
			a.devicesBack(t, seen)
			a.isAsBefore(t, false)
		},
		"reboot": func(t *testing.T, a *attempt) {
			a.Reboot(t)
			a.isAsBefore(t, a.forgets)
		},
		"made permanent": func(t *testing.T, a *attempt) {
			change := profiles.Change{Absent: a.absent, Hostname: parsed(t, a.desired).Hostname()}
			a.do(t, profiles.Permanent(a.before.Snapshot, &a.trial, a.picture(t).Snapshot, change))
			if err := a.backend.Commit(t.Context(), a.checkpoint); err != nil {
				t.Fatal(err)
			}
			a.do(t, profiles.Tidy(a.before.Snapshot, &a.trial, a.picture(t).Snapshot, change))
			a.Reboot(t)
			a.isAsInTheTrial(t, change)
		},
	}
}

func (a *attempt) isAsBefore(t *testing.T, forgets bool) {
	t.Helper()
	if lines := a.differences(t, forgets); len(lines) > 0 {
		t.Errorf("it is not as before:\n%s", strings.Join(lines, "\n"))
	}
}

// differences from before the trial that stay. forgets leaves the kernel out.
func (a *attempt) differences(t *testing.T, forgets bool) []string {
	t.Helper()
	var lines []string
	for deadline := time.Now().Add(patience); time.Now().Before(deadline); time.Sleep(100 * time.Millisecond) {
		now := a.picture(t)
		lines = profiles.Differences(a.before.Snapshot, &a.trial, now.Snapshot, now.Snapshot)
		compared := map[string][2]string{"resolv.conf": {a.before.resolv, now.resolv}, "global DNS": {a.before.dns, now.dns},
			"disk": {fmt.Sprint(onDisk(a.before.Files)), fmt.Sprint(onDisk(now.Files))}}
		if !forgets {
			compared["kernel"] = [2]string{a.before.kernel, now.kernel}
		}
		for what, both := range compared {
			if diff := cmp.Diff(both[0], both[1]); diff != "" {
				lines = append(lines, what+":\n"+diff)
			}
		}
		if len(lines) == 0 {
			return nil
		}
	}
	return lines
}

func (a *attempt) isAsInTheTrial(t *testing.T, change profiles.Change) {
	t.Helper()
	var now pictured
	deadline := time.Now().Add(patience)
	for time.Now().Before(deadline) {
		now = a.picture(t)
		if now.kernel == a.after.kernel && now.resolv == a.after.resolv && len(now.Unsaved) == len(a.before.Unsaved) {
			break
		}
		time.Sleep(100 * time.Millisecond)
	}
	if diff := cmp.Diff([]string{a.after.kernel, a.after.resolv}, []string{now.kernel, now.resolv}); diff != "" {
		t.Errorf("the kernel and resolv.conf, in the trial (-) and after a reboot (+):\n%s", diff)
	}
	if diff := cmp.Diff(a.before.Unsaved, now.Unsaved); diff != "" {
		t.Errorf("in memory only, before (-) and after a reboot (+):\n%s", diff)
	}
	if change.Hostname != "" && now.Hostname != change.Hostname {
		t.Errorf("the next boot's hostname is %s, want %s", now.Hostname, change.Hostname)
	}
}

// TestTrial ends the kinds of change that differ most in every way, and with
// NMSTATE_ALL_SCENARIOS=1, which takes ten minutes, every kind. The lab has its own
// table of them (e2e/trial).
func TestTrial(t *testing.T) {
	few := []string{"bridge", "a bridge away, its port static", "veth", "DNS", "a NIC with two profiles"}
	for name, c := range changes() {
		if os.Getenv("NMSTATE_ALL_SCENARIOS") != "1" && !slices.Contains(few, name) {
			continue
		}
		for ending, end := range endings() {
			if c.onlyByState && (ending == "rollback" || ending == "NetworkManager killed") {
				continue
			}
			t.Run(name+", "+ending, func(t *testing.T) {
				n := newNodeWith(t, []string{"eth2", "eth3", "eth4", "eth5"}, byHand())
				end(t, n.attempt(t, c))
			})
		}
	}
}
