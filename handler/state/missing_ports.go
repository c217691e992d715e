package state

import (
	"slices"
	"strings"
)

// ports compares the ports of every kind of controller, and what is said about
// each port.
func (c *comparison) ports(path Path, want, got Interface) {
	if want.SaysPorts() {
		have := got.Ports()
		var wanted []string
		for _, port := range want.Ports() {
			at := want.placeOfPort(path, port)
			port = c.kernelName(port)
			wanted = append(wanted, port)
			if !slices.Contains(have, port) {
				c.add(at, port, "")
			}
		}
		for _, port := range have {
			if !slices.Contains(wanted, port) && c.ownsPorts(want, port) {
				c.add(path.At("port"), "", port)
			}
		}
	}
	c.bond(path.At("link-aggregation"), bondOf(want.tree), bondOf(got.tree))
	c.bridge(path.At("bridge"), object(want.tree["bridge"]), object(got.tree["bridge"]))
}

// placeOfPort is where the document lists a port: one of a bond of an OVS bridge
// is listed by the bond, and everything else by the interface.
func (i Interface) placeOfPort(path Path, name string) Path {
	for _, key := range []string{"port", "ports"} {
		for _, port := range objects(object(i.tree["bridge"])[key]) {
			for _, item := range bondPorts(bondOf(port)) {
				if portName(item) == name {
					return path.At("bridge.port").entry(text(port["name"])).At("link-aggregation.port")
				}
			}
		}
	}
	return path.At("port")
}

// ownsPorts tells whether a port that nobody asked for is a difference.
// Others may plug veths and taps into a bridge (pods, virtual machines), and
// nmstate itself leaves ports alone that it does not manage.
func (c *comparison) ownsPorts(want Interface, port string) bool {
	if extra, _ := truth(object(want.tree["bridge"])["allow-extra-ports"]); extra {
		return false
	}
	for _, got := range c.byName[port] {
		if got.State != "up" {
			return false
		}
		if want.Type == "bond" || want.Type == "vrf" {
			return true
		}
		switch got.Type {
		case "ethernet", "bond", "vlan", "vxlan", "dummy":
			return true
		}
	}
	return false
}

// bondOf is the bond's configuration, of an interface or of an OVS port.
func bondOf(tree map[string]any) map[string]any { return object(tree[bondKey(tree)]) }

func bondKey(tree map[string]any) string {
	if object(tree["link-aggregation"]) != nil {
		return "link-aggregation"
	}
	return "bond"
}

func (c *comparison) bond(path Path, want, got map[string]any) {
	if mode := text(want["mode"]); mode != "" && normalBondMode(mode) != normalBondMode(text(got["mode"])) {
		c.add(path.At("mode"), mode, text(got["mode"]))
	}
	// nmstate does not verify bond options: the kernel rounds some of them.
	for _, key := range sortedKeys(want) {
		switch key {
		case "mode", "options", "port", "ports", "slaves":
			continue
		}
		c.value(path.At(key), key, want[key], got[key])
	}
}

// normalBondMode is the mode's name where its number was given.
func normalBondMode(mode string) string {
	modes := []string{"balance-rr", "active-backup", "balance-xor", "broadcast", "802.3ad", "balance-tlb", "balance-alb"}
	if len(mode) == 1 && mode[0] >= '0' && mode[0] <= '6' {
		return modes[mode[0]-'0']
	}
	if mode == "lacp" {
		return "802.3ad"
	}
	return mode
}

func (c *comparison) bridge(path Path, want, got map[string]any) {
	if want == nil {
		return
	}
	gotOptions := withoutAliases(object(got["options"]))
	for key, value := range withoutAliases(object(want["options"])) {
		if key == "stp" || key == "rstp" {
			value, gotOptions[key] = asSwitch(value), asSwitch(gotOptions[key])
		}
		c.option(path.At("options").At(key), key, value, gotOptions[key])
	}
	have := map[string]map[string]any{}
	for _, port := range objects(firstOf(got, "port", "ports")) {
		have[text(port["name"])] = port
	}
	for _, port := range objects(firstOf(want, "port", "ports")) {
		name := c.kernelName(text(port["name"]))
		there, ok := have[name]
		if !ok {
			continue // Reported as a missing port, or it is a bond's name.
		}
		c.bridgePort(path.At("port").entry(name), port, there)
	}
}

func (c *comparison) bridgePort(path Path, want, got map[string]any) {
	c.bondPort(path, want, got)
	for _, key := range sortedKeys(want) {
		switch key {
		case "name", "link-aggregation", "bond":
		case "vlan":
			c.portVLAN(path.At("vlan"), object(want["vlan"]), object(got["vlan"]))
		default:
			c.value(path.At(key), key, want[key], got[key])
		}
	}
}

// bondPort compares the bond that an OVS bridge's port is made of.
func (c *comparison) bondPort(path Path, want, got map[string]any) {
	if bond := bondOf(want); bond != nil {
		c.bond(path.At("link-aggregation"), bond, bondOf(got))
	}
}

func (c *comparison) portVLAN(path Path, want, got map[string]any) {
	for _, key := range sortedKeys(want) {
		if key != "trunk-tags" {
			c.value(path.At(key), key, want[key], got[key])
			continue
		}
		wanted, have := trunks(want[key]), trunks(got[key])
		if !slices.Equal(wanted, have) {
			c.add(path.At("trunk-tags"), strings.Join(wanted, ", "), strings.Join(have, ", "))
		}
	}
}

// option compares a bridge option. The kernel counts intervals in ticks, so
// what it reports may be one off.
func (c *comparison) option(path Path, key string, want, got any) {
	if strings.HasSuffix(key, "-interval") {
		wanted, ok := integer(want)
		have, reported := integer(got)
		if ok && reported && max(wanted-have, have-wanted) <= 1 {
			return
		}
	}
	c.value(path, key, want, got)
}

// asSwitch spells the two ways to switch a protocol on alike.
func asSwitch(value any) any {
	if on, ok := truth(value); ok {
		return map[string]any{"enabled": on}
	}
	return value
}

// withoutAliases is a copy with nmstate's second spellings replaced.
func withoutAliases(tree map[string]any) map[string]any {
	plain := make(map[string]any, len(tree))
	for key, value := range tree {
		if key == "group-forward-mask" {
			key = "group-fwd-mask"
		}
		plain[key] = value
	}
	return plain
}

func firstOf(tree map[string]any, keys ...string) any {
	for _, key := range keys {
		if value, ok := tree[key]; ok {
			return value
		}
	}
	return nil
}
