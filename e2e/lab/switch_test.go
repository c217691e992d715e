//go:build linux

package lab

import (
	"errors"
	"fmt"
	"strings"
	"testing"
)

func TestASwitchFailsAndIsMended(t *testing.T) {
	topology, err := LoadTopology("topologies/dual-stack.yaml")
	if err != nil {
		t.Fatal(err)
	}
	l := mustUp(t, Options{Root: testRoot(t), Topology: topology})
	n := mustNode(t, l, "node")
	mustSwitch := func(what, address string) {
		t.Helper()
		if err := l.Switch(t.Context(), "lan", what, address); err != nil {
			t.Fatal(err)
		}
	}
	answers(t, n, "192.0.2.1", true)
	mustSwitch(SwitchDown, "")
	answers(t, n, "192.0.2.1", false)
	if carrier := strings.TrimSpace(mustExec(t, n, "cat", "/sys/class/net/eth0/carrier")); carrier != "1" {
		t.Errorf("carrier %s: a switch that is down keeps it", carrier)
	}
	mustSwitch(SwitchUp, "")
	answers(t, n, "192.0.2.1", true)
	answers(t, n, "2001:db8::1", true)
	mustSwitch(Claim, "192.0.2.77")
	answers(t, n, "192.0.2.77", true)
	mustSwitch(Release, "192.0.2.77")
	answers(t, n, "192.0.2.77", false)
	mustSwitch(Frames, "4000")
	mustExec(t, n, "ip", "link", "set", "eth0", "mtu", "9000")
	for size, passes := range map[string]bool{"3972": true, "4000": false, "8972": false} {
		_, err := n.Exec(t.Context(), "ping", "-c", "1", "-W", "1", "-M", "do", "-s", size, "192.0.2.1")
		if (err == nil) != passes {
			t.Errorf("a packet with %s bytes of data: %v, want passes: %t", size, err, passes)
		}
	}
	for want, tt := range map[string][3]string{
		"switch wan: there is no such switch":                         {"wan", SwitchDown, ""},
		"switch lan: it speaks no LACP":                               {"lan", LACPSilent, ""},
		`switch lan: "nowhere" is not an IP address`:                  {"lan", Claim, "nowhere"},
		"switch lan: 192.0.2.1 is the gateway's own address":          {"lan", Claim, "192.0.2.1"},
		`switch lan: "ten" is no size of a packet`:                    {"lan", Frames, "ten"},
		`switch lan: "tired" is none of down, up, lacp-silent, lacp-`: {"lan", "tired", ""},
	} {
		if err := l.Switch(t.Context(), tt[0], tt[1], tt[2]); err == nil || !strings.HasPrefix(err.Error(), want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: got %v", want, err)
		}
	}
}

// answers waits until a host answers a node's pings, or does not any more.
func answers(t *testing.T, n *Node, address string, wanted bool) {
	t.Helper()
	eventually(t, fmt.Sprintf("%s answers: %v", address, wanted), func() error {
		_, err := n.Exec(t.Context(), "ping", "-c", "1", "-W", "1", address)
		if (err == nil) != wanted {
			return errors.Join(errors.New("not so"), err)
		}
		return nil
	})
}

const trunkAndLACP = `
nodes:
- name: node
  nics:
  - {name: eth0, switch: lan, address: 192.0.2.11/24}
  - {name: eth1, switch: pair}
  - {name: eth2, switch: pair}
  - {name: eth3, switch: trunk}
  links:
  - {name: bond0, type: bond, mode: 802.3ad, ports: [eth1, eth2], address: 198.51.100.11/24}
  - {name: eth3.100, type: vlan, base: eth3, id: 100, address: 203.0.113.10/24}
switches:
- {name: lan, gateway: 192.0.2.1/24}
- {name: pair, gateway: 198.51.100.1/24, lacp: true}
- {name: trunk, gateway: 198.18.2.1/24}
- {name: hundred, over: trunk, vlan: 100, gateway: 203.0.113.1/24}
`

func TestASwitchInAVMDropsAVLANAndSpeaksNoLACP(t *testing.T) {
	wantVM(t)
	topology, err := ParseTopology([]byte(trunkAndLACP))
	if err != nil {
		t.Fatal(err)
	}
	l := mustUp(t, Options{Root: testRoot(t), Topology: topology, VM: true})
	n := mustNode(t, l, "node")
	partner := func(wanted bool) {
		t.Helper()
		eventually(t, fmt.Sprintf("the bond has a partner: %v", wanted), func() error {
			mac, err := n.Exec(t.Context(), "cat", "/sys/class/net/bond0/bonding/ad_partner_mac")
			if has := strings.TrimSpace(string(mac)) != "00:00:00:00:00:00"; err == nil && has != wanted {
				err = fmt.Errorf("its partner is %s", mac)
			}
			return err
		})
	}
	mustSwitch := func(name, what string) {
		t.Helper()
		if err := l.Switch(t.Context(), name, what, ""); err != nil {
			t.Fatal(err)
		}
	}
	partner(true)
	answers(t, n, "198.51.100.1", true)
	mustSwitch("pair", LACPSilent)
	partner(false)
	mustSwitch("pair", LACPSpeaks)
	partner(true)
	answers(t, n, "198.51.100.1", true)
	answers(t, n, "203.0.113.1", true)
	mustSwitch("hundred", SwitchDown)
	answers(t, n, "203.0.113.1", false)
	mustSwitch("hundred", SwitchUp)
	answers(t, n, "203.0.113.1", true)
}
