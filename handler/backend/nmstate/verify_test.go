//go:build linux && cgo && nmstate

package nmstate

import (
	"context"
	"errors"
	"io"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	library "github.com/nmstate/kubernetes-nmstate/handler/libnmstate"
	"github.com/nmstate/kubernetes-nmstate/handler/state"
)

// verified are changes beside those of changes(), one for each type of interface
// that the kernel of a small machine can make.
func verified() map[string]string {
	return map[string]string{
		"vxlan": `{"interfaces": [{"name": "vx1", "type": "vxlan", "state": "up",
			"vxlan": {"base-iface": "eth2", "id": 10, "remote": "192.0.2.250", "destination-port": 4789}}]}`,
		"mac-vlan": `{"interfaces": [{"name": "mv1", "type": "mac-vlan", "state": "up", "mac-vlan": {"base-iface": "eth2", "mode": "bridge", "promiscuous": true},
			"ipv4": {"enabled": true, "dhcp": false, "address": [{"ip": "198.51.100.77", "prefix-length": 24}]}}]}`,
		"bridge with options": `{"interfaces": [{"name": "br7", "type": "linux-bridge", "state": "up", "mtu": 1450,
			"bridge": {"options": {"mac-ageing-time": 200, "stp": {"enabled": true, "forward-delay": 10, "hello-time": 2, "max-age": 18, "priority": 4096}},
			"port": [{"name": "eth2", "stp-priority": 16, "stp-path-cost": 50}]}}]}`,
		"policy routing": `{"routes": {"config": [{"destination": "198.18.0.0/24", "next-hop-interface": "eth1", "next-hop-address": "192.0.2.254", "table-id": 200}]},
			"route-rules": {"config": [{"ip-from": "192.0.2.0/24", "route-table": 200, "priority": 1000}]}}`,
		"IPv6 without IPv4": `{"interfaces": [{"name": "eth2", "type": "ethernet", "state": "up", "ipv4": {"enabled": false},
			"ipv6": {"enabled": true, "autoconf": false, "dhcp": false, "address": [{"ip": "2001:DB8:9:0::1", "prefix-length": 64}]}}]}`,
		"DHCP that nobody answers": `{"interfaces": [{"name": "eth2", "type": "ethernet", "state": "up", "ipv4": {"enabled": true, "dhcp": true}}]}`,
		"DHCP without what it brings": `{"interfaces": [{"name": "eth2", "type": "ethernet", "state": "up",
			"ipv4": {"enabled": true, "dhcp": true, "auto-dns": false, "auto-gateway": false, "auto-routes": false},
			"ipv6": {"enabled": true, "autoconf": true, "dhcp": true, "auto-dns": false, "auto-gateway": false, "auto-routes": false}}]}`,
		"a name, an address and a neighbour": `{"interfaces": [{"name": "eth2", "type": "ethernet", "state": "up", "description": "uplink",
			"mac-address": "02:00:00:00:0a:01", "mtu": 1400, "lldp": {"enabled": true}}]}`,
		"a NIC that is down": `{"interfaces": [{"name": "eth2", "type": "ethernet", "state": "down"}]}`,
	}
}

// TestWhatOursVerifiesNmstateVerifiesToo: nmstate applies what stands already, with its own
// verification, and neither refuses nor changes anything.
func TestWhatOursVerifiesNmstateVerifiesToo(t *testing.T) {
	all := verified()
	for name, c := range changes() {
		if len(c.absent)+len(c.prepare) == 0 { // In memory nmstate verifies an absence as something else (absences).
			all[name] = c.desired
		}
	}
	for name, desired := range all {
		t.Run(name, func(t *testing.T) {
			n := newNodeWith(t, []string{"eth2", "eth3", "eth4", "eth5"}, byHand())
			wanted := parsed(t, desired)
			if verifiesItself(wanted) {
				t.Fatal("nmstate verifies it by itself, so there is nothing to compare")
			}
			n.settled(t)
			checkpoint, _, err := n.backend.Apply(t.Context(), wanted, time.Minute, nil)
			if err != nil {
				t.Fatal(err)
			}
			if err := n.backend.Commit(t.Context(), checkpoint); err != nil {
				t.Fatal(err)
			}
			before := n.Kernel(t)
			if err := applyUncommitted(string(wanted.ForTrial().JSON()), trialOptions{rollbackAfter: time.Minute, verify: true}, io.Discard); err != nil {
				t.Errorf("nmstate refuses what we took for applied: %v", err)
			}
			if diff := cmp.Diff(before, n.Kernel(t)); diff != "" {
				t.Errorf("nmstate had to change something:\n%s", diff)
			}
		})
	}
}

// TestWhatIsHalfDoneIsNotTakenForApplied: of what somebody takes away, nmstate sees a
// difference, and so do we.
func TestWhatIsHalfDoneIsNotTakenForApplied(t *testing.T) {
	const bridge = `{"interfaces": [{"name": "br0", "type": "linux-bridge", "state": "up", "mtu": 1450,
		"bridge": {"options": {"mac-ageing-time": 200, "stp": {"enabled": false}}, "port": [{"name": "eth2"}]},
		"ipv4": {"enabled": true, "dhcp": false, "address": [{"ip": "198.51.100.1", "prefix-length": 24}]}, "ipv6": {"enabled": false}}],
		"routes": {"config": [{"destination": "203.0.113.0/24", "next-hop-address": "198.51.100.254", "next-hop-interface": "br0"}]},
		"route-rules": {"config": [{"ip-from": "192.0.2.0/24", "route-table": 200, "priority": 1000}]}}`
	for name, command := range map[string]string{
		"the interface":     "ip link del br0",
		"its port":          "ip link set eth2 nomaster",
		"its address":       "ip addr del 198.51.100.1/24 dev br0",
		"its MTU":           "ip link set br0 mtu 1400",
		"its option":        "ip link set br0 type bridge ageing_time 10000",
		"its route":         "ip route del 203.0.113.0/24",
		"the rule":          "ip rule del priority 1000",
		"that it is up":     "ip link set br0 down",
		"spanning tree off": "ip link set br0 type bridge stp_state 1",
	} {
		t.Run(name, func(t *testing.T) {
			n := newNodeWith(t, []string{"eth2"}, nil)
			wanted := parsed(t, bridge)
			if _, _, err := n.backend.Apply(t.Context(), wanted, time.Minute, nil); err != nil {
				t.Fatal(err)
			}
			// NetworkManager would mend a part of it at once.
			n.stopNetworkManager(t)
			if _, ours := fromKernel(t, wanted); len(ours) > 0 {
				t.Fatalf("nothing was broken yet, and we miss %v", ours)
			}
			if out, err := exec.Command("sh", "-c", command).CombinedOutput(); err != nil {
				t.Fatalf("%s: %v: %s", command, err, out)
			}
			raw, ours := fromKernel(t, wanted)
			theirs, err := library.New().GenerateDifferences(string(wanted.JSON()), raw)
			if err != nil {
				t.Fatal(err)
			}
			if len(ours) == 0 {
				t.Errorf("we miss nothing; nmstate: %s", theirs)
			}
			t.Logf("ours: %v\nnmstate: %s", ours, theirs)
		})
	}
}

// fromKernel is what libnmstate reads of the kernel, and what of wanted it lacks.
func fromKernel(t *testing.T, wanted state.State) (string, []state.Difference) {
	t.Helper()
	raw, err := library.New(library.WithKernelOnly()).RetrieveNetState()
	if err != nil {
		t.Fatal(err)
	}
	current, err := state.Parse([]byte(raw))
	if err != nil {
		t.Fatal(err)
	}
	return raw, state.Missing(wanted, current)
}

// newNodeThatDetects has NetworkManager look for others that have an address, as it does by
// itself from 1.46 on.
func newNodeThatDetects(t *testing.T) *node {
	t.Helper()
	n := &node{nics: []string{"eth2"}, files: map[string]string{"/etc/NetworkManager/conf.d/dad.conf": "[connection]\nipv4.dad-timeout=200\n"}}
	n.begin(t)
	return n
}

// taken is a change that NetworkManager does not carry out: another host, the other
// end of the cable, has the address.
func (n *node) taken(t *testing.T) state.State {
	t.Helper()
	if out, err := exec.Command("ip", "addr", "add", "198.51.100.9/24", "dev", "peer1").CombinedOutput(); err != nil {
		t.Fatalf("giving the other end the address: %v: %s", err, out)
	}
	return parsed(t, `{"interfaces": [{"name": "eth2", "type": "ethernet", "state": "up",
		"ipv4": {"enabled": true, "dhcp": false, "address": [{"ip": "198.51.100.9", "prefix-length": 24}]}}]}`)
}

// TestWhatDoesNotComeIsTakenBack: what NetworkManager was told and the node never
// has is an error that names it, and the checkpoint is spent.
func TestWhatDoesNotComeIsTakenBack(t *testing.T) {
	n := newNodeThatDetects(t)
	taken := n.taken(t)
	before := n.Kernel(t)
	_, _, err := n.backend.Apply(t.Context(), taken, time.Minute, nil)
	t.Logf("Apply: %v", err)
	if err == nil || !strings.Contains(err.Error(), "interfaces[eth2].ipv4.address: 198.51.100.9/24") {
		t.Errorf("Apply: %v", err)
	}
	eventually(t, "it is as before", func() bool {
		pending, err := n.backend.Pending(t.Context())
		return err == nil && len(pending) == 0 && n.Kernel(t) == before
	})
}

// TestAKilledVerificationLeavesTheCheckpointArmed: as any killed apply does.
func TestAKilledVerificationLeavesTheCheckpointArmed(t *testing.T) {
	n := newNodeThatDetects(t)
	taken := n.taken(t)
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
	defer cancel()
	_, _, err := n.backend.Apply(ctx, taken, time.Minute, nil)
	if !errors.Is(err, context.DeadlineExceeded) {
		t.Fatalf("Apply: %v", err)
	}
	pending, err := n.backend.Pending(t.Context())
	if err != nil || len(pending) != 1 {
		t.Errorf("pending: %v, %v", pending, err)
	}
}

func TestNmstateVerifiesWhatOnlySomeDriversReport(t *testing.T) {
	for name, c := range map[string]struct {
		desired string
		theirs  bool
	}{
		"a bridge with a port and an address": {`{"interfaces": [{"name": "br0", "type": "linux-bridge", "state": "up", "bridge": {"port": [{"name": "eth1"}]},
			"ipv4": {"enabled": true, "address": [{"ip": "192.0.2.1", "prefix-length": 24}]}}]}`, false},
		"a NIC that is not told the type of": {`{"interfaces": [{"name": "eth1", "mtu": 1400}]}`, false},
		"routes, rules and name servers":     {`{"routes": {"config": []}, "route-rules": {"config": []}, "dns-resolver": {"config": {}}}`, false},
		"a ring":                             {`{"interfaces": [{"name": "eth1", "type": "ethernet", "ethtool": {"ring": {"rx": 512}}}]}`, true},
		"virtual functions":                  {`{"interfaces": [{"name": "eth1", "type": "ethernet", "ethernet": {"sr-iov": {"total-vfs": 2}}}]}`, true},
		"802.1X":                             {`{"interfaces": [{"name": "eth1", "type": "ethernet", "802.1x": {"identity": "a"}}]}`, true},
		"Open vSwitch":                       {`{"interfaces": [{"name": "br1", "type": "ovs-bridge", "state": "up"}]}`, true},
		"a DHCP client's words":              {`{"interfaces": [{"name": "eth1", "type": "ethernet", "ipv4": {"dhcp": true, "dhcp-client-id": "ll"}}]}`, true},
	} {
		t.Run(name, func(t *testing.T) {
			if got := verifiesItself(parsed(t, c.desired)); got != c.theirs {
				t.Errorf("nmstate verifies it: %t", got)
			}
		})
	}
}
