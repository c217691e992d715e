//go:build linux

package lab

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// NetworkManager itself is asked, as the handler does.
func TestANodeHearsItsSwitches(t *testing.T) {
	topology, err := LoadTopology("../../docs/examples/local-leaf-switches.yaml")
	if err != nil {
		t.Fatal(err)
	}
	l := mustUp(t, Options{Root: testRoot(t), Topology: topology})
	n := mustNode(t, l, "worker2")
	for _, nic := range []string{"eth1", "eth2"} {
		mustExec(t, n, "nmcli", "connection", "add", "type", "ethernet", "ifname", nic, "con-name", "hear-"+nic,
			"connection.lldp", "enable-rx", "ipv4.method", "disabled", "ipv6.method", "disabled")
	}
	for _, nic := range []string{"eth1", "eth2"} {
		mustExec(t, n, "nmcli", "connection", "up", "hear-"+nic)
	}
	number := regexp.MustCompile(`\[\d+\]`)
	heard := func() error {
		out := number.ReplaceAllString(mustExec(t, n, "nmcli", "--terse", "--mode", "multiline", "device", "lldp", "list"), "")
		for _, want := range []string{
			"NEIGHBOR.DEVICE:eth1", "NEIGHBOR.CHASSIS-ID:02:00:00:00:00:01", "NEIGHBOR.SYSTEM-NAME:leaf1", "NEIGHBOR.PORT-ID:worker2.eth1",
			"NEIGHBOR.DEVICE:eth2", "NEIGHBOR.CHASSIS-ID:02:00:00:00:00:02", "NEIGHBOR.SYSTEM-NAME:leaf2", "NEIGHBOR.PORT-ID:worker2.eth2",
		} {
			if !slices.Contains(strings.Split(out, "\n"), want) {
				return fmt.Errorf("no line %s in\n%s", want, out)
			}
		}
		return nil
	}
	eventually(t, "the switches are heard", heard)
	if err := n.Carrier(t.Context(), "eth1", false); err != nil {
		t.Fatal(err)
	}
	if err := n.Unplug(t.Context(), "eth2"); err != nil {
		t.Fatal(err)
	}
	if err := n.Plug(t.Context(), "eth2"); err != nil {
		t.Fatal(err)
	}
	if err := n.Carrier(t.Context(), "eth1", true); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the switches are heard again", heard)
}
