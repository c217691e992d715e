//go:build linux

package lab

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// Each topology of the folder comes up, carries what it says, and is the same
// after a reboot: on this machine where its kernel can, in a VM with make e2e-vm
// where it cannot.
func TestEachTopologyComesUp(t *testing.T) {
	files, err := filepath.Glob("topologies/*.yaml")
	if err != nil || len(files) < 10 {
		t.Fatalf("found %d: %v", len(files), err)
	}
	for _, file := range files {
		if strings.HasSuffix(file, "three-nodes.yaml") {
			continue // Nearly every other test brings it up.
		}
		t.Run(strings.TrimSuffix(filepath.Base(file), ".yaml"), func(t *testing.T) {
			topology, err := LoadTopology(file)
			if err != nil {
				t.Fatal(err)
			}
			lacks := lacking(t.Context(), topology)
			switch inVM := os.Getenv("NMSTATE_VM") != ""; {
			case lacks == "" && inVM:
				t.Skip("skipped: this machine's kernel has all of it, so it needs no VM")
			case lacks != "" && !inVM:
				t.Skipf("skipped: this machine's kernel has no %s; make e2e-vm runs it", lacks)
			}
			testTopology(t, mustUp(t, Options{Root: testRoot(t), Topology: topology, VM: lacks != ""}))
		})
	}
}

// lacking is the first type of link of a topology that this machine's kernel does
// not make; empty for none.
func lacking(ctx context.Context, t *Topology) string {
	types := map[string]bool{}
	if len(t.cards()) > 0 {
		return "card with virtual functions"
	}
	if t.openVSwitch() {
		return "Open vSwitch, and its NetworkManager no plugin for it"
	}
	for _, n := range t.Nodes {
		for _, l := range n.Links {
			types[l.Type] = true
			types["bridge that filters VLANs"] = types["bridge that filters VLANs"] || len(l.VLANs) > 0
		}
	}
	for _, s := range t.Switches {
		types["vlan"] = types["vlan"] || s.Over != ""
		types["bond"] = types["bond"] || s.LACP
	}
	for name, link := range map[string]string{
		"bridge that filters VLANs": "t0 type bridge vlan_filtering 1",
		"bond":                      "t0 type bond", "dummy": "t0 type dummy", "ipvlan": "link v0 t0 type ipvlan", "mac-vlan": "link v0 t0 type macvlan",
		"vlan": "link v0 t0 type vlan id 5", "vrf": "t0 type vrf table 5", "vxlan": "t0 type vxlan id 5 dstport 4789",
	} {
		try := exec.CommandContext(ctx, "unshare", "-n", "sh", "-c", "ip link add v0 type veth && ip link add "+link)
		if types[name] && try.Run() != nil {
			return name
		}
	}
	return ""
}

func testTopology(t *testing.T, l *Lab) {
	t.Helper()
	for _, n := range l.Nodes() {
		wantAsSaid(t, n)
		before, err := n.Settled(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if err := n.Reboot(t.Context()); err != nil {
			t.Fatal(err)
		}
		wantAsSaid(t, n)
		wantKernel(t, n, before)
		profiles, err := n.Profiles()
		if err != nil {
			t.Fatal(err)
		}
		for name := range n.spec.Profiles {
			if profiles[name] == "" {
				t.Errorf("%s: no profile %s", n.Name, name)
			}
		}
	}
}

// wantAsSaid: every interface of the topology is there, with its type, what it
// stands on and its addresses, and the gateway answers.
func wantAsSaid(t *testing.T, n *Node) {
	t.Helper()
	eventually(t, n.Name, func() error {
		_, err := n.Exec(t.Context(), "ping", "-c", "1", "-W", "5", n.Gateway())
		return err
	})
	for _, nic := range n.spec.NICs {
		hasLease(t, n, nic, "-4", nic.Address == "dhcp")
		hasLease(t, n, nic, "-6", nic.Address6 == "auto")
	}
	var links []struct {
		Name   string `json:"ifname"`
		Master string `json:"master"`
		Base   string `json:"link"`
		Info   struct {
			Kind string `json:"info_kind"`
		} `json:"linkinfo"`
		Addresses []struct {
			Local  string `json:"local"`
			Length int    `json:"prefixlen"`
		} `json:"addr_info"`
	}
	if err := json.Unmarshal([]byte(mustExec(t, n, "ip", "-d", "-json", "address", "show")), &links); err != nil {
		t.Fatal(err)
	}
	found := map[string]string{}
	for _, k := range links {
		for _, a := range k.Addresses {
			found[k.Name] += fmt.Sprintf(" %s/%d", a.Local, a.Length)
		}
		found[k.Name] += " kind=" + k.Info.Kind + " master=" + k.Master + " base=" + k.Base
	}
	want := func(nic NICSpec, more ...string) {
		for _, address := range []string{nic.Address, nic.Address6} {
			if strings.Contains(address, "/") {
				more = append(more, " "+address)
			}
		}
		if c, is := n.spec.controller(nic.Name); is && ovs(c.Type) && n.spec.isNIC(nic.Name) {
			more = append(more, " master=ovs-system")
		} else if is && !ovs(c.Type) {
			more = append(more, " master="+c.Name)
		}
		for _, part := range more {
			if !strings.Contains(found[nic.Name]+" ", part+" ") {
				t.Errorf("%s: %s lacks%s: %s", n.Name, nic.Name, part, found[nic.Name])
			}
		}
	}
	for _, nic := range n.spec.NICs {
		want(nic)
	}
	for _, l := range n.spec.made() {
		if l.Type == "ovs-bridge" || l.Type == "ovs-bond" {
			continue // The kernel knows nothing of these.
		}
		kind := linkTypes()[l.Type].profile
		if l.Type == "ovs-interface" {
			kind = "openvswitch"
		}
		more := []string{" kind=" + kind}
		if l.Base != "" && l.Type != "vxlan" { // ip tells a vxlan's base elsewhere
			more = append(more, " base="+l.Base)
		}
		want(l.NICSpec, more...)
	}
}

// hasLease waits for an address that a gateway gives: how the node was is to have it.
func hasLease(t *testing.T, n *Node, nic NICSpec, family string, asks bool) {
	t.Helper()
	if !asks {
		return
	}
	eventually(t, n.Name+" "+nic.Name, func() error {
		found, err := n.Exec(t.Context(), "ip", family, "address", "show", "dev", nic.Name, "scope", "global", "dynamic")
		if err == nil && strings.TrimSpace(string(found)) == "" {
			err = fmt.Errorf("no address with ip %s", family)
		}
		return err
	})
}

// What carries the API server is told from the topology, since faults, watches
// and the gateway's names are about it.
func TestTheWayIsWhereTheAddressIs(t *testing.T) {
	for file, want := range map[string]string{
		"three-nodes": "eth0", "bridge-as-default": "br0", "vlan-over-bond": "bond0.100", "bond-lacp": "bond0", "dual-stack": "eth0", "ipv6-only": "eth0",
	} {
		topology, err := LoadTopology("topologies/" + file + ".yaml")
		if err != nil {
			t.Fatal(err)
		}
		if got := topology.Nodes[0].way().Name; got != want {
			t.Errorf("%s: %s, want %s", file, got, want)
		}
	}
}

// What a link of each type looks like to NetworkManager.
func TestALinkHasAProfile(t *testing.T) {
	topology, err := LoadTopology("topologies/vlan-over-bond.yaml")
	if err != nil {
		t.Fatal(err)
	}
	l := &Lab{rec: &record{Topology: topology}}
	spec := topology.Nodes[0]
	for i, wants := range [][]string{
		{"type=bond", "mode=active-backup", "method=disabled"},
		{"type=vlan", "id=100", "parent=bond0", "address1=192.0.2.11/24,192.0.2.1", "dns=192.0.2.1;"},
	} {
		p := l.plan(spec, spec.Links[i].NICSpec)
		p.Link = &spec.Links[i]
		lines := strings.Split(p.profile(), "\n")
		for _, want := range wants {
			if !slices.Contains(lines, want) {
				t.Errorf("no %s in %s", want, lines)
			}
		}
	}
	port := l.plan(spec, spec.NICs[0])
	if text := port.profile(); !strings.Contains(text, "master=bond0\nslave-type=bond\n") || strings.Contains(text, "[ipv4]") {
		t.Errorf("a port: %s", text)
	}
}
