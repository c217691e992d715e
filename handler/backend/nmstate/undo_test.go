//go:build linux && cgo && nmstate

package nmstate

import (
	"encoding/json"
	"net/netip"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/nmstate/kubernetes-nmstate/handler/state"
)

// configured are profiles of a NIC, by what is not the default in them.
func configured() map[string]string {
	const ll6 = "[ipv6]\nmethod=link-local\n"
	const no6 = "[ipv6]\nmethod=disabled\n"
	return map[string]string{
		"DHCP that takes an address only": "[ipv4]\nmethod=auto\ndhcp-timeout=2147483647\nnever-default=true\nignore-auto-dns=true\nignore-auto-routes=true\nroute-metric=300\ndhcp-send-hostname=false\n" + ll6,
		"DHCP into another table":         "[ipv4]\nmethod=auto\ndhcp-timeout=2147483647\nroute-table=100\ndhcp-hostname=rack7\n" + ll6,
		"advertisements without gateway":  "[ipv4]\nmethod=disabled\n[ipv6]\nmethod=auto\naddr-gen-mode=0\nnever-default=true\nignore-auto-dns=true\n",
		"advertisements, stable privacy":  "[ipv4]\nmethod=disabled\n[ipv6]\nmethod=auto\naddr-gen-mode=1\nroute-metric=400\n",
		"static, with a route and a rule": "[ipv4]\nmethod=manual\naddress1=198.51.102.9/24\naddress2=198.51.102.10/24\nroute1=203.0.113.0/24,198.51.102.1,77\nroute1_options=table=200\nrouting-rule1=priority 1000 from 198.51.102.9/32 table 200\nroute-metric=55\nnever-default=true\n" + no6,
		"static, both families":           "[ipv4]\nmethod=manual\naddress1=198.51.102.9/24\ndns=198.51.102.53;\ndns-search=example.org;\ndns-priority=40\n[ipv6]\nmethod=manual\naddress1=2001:db8:102::9/64\nroute1=2001:db8:f::/48,2001:db8:102::1\n",
		"a large MTU":                     "[ethernet]\nmtu=1600\n[ipv4]\nmethod=manual\naddress1=198.51.102.9/24\n" + no6,
		"another hardware address":        "[ethernet]\ncloned-mac-address=02:00:00:00:00:77\n[ipv4]\nmethod=manual\naddress1=198.51.102.9/24\n" + no6,
		"a gateway outside":               "[ipv4]\nmethod=manual\naddress1=198.51.102.9/32\ngateway=198.51.103.1\nroute-metric=900\n" + no6,
		"LLDP":                            "[connection]\nlldp=1\n[ipv4]\nmethod=manual\naddress1=198.51.102.9/24\n" + no6,
	}
}

func imposed() map[string]string {
	of := func(rest string) string {
		return `{"interfaces": [{"name": "eth2", "type": "ethernet", "state": "up", ` + rest + `}]}`
	}
	const no6 = `"ipv6": {"enabled": false}`
	return map[string]string{
		"an address": of(`"ipv4": {"enabled": true, "dhcp": false, "address": [{"ip": "198.51.102.2", "prefix-length": 24}]}`),
		"IPv6":       of(`"ipv6": {"enabled": true, "dhcp": false, "autoconf": false, "address": [{"ip": "2001:db8:102::2", "prefix-length": 64}]}`),
		"no IP":      of(`"ipv4": {"enabled": false}, ` + no6),
		"DHCP":       of(`"ipv4": {"enabled": true, "dhcp": true}, "ipv6": {"enabled": true, "dhcp": true, "autoconf": true}`),
		"its MTU":    of(`"mtu": 1400`),
		"a bridge": `{"interfaces": [{"name": "br0", "type": "linux-bridge", "state": "up", "bridge": {"options": {"stp": {"enabled": false}}, "port": [{"name": "eth2"}]},
			"ipv4": {"enabled": true, "dhcp": false, "address": [{"ip": "198.51.102.2", "prefix-length": 24}]}, ` + no6 + `}]}`,
		"LLDP, and another address": of(`"mac-address": "02:00:00:00:00:99", "lldp": {"enabled": true}`),
	}
}

// TestUndoInTheField: what a policy has made of a NIC goes back to what it was, in the words of
// nmstate and in the kernel's. With NMSTATE_ALL_SCENARIOS=1, which takes three minutes, it tries
// every policy.
func TestUndoInTheField(t *testing.T) {
	few := []string{"an address", "DHCP", "a bridge"}
	for profile, lines := range configured() {
		for policy, desired := range imposed() {
			if os.Getenv("NMSTATE_ALL_SCENARIOS") != "1" && !slices.Contains(few, policy) {
				continue
			}
			t.Run(profile+", "+policy, func(t *testing.T) {
				advertise(t, "peer1", netip.MustParsePrefix("2001:db8:102::/64"))
				n := &node{nics: []string{"eth2"}, files: map[string]string{onDiskDir + "eth2.nmconnection": "[connection]\nid=eth2\nuuid=00000000-0000-4000-8000-000000000044\ntype=ethernet\ninterface-name=eth2\n" + lines}}
				n.begin(t)
				before := n.shown(t)
				kernel := n.Kernel(t)
				wanted := parsed(t, desired)
				if profile == "static, both families" && policy == "no IP" {
					_, _, err := n.backend.Apply(t.Context(), wanted, time.Minute, nil)
					if err == nil || !strings.Contains(err.Error(), "dns-resolver") {
						t.Errorf("nmstate takes IP from a profile with name servers: %v", err)
					}
					return
				}
				n.applied(t, wanted)
				owned := state.Originals{}.Remember(state.State{}, wanted, before, nil)
				back := state.Undo(wanted, state.State{}, state.Paths(wanted), owned, n.shown(t))
				t.Logf("back: %s", back.JSON())
				n.applied(t, back)
				var diff string
				for deadline := time.Now().Add(patience); time.Now().Before(deadline); time.Sleep(100 * time.Millisecond) {
					diff = cmp.Diff(of(before, "eth2"), of(n.shown(t), "eth2")) + cmp.Diff(kernel, n.Kernel(t))
					if diff == "" {
						return
					}
				}
				t.Errorf("before (-) and after the undo (+):\n%s", diff)
			})
		}
	}
}

func (n *node) shown(t *testing.T) state.State {
	t.Helper()
	found, err := n.backend.Show(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return found
}

func (n *node) applied(t *testing.T, desired state.State) {
	t.Helper()
	checkpoint, _, err := n.backend.Apply(t.Context(), desired, time.Minute, nil)
	if err != nil {
		t.Fatalf("applying %s: %v", desired.JSON(), err)
	}
	if err := n.backend.Commit(t.Context(), checkpoint); err != nil {
		t.Fatal(err)
	}
}

// byItself are lines of what nmstate sets with DHCP whoever asks (its identity is that of
// the hardware address then, NetworkManager's default), and of what passes.
var byItself = regexp.MustCompile(`(?m)^ *"(dhcp-client-id|dhcp-duid|valid-life-time|preferred-life-time)": .*\n|(,\n *)?"(mptcp|address)-flags": \[[^]]*\]`)

// of is what a state says of an interface, and of routes and rules.
func of(all state.State, name string) string {
	one, _ := all.Interface(name)
	tree := all.Tree()
	raw, _ := json.MarshalIndent([]any{one.Tree(), tree["routes"], tree["route-rules"], tree["dns-resolver"]}, "", " ")
	return byItself.ReplaceAllString(string(raw), "")
}
