package state

import (
	"slices"
	"strings"
)

// Missing is what of desired does not hold in current, in desired's order.
//
// It is as strict as nmstate's own verification and never stricter, so that a
// state that was applied never shows a difference: what nmstate only writes
// (passwords, copy-mac-from), what it chooses itself and what current does not
// report at all is not compared, except where its absence is the difference:
// an interface, its MTU, an address, a port, a bond's mode, a route.
func Missing(desired, current State) []Difference {
	c := newComparison(current)
	for _, want := range desired.Interfaces() {
		c.inter(want)
	}
	c.routes(desired, current)
	c.rules(desired.RouteRules(), current.RouteRules())
	c.dns(desired, current)
	c.hostname(object(desired.tree["hostname"]), object(current.tree["hostname"]))
	c.openVSwitch(object(desired.tree["ovs-db"]), object(current.tree["ovs-db"]))
	c.ovn(object(desired.tree["ovn"]), object(current.tree["ovn"]))
	return c.found
}

// comparison collects what is missing, and finds things in the current state.
type comparison struct {
	byName map[string][]Interface
	// others finds an interface by its other names: alternative and profile.
	others map[string]string
	// controllers are the interfaces that list a name among their ports.
	controllers map[string][]string
	all         []Interface
	found       []Difference
}

func newComparison(current State) *comparison {
	c := &comparison{
		byName:      map[string][]Interface{},
		others:      map[string]string{},
		controllers: map[string][]string{},
	}
	for _, got := range current.Interfaces() {
		if got.IsAbsent() {
			continue
		}
		c.all = append(c.all, got)
		c.byName[got.Name] = append(c.byName[got.Name], got)
		for _, port := range got.Ports() {
			c.controllers[port] = append(c.controllers[port], got.Name)
		}
		for _, other := range objects(got.tree["alt-names"]) {
			c.others[text(other["name"])] = got.Name
		}
		if got.ProfileName != "" {
			c.others[got.ProfileName] = got.Name
		}
	}
	return c
}

func (c *comparison) add(path Path, want, got string) {
	leaf := path.Rest()
	c.found = append(c.found, Difference{Path: path, Want: maskedText(leaf, want), Got: maskedText(leaf, got)})
}

// kernelName is the current name of what a document calls name.
func (c *comparison) kernelName(name string) string {
	if _, there := c.byName[name]; there {
		return name
	}
	if other, there := c.others[name]; there {
		return other
	}
	return name
}

// find is the current interface that want is about.
func (c *comparison) find(want Interface) (Interface, bool) {
	if got, is := c.byHardware(want); is {
		return got, true
	}
	for _, got := range c.byName[c.kernelName(want.Name)] {
		if want.Type == "" || isUserspace(want.Type) == isUserspace(got.Type) {
			return got, true
		}
	}
	return Interface{}, false
}

// isUserspace tells the types that live beside the kernel's names: an OVS
// bridge and its internal interface may share a name.
func isUserspace(kind string) bool { return slices.Contains(UserspaceTypes(), kind) }

// UserspaceTypes are the types whose interfaces may share a name with one of another type.
func UserspaceTypes() []string { return []string{"ovs-bridge", "ipsec"} }

// isVirtual tells the types that cease to exist when they are taken away.
// nmstate takes a veth for an ethernet, so it is not one of them.
func isVirtual(kind string) bool {
	switch kind {
	case "bond", "dummy", "hsr", "ip-tunnel", "ipsec", "ipvlan", "linux-bridge", "mac-vlan", "mac-vtap", "macsec",
		"ovs-bridge", "ovs-interface", "vlan", "vrf", "vxlan", "xfrm":
		return true
	}
	return false
}

func (c *comparison) inter(want Interface) {
	path := pathOf(want)
	got, there := c.find(want)
	switch strings.ToLower(want.State) {
	case "ignore", "unknown":
		return
	case "absent":
		if there && isVirtual(got.Type) {
			c.add(path, "", "the "+got.Type)
		}
		return
	case "down":
		// nmstate removes a virtual interface that is to be down; what a
		// physical one then looks like depends on its driver, but its addresses go.
		if there && got.State == "up" && (isVirtual(got.Type) || keepsAddresses(got)) {
			c.add(path.At("state"), "down", "up")
		}
		return
	}
	if !there {
		c.add(path, "the interface", "")
		return
	}
	c.kind(path, want, got)
	if got.State != "" && got.State != "up" && got.State != "unknown" && got.State != want.State {
		c.add(path.At("state"), "up", got.State)
	}
	c.controller(path, want, got)
	c.family(path, IPv4, want, got)
	c.family(path, IPv6, want, got)
	c.altNames(path, want, got)
	c.ports(path, want, got)
	c.sections(path, want, got)
}

func (c *comparison) kind(path Path, want, got Interface) {
	switch {
	case want.Type == "" || want.Type == "unknown" || got.Type == "" || want.Type == got.Type:
	case isEthernet(want.Type) && isEthernet(got.Type):
	case got.Type == "tun" || got.Type == "unknown":
		// OVS with a user space datapath shows its interfaces as tun.
	default:
		c.add(path.At("type"), want.Type, got.Type)
	}
}

// isEthernet: nmstate takes a veth for an ethernet, whichever way it is asked.
func isEthernet(kind string) bool { return kind == "ethernet" || kind == "veth" }

func (c *comparison) controller(path Path, want, got Interface) {
	wanted, said := want.Controller()
	if !said {
		return
	}
	actual := c.controllers[got.Name]
	if wanted == "" {
		if len(actual) > 0 {
			c.add(path.At("controller"), "", strings.Join(actual, ", "))
		}
		return
	}
	reported, _ := got.Controller()
	for _, one := range slices.Concat(actual, []string{reported}) {
		if one == wanted || one == c.kernelName(wanted) {
			return
		}
	}
	c.add(path.At("controller"), wanted, strings.Join(actual, ", "))
}

func (c *comparison) altNames(path Path, want, got Interface) {
	have := map[string]bool{}
	for _, one := range objects(got.tree["alt-names"]) {
		have[text(one["name"])] = text(one["state"]) != "absent"
	}
	for _, one := range objects(want.tree["alt-names"]) {
		name, wanted := text(one["name"]), text(one["state"]) != "absent"
		switch {
		case wanted && !have[name]:
			c.add(path.At("alt-names"), name, "")
		case !wanted && have[name]:
			c.add(path.At("alt-names"), "", name)
		}
	}
}
