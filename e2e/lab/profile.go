//go:build linux

package lab

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

const (
	nmConf    = "/etc/NetworkManager/NetworkManager.conf"
	nmConfDir = "/etc/NetworkManager/conf.d"
)

// firstBoot writes the node's /etc, once: what a policy changes there stays over
// a reboot of the node.
func firstBoot(spec *nodeSpec) error {
	const done = "/etc/lab-node"
	if _, err := os.Stat(done); !errors.Is(err, os.ErrNotExist) {
		return err
	}
	// The machine's own profiles, settings and dispatcher scripts stay out.
	if err := os.RemoveAll("/etc/NetworkManager"); err != nil {
		return fmt.Errorf("hiding the machine's NetworkManager settings: %w", err)
	}
	if err := os.MkdirAll(nmConfDir, 0o755); err != nil {
		return fmt.Errorf("making NetworkManager's folder: %w", err)
	}
	id := sha256.Sum256([]byte("node/" + spec.Name))
	files := map[string]string{
		nmConf:             nmConfText,
		"/etc/hostname":    spec.Name + "\n",
		"/etc/hosts":       "127.0.0.1 localhost\n::1 localhost\n127.0.1.1 " + spec.Name + "\n",
		"/etc/resolv.conf": "",
		"/etc/machine-id":  hex.EncodeToString(id[:16]) + "\n",
	}
	if err := writeFiles(files, 0o644); err != nil {
		return err
	}
	profiles := map[string]string{}
	for _, nic := range append(spec.NICs, spec.Links...) {
		if text := nic.ovsPort(); text != "" {
			profiles[filepath.Join(profileDir, "ovs-port-"+nic.Name+".nmconnection")] = text
		}
		if text := nic.profile(); text != "" {
			profiles[filepath.Join(profileDir, nic.Name+".nmconnection")] = text
		}
	}
	for name, text := range spec.Profiles {
		profiles[filepath.Join(profileDir, name)] = text
	}
	if err := writeFiles(profiles, 0o600); err != nil {
		return err
	}
	return writeFiles(map[string]string{done: spec.Name + "\n"}, 0o644)
}

const nmConfText = `
[main]
plugins=keyfile
auth-polkit=false
no-auto-default=*
dns=default
rc-manager=file
hostname-mode=none
`

// fixedMetric: left to itself NetworkManager chooses another metric each time a
// profile is activated, and no rollback would look as before. A NIC that is Numbered
// has none.
const fixedMetric = "route-metric=100"

// profile is NetworkManager's keyfile for a NIC or a link; empty for one that is
// left alone.
func (n nicPlan) profile() string {
	method4, method6 := n.method4(), n.method6()
	if method4 == "disabled" && method6 == "disabled" && n.Link == nil && n.Controller == "" {
		return ""
	}
	uuid := uuidOf("profile/" + n.MAC)
	kind := "ethernet"
	if n.Link != nil {
		kind = linkTypes()[n.Link.Type].profile
	}
	lines := []string{"[connection]", "id=" + n.Name, "uuid=" + uuid, "type=" + kind, "interface-name=" + n.Name}
	if n.Controller != "" { // In the words that 1.42 knows, too.
		controller, kind := n.Controller, n.ControllerType
		if n.ovsPort() != "" {
			controller, kind = uuidOf("port/"+n.MAC), "ovs-port"
		}
		lines = append(lines, "master="+controller, "slave-type="+kind)
	}
	lines = append(lines, "")
	if n.Trunk != "" {
		lines = append(lines, "[bridge-port]", "vlans="+n.Trunk, "")
	}
	if n.Link != nil {
		lines = append(lines, n.settings(kind)...)
	}
	if kind == "ovs-bridge" || n.Controller != "" && n.ControllerType != "vrf" && kind != "ovs-interface" {
		return strings.Join(lines, "\n") + "\n" // A port has no addresses.
	}
	lines = append(lines, "[ipv4]", "method="+method4)
	if method4 != "disabled" && !n.Numbered {
		lines = append(lines, fixedMetric)
	}
	if method4 == "manual" {
		lines = append(lines, "address1="+strings.TrimSuffix(n.Address+","+n.Gateway, ","))
		if n.DNS != "" {
			lines = append(lines, "dns="+n.DNS+";")
		}
	}
	lines = append(lines, "", "[ipv6]", "method="+method6)
	if (method6 == "manual" || method6 == "auto") && !n.Numbered {
		lines = append(lines, fixedMetric)
	}
	if method6 == "manual" {
		lines = append(lines, "address1="+strings.TrimSuffix(n.Address6+","+n.Gateway6, ","))
	}
	if n.onlyIPv6() && n.DNS != "" {
		lines = append(lines, "dns="+n.DNS+";")
	}
	if method6 == "auto" {
		// The address that the MAC gives, so that it is the same each time.
		lines = append(lines, "addr-gen-mode=eui64")
	}
	return strings.Join(lines, "\n") + "\n"
}

// ovsPort is the profile between a bridge of Open vSwitch and an interface of it;
// empty for what needs none.
func (n nicPlan) ovsPort() string {
	if n.ControllerType != "ovs-bridge" || n.Link != nil && n.Link.Type == "ovs-bond" {
		return ""
	}
	return strings.Join([]string{
		"[connection]", "id=ovs-port-" + n.Name, "uuid=" + uuidOf("port/"+n.MAC), "type=ovs-port", "interface-name=" + n.Name,
		"master=" + n.Controller, "slave-type=ovs-bridge", "", "[ovs-port]",
	}, "\n") + "\n"
}

func uuidOf(seed string) string {
	id := sha256.Sum256([]byte(seed))
	h := hex.EncodeToString(id[:16])
	return strings.Join([]string{h[:8], h[8:12], "4" + h[13:16], "8" + h[17:20], h[20:]}, "-")
}

// settings are those of a link's type. What would get a random MAC address, or
// that of some port, gets one that is the same in each run; NetworkManager sets none on a VRF.
func (n nicPlan) settings(kind string) []string {
	l := n.Link
	lines := []string{"[" + kind + "]"}
	add := func(key, value string) { lines = append(lines, key+"="+value) }
	mode := linkTypes()[l.Type].modes[l.Mode]
	switch l.Type {
	case "bond":
		add("mode", mode)
		add("miimon", "100")
	case "linux-bridge":
		add("stp", "false")
		if len(l.VLANs) > 0 {
			add("vlan-filtering", "true")
			add("vlans", l.tagged())
		}
	case "vlan":
		add("id", fmt.Sprint(l.ID))
		add("parent", l.Base)
	case "vxlan":
		add("id", fmt.Sprint(l.ID))
		add("parent", l.Base)
		add("remote", l.Remote)
		add("destination-port", "4789")
	case "vrf":
		add("table", fmt.Sprint(l.ID))
	case "mac-vlan", "ipvlan":
		add("mode", mode)
		add("parent", l.Base)
	case "veth":
		add("peer", l.Peer)
	case "ovs-bond":
		add("bond-mode", mode)
	case "ovs-interface":
		add("type", "internal")
	}
	lines = append(lines, "")
	if !slices.Contains([]string{"vlan", "ipvlan", "vrf", "ovs-bridge", "ovs-bond"}, l.Type) {
		lines = append(lines, "[ethernet]", "cloned-mac-address="+n.MAC, "")
	}
	return lines
}

func (n nicPlan) method4() string {
	switch n.Address {
	case "", "none":
		return "disabled"
	case "dhcp":
		return "auto"
	}
	return "manual"
}

func (n nicPlan) method6() string {
	switch n.Address6 {
	case "none":
		return "disabled"
	case "":
		if n.method4() == "disabled" {
			return "disabled"
		}
		return "link-local"
	case "auto":
		return "auto"
	}
	return "manual"
}
