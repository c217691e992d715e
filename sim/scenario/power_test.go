package scenario

import (
	"fmt"
	"strings"
	"testing"
)

// kindOfChange is one that leads back to what was there, or stays.
type kindOfChange struct {
	// before is applied first, and stays; empty for nothing.
	before string
	state  string
	// there is what the change brings, gone what it takes away.
	there, gone string
}

const nic0 = `{name: eth0, type: ethernet, state: up, ipv4: {enabled: true, dhcp: false, address: [{ip: 192.0.2.11, prefix-length: 24}%s]}}`

var kindsOfChange = map[string]kindOfChange{
	"a static address": {
		state: "interfaces: [" + fmt.Sprintf(nic0, ", {ip: 198.18.0.9, prefix-length: 24}") + "]",
		there: "address eth0 198.18.0.9/24",
	},
	"a bridge takes the NIC": {
		state: `{interfaces: [{name: br1, type: linux-bridge, state: up, bridge: {options: {stp: {enabled: false}}, port: [{name: eth0, vlan: {}}]},
			ipv4: {enabled: true, dhcp: false, address: [{ip: 192.0.2.11, prefix-length: 24}]}}],
			routes: {config: [{destination: 0.0.0.0/0, next-hop-address: 192.0.2.1, next-hop-interface: br1, metric: 100}]}}`,
		there: "link eth0 controller br1", gone: "address eth0 192.0.2.11/24",
	},
	"a bridge is to be absent": {
		before: `interfaces: [{name: br7, type: linux-bridge, state: up, bridge: {options: {stp: {enabled: false}}, port: [{name: eth1, vlan: {}}]}}]`,
		state:  `interfaces: [{name: br7, type: linux-bridge, state: absent}]`,
		gone:   "link br7 linux-bridge up",
	},
	"a veth pair": {
		state: `interfaces: [{name: veth1, type: veth, state: up, veth: {peer: veth2}}, {name: veth2, type: veth, state: up, veth: {peer: veth1}}]`,
		there: "link veth1 veth up",
	},
	"an MTU":  {state: `interfaces: [{name: eth1, type: ethernet, state: up, mtu: 1400}]`, there: "link eth1 mtu 1400"},
	"a route": {state: `routes: {config: [{destination: 198.51.100.0/24, next-hop-address: 192.0.2.1, next-hop-interface: eth0, metric: 150}]}`, there: "route 198.51.100.0/24 via 192.0.2.1 dev eth0"},
	"Open vSwitch's database": {
		before: `ovs-db: {external_ids: {count: "3", kept: "1"}}`,
		state:  `{ovs-db: {external_ids: {count: "4", new: "1", kept: null}}, ovn: {bridge-mappings: [{localnet: a, bridge: br-a}]}}`,
		there:  "openvswitch external_ids:new 1", gone: "openvswitch external_ids:count 3",
	},
	"scripts": {
		before: `interfaces: [{name: eth1, type: ethernet, state: up, dispatch: {post-activation: "old", post-deactivation: "gone"}}]`,
		state:  `interfaces: [{name: eth1, type: ethernet, state: up, dispatch: {post-activation: "new", post-deactivation: ""}}]`,
		there:  "script eth1 post-activation new", gone: "script eth1 post-deactivation gone",
	},
	"DNS": {state: `dns-resolver: {config: {server: [192.0.2.1], search: [example.net]}}`, there: "dns search example.net"},
}

func policyOf(name, state, more string) string {
	return fmt.Sprintf("apiVersion: nmstate.io/v1\nkind: NodeNetworkConfigurationPolicy\nmetadata: {name: %s}\nspec:\n  probeTimeoutSeconds: 6\n%s  desiredState:\n    %s\n",
		name, more, strings.ReplaceAll(state, "\n\t\t\t", " "))
}

// TestThePowerGoesInEachPhase of a change of each kind, with the handler held back
// as it does and with no API server: the node's network comes back by itself. The
// handler that starts then brings it to its end.
func TestThePowerGoesInEachPhase(t *testing.T) {
	for kind, change := range kindsOfChange {
		for _, phase := range []string{"Applying", "Probing", "Committing", "RollingBack", "Settling"} {
			t.Run(kind+" in "+phase, func(t *testing.T) {
				t.Parallel()
				s, err := Parse(strings.ReplaceAll(kind, " ", "-"), []byte(scriptOf(change, phase)))
				if err != nil {
					t.Fatal(err)
				}
				for seed := range uint64(2) {
					var lines []string
					if _, err := Play(t.Context(), s, Playing{Seed: seed + 1, Said: func(line string) { lines = append(lines, line) }}); err != nil {
						t.Errorf("seed %d: %v\n%s", seed+1, err, strings.Join(lines, "\n"))
					}
				}
			})
		}
	}
}

func scriptOf(change kindOfChange, phase string) string {
	back := phase == "RollingBack" || phase == "Settling"
	lines := []string{"# Made by a test.", ""}
	say := func(format string, args ...any) { lines = append(lines, fmt.Sprintf(format, args...)) }
	if change.before != "" {
		say("apply before.yaml")
		say("await policy before Available")
		say("delete policy before")
		say("await gone policy before")
	}
	say("mark before")
	say("apply change.yaml")
	say("stop handler node1 in %s", phase)
	say("cut api node1")
	say("reboot node1")
	say("advance 14s")
	if phase != "Committing" {
		if change.there != "" {
			say("expect no kernel node1 '%s'", change.there)
		}
		if change.gone != "" {
			say("expect kernel node1 '%s'", change.gone)
		}
	}
	say("expect kernel node1 'route 0.0.0.0/0 via 192.0.2.1'")
	say("heal")
	say("start handler node1")
	if back {
		say("await enactment node1.change Failing")
		say("await same node1 since before")
	} else {
		say("await enactment node1.change Available")
		if change.there != "" {
			say("expect kernel node1 '%s'", change.there)
		}
		if change.gone != "" {
			say("expect no kernel node1 '%s'", change.gone)
		}
	}
	more := ""
	if back {
		more = "  probes: [{type: tcp, target: \"192.0.2.1:9\", timeoutSeconds: 2}]\n"
	}
	text := strings.Join(lines, "\n") + "\n\n-- change.yaml --\n" + policyOf("change", change.state, more)
	if change.before != "" {
		text += "-- before.yaml --\n" + policyOf("before", change.before, "")
	}
	return text
}
