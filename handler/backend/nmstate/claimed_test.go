//go:build linux && cgo && nmstate

package nmstate

import (
	"fmt"
	"net/netip"
	"os/exec"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/vishvananda/netlink"
	"github.com/vishvananda/netns"

	"github.com/nmstate/kubernetes-nmstate/handler/backend"
)

// neighbour is another host at the far end of a NIC, which has the addresses.
func neighbour(t *testing.T, peer string, addresses ...string) {
	t.Helper()
	other := exec.Command("unshare", "--net", "sleep", "600")
	if err := other.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = other.Process.Kill(); _ = other.Wait() })
	pid := other.Process.Pid
	eventually(t, "the other host has its own network", func() bool {
		own, err := netns.Get()
		if err != nil {
			t.Fatal(err)
		}
		defer own.Close()
		others, err := netns.GetFromPid(pid)
		if err != nil {
			return false
		}
		defer others.Close()
		return !own.Equal(others)
	})
	link, err := netlink.LinkByName(peer)
	if err != nil {
		t.Fatal(err)
	}
	if err := netlink.LinkSetNsPid(link, pid); err != nil {
		t.Fatal(err)
	}
	lines := []string{"ip link set lo up", "ip link set " + peer + " up"}
	for _, address := range addresses {
		lines = append(lines, "ip address add "+address+" dev "+peer+" nodad")
	}
	out, err := exec.Command("nsenter", "--net", "--target", strconv.Itoa(pid), "sh", "-ec", strings.Join(lines, "\n")).CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %s", err, out)
	}
}

// An address that another host has is refused, by every NetworkManager: the older ones would
// take it. Where the network can be asked before, nothing is changed.
func TestAnAddressThatAnotherHostHasIsRefused(t *testing.T) {
	const eth2 = `{"interfaces": [{"name": "eth2", "type": "ethernet", "state": "up", %s}]}`
	const ipv4 = `"ipv4": {"enabled": true, "dhcp": false, "address": [{"ip": "203.0.113.%d", "prefix-length": 24}]}`
	const ipv6 = `"ipv6": {"enabled": true, "dhcp": false, "autoconf": false, "address": [{"ip": "2001:db8:9::%d", "prefix-length": 64}]}`
	const bridge = `{"interfaces": [{"name": "br0", "type": "linux-bridge", "state": "up", "bridge": {"options": {"stp": {"enabled": false}}, "port": [{"name": "eth2"}]}, %s}]}`
	const macVLAN = `{"interfaces": [{"name": "mac0", "type": "mac-vlan", "state": "up", "mac-vlan": {"base-iface": "eth2", "mode": "bridge", "promiscuous": true}, %s}]}`
	cases := map[string]struct {
		state string
		// says is what the error has; empty: it is taken.
		says string
		// begun: it is found out once the change was begun, as down has it: the NIC is down before.
		begun, down bool
	}{
		"a NIC takes one that is free":                        {state: fmt.Sprintf(eth2, fmt.Sprintf(ipv4, 11))},
		"of both families":                                    {state: fmt.Sprintf(eth2, fmt.Sprintf(ipv4, 11)+","+fmt.Sprintf(ipv6, 11))},
		"a NIC is refused one that is taken":                  {state: fmt.Sprintf(eth2, fmt.Sprintf(ipv4, 10)), says: "another host on the network of eth2 has 203.0.113.10 already: 02:00:00:00:01:02;"},
		"a bridge that is to be asks by its port":             {state: fmt.Sprintf(bridge, fmt.Sprintf(ipv4, 10)), says: "another host on the network of eth2 has 203.0.113.10 already: 02:00:00:00:01:02;"},
		"what stands on a NIC asks by it":                     {state: fmt.Sprintf(macVLAN, fmt.Sprintf(ipv4, 10)), says: "another host on the network of eth2 has 203.0.113.10 already: 02:00:00:00:01:02;"},
		"a NIC that is down asks once it is up":               {state: fmt.Sprintf(eth2, fmt.Sprintf(ipv4, 10)), down: true, says: "203.0.113.10", begun: true},
		"IPv6: the kernel finds out":                          {state: fmt.Sprintf(eth2, fmt.Sprintf(ipv6, 10)), says: "another host on the network of eth2 has 2001:db8:9::10 already;", begun: true},
		"of two families, one is taken":                       {state: fmt.Sprintf(eth2, fmt.Sprintf(ipv4, 11)+","+fmt.Sprintf(ipv6, 10)), says: "another host on the network of eth2 has 2001:db8:9::10 already;", begun: true},
		"what the other NIC of this node has is its own":      {state: fmt.Sprintf(bridge, strings.Replace(ipv4, "203.0.113.%d", "192.0.2.1", 1))},
		"nobody is asked about what an interface already has": {state: `{"interfaces": [{"name": "eth1", "type": "ethernet", "state": "up", "mtu": 1400, ` + strings.Replace(ipv4, "203.0.113.%d", "192.0.2.1", 1) + `}]}`},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			n := newNodeWith(t, []string{"eth2"}, nil)
			neighbour(t, "peer1", "203.0.113.10/24", "2001:db8:9::10/64")
			if c.down {
				down(t, "eth2")
			}
			before := n.Kernel(t)
			begun := false
			made, _, err := n.backend.Apply(t.Context(), parsed(t, c.state), time.Minute, func(backend.Checkpoint) { begun = true })
			if c.says == "" {
				if err != nil {
					t.Fatal(err)
				}
				if err := n.backend.Rollback(t.Context(), made); err != nil {
					t.Fatal(err)
				}
				return
			}
			if err == nil || !strings.Contains(err.Error(), c.says) || begun != c.begun {
				t.Fatalf("got %v, begun: %t", err, begun)
			}
			eventually(t, "the node is as before", func() bool {
				now := n.Kernel(t)
				return now == before || c.down && !strings.Contains(now, "203.0.113.10") // NetworkManager leaves it up.
			})
			if pending, err := n.backend.Pending(t.Context()); err != nil || len(pending) > 0 {
				t.Errorf("still there: %v, %v", pending, err)
			}
		})
	}
}

// A gateway that answers for all of its network says nothing about one address; about its
// own it does.
func TestAGatewayMayAnswerForOthers(t *testing.T) {
	n := newNode(t)
	neighbour(t, "peer0", "192.0.2.254/24", "192.0.2.77/24")
	ask := func(address string) error {
		return n.backend.refuseHeld(t.Context(), map[string][]netip.Addr{"eth1": {netip.MustParseAddr(address)}})
	}
	if err := ask("192.0.2.77"); err == nil {
		t.Error("another host has the address, and nobody knows it as a gateway")
	}
	if out, err := exec.Command("ping", "-c", "1", "-W", "5", "192.0.2.254").CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	if err := ask("192.0.2.77"); err != nil {
		t.Error(err)
	}
	if err := ask("192.0.2.254"); err == nil {
		t.Error("it is the gateway's own address")
	}
}

func down(t *testing.T, name string) {
	t.Helper()
	link, err := netlink.LinkByName(name)
	if err == nil {
		err = netlink.LinkSetDown(link)
	}
	if err != nil {
		t.Fatalf("setting %s down: %v", name, err)
	}
}
