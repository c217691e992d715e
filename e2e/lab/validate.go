package lab

import (
	"errors"
	"fmt"
	"net"
	"net/netip"
	"regexp"
	"slices"
	"strings"
)

// check collects the mistakes of a topology, one line each.
type check struct {
	names map[string]string
	all   []error
}

func (c *check) failf(path, format string, args ...any) {
	line := fmt.Sprintf("%s: %s", path, fmt.Sprintf(format, args...))
	if !slices.ContainsFunc(c.all, func(told error) bool { return told.Error() == line }) {
		c.all = append(c.all, errors.New(line)) // A mistake of all copies of a node is one.
	}
}

// name checks a name's shape and that it is used once within its scope.
func (c *check) name(path, scope, name string, limit int) {
	if regexp.MustCompile(`^[a-z0-9]([-a-z0-9]*[a-z0-9])?$`).MatchString(name) || name == "" {
		c.unique(path, scope, name, limit)
		return
	}
	c.failf(path, "%q may have only a-z, 0-9 and - and must start and end with a letter or digit", name)
}

// linkName is name for an interface that a node has made, which may have dots.
func (c *check) linkName(path, scope, name string) {
	if regexp.MustCompile(`^[a-z0-9][-_.a-z0-9]*$`).MatchString(name) || name == "" {
		c.unique(path, scope, name, 15)
		return
	}
	c.failf(path, "%q may have only a-z, 0-9, -, _ and . and must start with a letter or digit", name)
}

func (c *check) unique(path, scope, name string, limit int) {
	switch {
	case name == "":
		c.failf(path, "is missing")
	case len(name) > limit:
		c.failf(path, "%q is longer than %d characters", name, limit)
	case name == "lo" && limit == 15:
		c.failf(path, "lo is the loopback interface")
	case c.names[scope+"/"+name] != "":
		c.failf(path, "%q is already the name of %s", name, c.names[scope+"/"+name])
	default:
		c.names[scope+"/"+name] = strings.TrimSuffix(path, ".name")
	}
}

// validate names each node by its entry in the file.
func (t *Topology) validate(entries []int) error {
	c := &check{names: map[string]string{}}
	if len(t.Nodes) == 0 {
		c.failf("nodes", "a topology needs at least one node")
	}
	if len(t.Switches) == 0 {
		c.failf("switches", "a topology needs at least one switch")
	}
	for i, s := range t.Switches {
		c.switchSpec(fmt.Sprintf("switches[%d]", i), s)
		c.over(fmt.Sprintf("switches[%d]", i), s, t.Switches[:i])
	}
	used := map[netip.Addr]string{}
	for _, s := range t.Switches {
		for _, cidr := range []string{s.Gateway, s.Gateway6} {
			if p, err := netip.ParsePrefix(cidr); err == nil {
				used[p.Addr()] = "the gateway of switch " + s.Name
			}
		}
	}
	for i, n := range t.Nodes {
		c.node(t, fmt.Sprintf("nodes[%d]", entries[i]), n, used)
	}
	for i, s := range t.Services {
		c.service(t, fmt.Sprintf("services[%d]", i), s)
	}
	return errors.Join(c.all...)
}

func (c *check) switchSpec(path string, s SwitchSpec) {
	// The bridge is called sw-NAME and an interface name has 15 characters.
	c.name(path+".name", "switch", s.Name, 12)
	gw, ok := c.cidr(path+".gateway", s.Gateway, 4)
	if s.Gateway6 != "" {
		c.cidr(path+".gateway6", s.Gateway6, 6)
	}
	if s.RA && s.Gateway6 == "" {
		c.failf(path+".routerAdvertisements", "needs a gateway6 whose prefix is announced")
	}
	if s.DHCP != nil && ok {
		from := c.inside(path+".dhcp.from", s.DHCP.From, gw)
		to := c.inside(path+".dhcp.to", s.DHCP.To, gw)
		if from.IsValid() && to.IsValid() && to.Less(from) {
			c.failf(path+".dhcp", "from %s is after to %s", from, to)
		}
	}
	for i, p := range s.Peers {
		peer := fmt.Sprintf("%s.peers[%d]", path, i)
		c.name(peer+".name", "node", p.Name, 32)
		if ok {
			c.inside(peer+".address", p.Address, gw)
		}
	}
	if s.LLDP != nil {
		c.lldp(path+".lldp", *s.LLDP)
	}
}

// over checks a switch that is a VLAN of one before it.
func (c *check) over(path string, s SwitchSpec, before []SwitchSpec) {
	if s.Over == "" {
		if s.VLAN != 0 {
			c.failf(path+".vlan", "needs over, the switch whose VLAN this one is")
		}
		return
	}
	i := slices.IndexFunc(before, func(other SwitchSpec) bool { return other.Name == s.Over })
	switch {
	case i < 0:
		c.failf(path+".over", "there is no switch %q before this one", s.Over)
	case before[i].Over != "":
		c.failf(path+".over", "%s is itself a VLAN", s.Over)
	}
	if s.VLAN < 1 || s.VLAN > 4094 {
		c.failf(path+".vlan", "%d is not a VLAN id (1 to 4094)", s.VLAN)
	}
	if s.LLDP != nil || s.LACP {
		c.failf(path+".over", "a VLAN has no ports: lldp and lacp belong to switch %s", s.Over)
	}
}

func (c *check) lldp(path string, l LLDPSpec) {
	if mac, err := net.ParseMAC(l.ChassisID); err != nil || len(mac) != 6 {
		c.failf(path+".chassisID", "%q is not a MAC address, such as 02:00:00:00:00:01", l.ChassisID)
	}
	if len(l.SystemName) > maxLLDPName {
		c.failf(path+".systemName", "has %d characters, LLDP carries %d", len(l.SystemName), maxLLDPName)
	}
	if len(l.VLANs) > maxLLDPVLANs {
		c.failf(path+".vlans", "%d VLANs do not fit into a frame, %d do", len(l.VLANs), maxLLDPVLANs)
	}
	for i, id := range l.VLANs {
		switch vlan := fmt.Sprintf("%s.vlans[%d]", path, i); {
		case id < 1 || id > 4094:
			c.failf(vlan, "%d is not a VLAN id (1 to 4094)", id)
		case slices.Contains(l.VLANs[:i], id):
			c.failf(vlan, "%d is there twice", id)
		}
	}
}

// cidr checks an address with prefix length of one family.
func (c *check) cidr(path, text string, family int) (netip.Prefix, bool) {
	p, err := netip.ParsePrefix(text)
	want := map[int]string{4: "192.0.2.1/24", 6: "2001:db8::1/64"}[family]
	if err != nil || p.Addr().Is4() != (family == 4) {
		c.failf(path, "%q is not an IPv%d address with prefix length, such as %s", text, family, want)
		return netip.Prefix{}, false
	}
	if p.Masked().Addr() == p.Addr() && family == 4 && p.Bits() < 31 {
		c.failf(path, "%s is the address of the network, not of a host in it", text)
		return netip.Prefix{}, false
	}
	return p, true
}

// inside checks a plain address of the gateway's network.
func (c *check) inside(path, text string, gw netip.Prefix) netip.Addr {
	a, err := netip.ParseAddr(text)
	switch {
	case err != nil:
		c.failf(path, "%q is not an IP address", text)
	case !gw.Contains(a):
		c.failf(path, "%s is not in the switch's network %s", a, gw.Masked())
	case a == gw.Addr():
		c.failf(path, "%s is the gateway's own address", a)
	default:
		return a
	}
	return netip.Addr{}
}

func (c *check) node(t *Topology, path string, n NodeSpec, used map[netip.Addr]string) {
	c.name(path+".name", "node", n.Name, 32)
	if n.NM != "" && !slices.Contains(networkManagers, n.NM) {
		c.failf(path+".networkManager", "%q is none of %s", n.NM, strings.Join(networkManagers, ", "))
	}
	if len(n.NICs) == 0 {
		c.failf(path+".nics", "node %s needs at least one NIC", n.Name)
		return
	}
	for i, nic := range n.NICs {
		c.nic(t, fmt.Sprintf("%s.nics[%d]", path, i), n.Name, nic, used)
	}
	c.links(t, path, n, used)
}

func (c *check) nic(t *Topology, path, node string, nic NICSpec, used map[netip.Addr]string) {
	owner, _, _ := strings.Cut(path, ".nics")
	c.name(path+".name", "nic of "+owner+" "+node, nic.Name, 15) // Copies have the owner in common.
	if !c.knownSwitch(path, t, nic.Switch) {
		return
	}
	s := t.switchOf(nic.Switch)
	if s.Over != "" {
		c.failf(path+".switch", "%s is a VLAN of switch %s: plug the NIC into that, and give the node a vlan", s.Name, s.Over)
		return
	}
	c.addresses(path, node, nic, s, used)
}

func (c *check) knownSwitch(path string, t *Topology, name string) bool {
	known := slices.Contains(t.switchNames(), name)
	if !known {
		c.failf(path+".switch", "unknown switch %q (there are: %s)", name, strings.Join(t.switchNames(), ", "))
	}
	return known
}

// addresses checks those of an interface that leads to a switch.
func (c *check) addresses(path, node string, nic NICSpec, s SwitchSpec, used map[netip.Addr]string) {
	switch nic.Address {
	case "", "none":
	case "dhcp":
		if s.DHCP == nil {
			c.failf(path+".address", "dhcp, but switch %s has no dhcp range", s.Name)
		}
	default:
		c.static(path+".address", node+" "+nic.Name, nic.Address, s.Gateway, 4, used)
	}
	switch nic.Address6 {
	case "", "none", "auto":
	default:
		c.static(path+".address6", node+" "+nic.Name, nic.Address6, s.Gateway6, 6, used)
	}
}

// static checks an address of a NIC: in its switch's network, and nobody else's.
func (c *check) static(path, owner, text, gateway string, family int, used map[netip.Addr]string) {
	p, ok := c.cidr(path, text, family)
	if !ok {
		return
	}
	if gw, err := netip.ParsePrefix(gateway); err != nil || gw.Masked() != p.Masked() {
		c.failf(path, "%s is not in the network of its switch's gateway %q", text, gateway)
		return
	}
	c.free(path, p.Addr(), owner, used)
}

// free checks that an address is nobody else's.
func (c *check) free(path string, a netip.Addr, owner string, used map[netip.Addr]string) {
	if used[a] != "" {
		c.failf(path, "%s is already used by %s", a, used[a])
		return
	}
	used[a] = owner
}

func (c *check) service(t *Topology, path string, s ServiceSpec) {
	c.name(path+".name", "service", s.Name, 32)
	if !slices.Contains(t.switchNames(), s.Switch) {
		c.failf(path+".switch", "unknown switch %q (there are: %s)", s.Switch, strings.Join(t.switchNames(), ", "))
	}
	if s.Type != "http" && s.Type != "echo" {
		c.failf(path+".type", "%q is neither http nor echo", s.Type)
	}
	if s.Port < 1 || s.Port > 65535 || s.Port == apiPort {
		c.failf(path+".port", "%d is not a free port (1 to 65535, without %d)", s.Port, apiPort)
	}
}

func (t *Topology) switchNames() []string {
	var names []string
	for _, s := range t.Switches {
		names = append(names, s.Name)
	}
	return names
}
