//go:build linux && cgo && nmstate

package nmstate

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	library "github.com/nmstate/kubernetes-nmstate/handler/libnmstate"
	"github.com/nmstate/kubernetes-nmstate/handler/state"
)

// spelt are documents in spellings that the canonical form does not keep.
var spelt = map[string]string{
	"addresses, numbers, true and false": `{"interfaces": [
		{"name": "eth2", "type": "ethernet", "state": "up", "mtu": "0x578", "mac-address": "02:00:00:00:00:2a",
		 "ipv4": {"enabled": "yes", "dhcp": "false", "address": [{"ip": "198.51.100.2", "prefix-length": "24"}]},
		 "ipv6": {"enabled": 1, "dhcp": "no", "autoconf": "off", "address": [{"ip": "2001:0db8:0::2", "prefix-length": "64"}]}}]}`,
	"routes, rules and name servers": `{
		"interfaces": [{"name": "eth2", "type": "ethernet", "state": "up",
		 "ipv4": {"enabled": true, "dhcp": false, "address": [{"ip": "198.51.100.2", "prefix-length": 24}]}, "ipv6": {"enabled": false}}],
		"routes": {"config": [
			{"destination": "203.0.113.7", "next-hop-address": "198.51.100.1", "next-hop-interface": "eth2", "table-id": "200", "metric": "150"},
			{"destination": "198.18.0.9/16", "next-hop-address": "198.51.100.1", "next-hop-interface": "eth2"}]},
		"route-rules": {"config": [{"ip-from": "198.51.100.77/24", "route-table": "200", "priority": "1000"}]},
		"dns-resolver": {"config": {"server": ["192.0.2.53"], "search": ["example.org"]}}}`,
	"a bridge by the other names of its keys": `{"interfaces": [
		{"name": "br7", "type": "linux-bridge", "state": "up", "ipv4": {"enabled": "false"}, "ipv6": {"enabled": "false"},
		 "bridge": {"options": {"group-forward-mask": "8", "mac-ageing-time": "200", "stp": {"enabled": "no"}},
			"ports": [{"name": "eth2", "stp-hairpin-mode": "yes", "stp-path-cost": "50"}]}}]}`,
	"a VXLAN and a MAC-VLAN": `{"interfaces": [
		{"name": "vx7", "type": "vxlan", "state": "up", "vxlan": {"base-iface": "eth2", "id": "7", "remote": "198.51.100.9", "destination-port": "4789"}},
		{"name": "mv7", "type": "mac-vlan", "state": "up", "mac-vlan": {"base-iface": "eth2", "mode": "bridge", "promiscuous": "yes"}},
		{"name": "eth2", "type": "ethernet", "state": "up", "mtu": "1450"}]}`,
}

// TestNmstateMakesTheSameOfTheCanonicalForm has nmstate itself apply each document as it
// is written, and in its canonical form, on a fresh node each.
func TestNmstateMakesTheSameOfTheCanonicalForm(t *testing.T) {
	for name, raw := range spelt {
		t.Run(name, func(t *testing.T) {
			desired, err := state.ParseDesired([]byte(raw))
			if err != nil {
				t.Fatal(err)
			}
			canonical := string(state.Canonical(desired).JSON())
			if canonical == string(desired.JSON()) {
				t.Fatal("it is canonical as it is written")
			}
			if diff := cmp.Diff(made(t, raw), made(t, canonical)); diff != "" {
				t.Errorf("the canonical form makes another node (-as written +canonical):\n%s", diff)
			}
		})
	}
}

// made is the node on which nmstate has applied a document: its kernel, its resolver, and
// NetworkManager's files.
func made(t *testing.T, raw string) map[string]string {
	t.Helper()
	n := newNodeWith(t, []string{"eth2"}, nil)
	defer n.stopNetworkManager(t)
	before := n.Kernel(t)
	if _, err := library.New().ApplyNetState(raw); err != nil {
		t.Fatal(err)
	}
	now := n.picture(t)
	if now.kernel == before {
		t.Fatal("it changed nothing")
	}
	found := map[string]string{"kernel": byChance.ReplaceAllString(now.kernel, "$1"), "resolv.conf": now.resolv, "dns": now.dns}
	for path, content := range now.Files {
		lines := slices.DeleteFunc(strings.Split(string(content.Content), "\n"), func(line string) bool {
			return strings.HasPrefix(line, "uuid=") || strings.HasPrefix(line, "timestamp=")
		})
		found[path] = strings.Join(lines, "\n")
	}
	return found
}

// byChance are hardware addresses that the kernel draws.
var byChance = regexp.MustCompile(`((?:vx7|mv7) \S+ mtu \d+ )\S+`)
