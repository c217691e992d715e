package lab

import (
	"fmt"
	"maps"
	"net/netip"
	"regexp"
	"slices"
	"strings"
)

// links checks what a node has on its NICs, each link after those that it may
// stand on.
func (c *check) links(t *Topology, path string, n NodeSpec, used map[netip.Addr]string) {
	var there []string
	for _, nic := range n.NICs {
		there = append(there, nic.Name)
	}
	taken, scope := map[string]string{}, "nic of "+path+" "+n.Name
	for i, l := range n.Links {
		at := fmt.Sprintf("%s.links[%d]", path, i)
		c.linkName(at+".name", scope, l.Name)
		if ovs(l.Type) && !n.OpenVSwitch {
			c.failf(at+".type", "%s needs a node with openvswitch: true", l.Type)
		}
		if kind, ok := linkTypes()[l.Type]; ok {
			c.settings(at, l, kind)
			c.stands(at, n, l, there, taken)
		} else {
			c.failf(at+".type", "%q is none of %s", l.Type, strings.Join(linkTypeNames(), ", "))
		}
		if l.SRIOV {
			c.failf(at+".sriov", "a %s has no virtual functions: give it to a NIC", l.Type)
		}
		if l.Peer != "" {
			c.linkName(at+".peer", scope, l.Peer)
			there = append(there, l.Peer)
		}
		there = append(there, l.Name)
		c.linkAddresses(t, at, n.Name, l, used)
	}
	for _, name := range slices.Sorted(maps.Keys(n.Profiles)) {
		c.profile(path+".profiles["+name+"]", name, n.Profiles[name])
	}
	if way := n.way(); !way.addressed() && !way.onlyIPv6() {
		c.failf(path+".nics[0].address", "the first NIC carries the API server: give it an address or dhcp, or give one to a link that leads to a switch")
	}
}

// settings checks that a link has what its type needs and nothing else.
func (c *check) settings(path string, l LinkSpec, kind linkType) {
	given := map[string]bool{
		"ports": len(l.Ports) > 0, "vlans": len(l.VLANs) > 0, "base": l.Base != "", "id": l.ID != 0, "mode": l.Mode != "", "remote": l.Remote != "", "peer": l.Peer != "",
	}
	for _, key := range slices.Sorted(maps.Keys(given)) {
		switch needs := slices.Contains(kind.has, key); {
		case needs && !given[key] && key != "ports" && key != "vlans": // A bridge may have none yet.
			c.failf(path+"."+key, "is missing: a %s has one", l.Type)
		case !needs && given[key]:
			c.failf(path+"."+key, "a %s has none", l.Type)
		}
	}
	if l.ID != 0 && kind.highest > 0 && (l.ID < 1 || l.ID > kind.highest) {
		c.failf(path+".id", "%d is not between 1 and %d", l.ID, kind.highest)
	}
	for i, id := range l.VLANs {
		if id < 1 || id > 4094 {
			c.failf(fmt.Sprintf("%s.vlans[%d]", path, i), "%d is not a VLAN id (1 to 4094)", id)
		}
	}
	if _, known := kind.modes[l.Mode]; l.Mode != "" && kind.modes != nil && !known {
		c.failf(path+".mode", "%q is none of %s", l.Mode, strings.Join(slices.Sorted(maps.Keys(kind.modes)), ", "))
	}
	if _, err := netip.ParseAddr(l.Remote); l.Remote != "" && err != nil {
		c.failf(path+".remote", "%q is not an IP address", l.Remote)
	}
}

// stands checks what a link stands on: NICs and links before it, and a port of
// one link only, with no address of its own.
func (c *check) stands(path string, n NodeSpec, l LinkSpec, there []string, taken map[string]string) {
	exists := func(at, name string) bool {
		if !slices.Contains(there, name) {
			c.failf(at, "unknown interface %q (before it there are: %s)", name, strings.Join(there, ", "))
			return false
		}
		return true
	}
	if l.Base != "" {
		exists(path+".base", l.Base)
	}
	for i, port := range l.Ports {
		at := fmt.Sprintf("%s.ports[%d]", path, i)
		if !exists(at, port) {
			continue
		}
		if taken[port] != "" {
			c.failf(at, "%s is already a port of %s", port, taken[port])
		}
		taken[port] = l.Name
		if l.Type != "vrf" && l.Type != "ovs-bridge" && n.hasAddress(port) {
			c.failf(at, "%s has an address; give it to %s, whose port it is", port, l.Name)
		}
	}
}

func (n NodeSpec) hasAddress(name string) bool {
	return slices.ContainsFunc(n.interfaces(), func(nic NICSpec) bool {
		return nic.Name == name && (nic.addressed() || nic.Address6 != "" && nic.Address6 != "none")
	})
}

func (c *check) linkAddresses(t *Topology, path, node string, l LinkSpec, used map[netip.Addr]string) {
	if l.Switch != "" {
		if c.knownSwitch(path, t, l.Switch) {
			s := t.switchOf(l.Switch)
			if l.Type == "vlan" && s.VLAN != 0 && l.ID != s.VLAN {
				c.failf(path+".id", "%d, but switch %s is VLAN %d", l.ID, s.Name, s.VLAN)
			}
			c.addresses(path, node, l.NICSpec, s, used)
		}
		return
	}
	c.addressAlone(path+".address", l.Address, 4, node+" "+l.Name, used)
	c.addressAlone(path+".address6", l.Address6, 6, node+" "+l.Name, used)
}

// profile checks an administrator's own profile. One called after a NIC or a link
// takes the place of that which the lab makes.
func (c *check) profile(path, name, text string) {
	shape := regexp.MustCompile(`^[A-Za-z0-9][-_.A-Za-z0-9]*\.nmconnection$`)
	switch {
	case !shape.MatchString(name):
		c.failf(path, "a profile is a file whose name ends with .nmconnection")
	case !regexp.MustCompile(`(?m)^\[connection\]\s*$`).MatchString(text):
		c.failf(path, "has no section [connection]")
	}
}

// addressAlone checks an address that leads to no switch: any of its family.
func (c *check) addressAlone(path, text string, family int, owner string, used map[netip.Addr]string) {
	switch text {
	case "", "none":
		return
	case "dhcp", "auto":
		c.failf(path, "%s comes from a switch: name it", text)
		return
	}
	if p, ok := c.cidr(path, text, family); ok {
		c.free(path, p.Addr(), owner, used)
	}
}
