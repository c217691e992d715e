package host

// check refuses what nmstate 2.2.62 refuses before it changes anything, in its
// words.
func (d *plan) check(wanted map[string]*wish) error {
	for _, key := range sortedKeys(wanted) {
		w := wanted[key]
		if w.absent || w.explicit == nil || !(&profile{said: w.said}).up() {
			continue
		}
		for _, check := range []func(map[string]*wish, *wish) error{d.checkNew, d.checkController, d.checkMTU, d.checkAddresses} {
			if err := check(wanted, w); err != nil {
				return err
			}
		}
	}
	return d.checkRoutes(wanted)
}

// there tells whether an interface will be there.
func (d *plan) there(wanted map[string]*wish, name string) bool {
	if w := wanted[name]; w != nil {
		return !w.absent
	}
	return d.host.kernel.link(name, false) != nil
}

// checkNew is about what an interface needs to be made.
func (d *plan) checkNew(wanted map[string]*wish, w *wish) error {
	if object(w.said["ethernet"])["sr-iov"] != nil {
		return invalid("interface %s: the simulator has no SR-IOV", w.name)
	}
	base := baseOf(w.said)
	if base != "" && !d.there(wanted, base) {
		return invalid("Interface %s: its parent %s is not there, or has been marked as absent", w.name, base)
	}
	if w.link != nil {
		return nil
	}
	switch {
	case w.kind == "ethernet" && object(w.said["veth"])["peer"] == nil && !d.peerOf(wanted, w.name):
		return invalid("Ethernet interface %s does not exists", w.name)
	case w.kind == "veth" && object(w.said["veth"])["peer"] == nil && !d.peerOf(wanted, w.name):
		return invalid("Veth interface %s does not exist, peer name is required for creating it", w.name)
	case w.kind == "loopback":
		return invalid("interface %s: there is one loopback", w.name)
	case w.kind == "vlan" && base == "":
		return invalid("Missing 'vlan.base-iface' for interface '%s'", w.name)
	case w.kind == "vrf" && tableIn(w.said) == 0:
		return invalid("Route table ID undefined or 0 is not allowed for new VRF interface %s", w.name)
	case w.kind == "bond" && text(object(w.said["link-aggregation"])["mode"]) == "" && text(object(w.said["bond"])["mode"]) == "":
		return invalid("Bond mode is mandatory for new bond interface: %s", w.name)
	}
	return nil
}

// peerOf tells whether another veth is made with this one.
func (d *plan) peerOf(wanted map[string]*wish, name string) bool {
	for _, w := range wanted {
		if text(object(w.said["veth"])["peer"]) == name {
			return true
		}
	}
	return false
}

func (d *plan) checkController(wanted map[string]*wish, w *wish) error {
	name := text(w.explicit["controller"])
	if name == "" {
		return nil
	}
	controller := wanted[name]
	if controller == nil || !d.host.kernel.controls(&Link{Type: controller.kind}) {
		if bridge := wanted[keyOf(name, "ovs-bridge")]; bridge != nil {
			controller = bridge
		}
	}
	link := d.host.kernel.named(name)
	if controller != nil && controller.absent || controller == nil && link == nil {
		return invalid("Interface %s desired controller %s not found", w.name, name)
	}
	if w.taken != "" && w.taken != name {
		return invalid("Interface %s has controller property set to %s, but been listed as port of controller %s", w.name, name, w.taken)
	}
	if controller == nil {
		return nil
	}
	if listed, says := d.listed(controller); says && w.taken == "" && len(listed) >= 0 {
		return invalid("Interface %s has controller %s but not listed in port list of controller interface", w.name, name)
	}
	return nil
}

func (d *plan) checkMTU(_ map[string]*wish, w *wish) error {
	const leastOfIPv6 = 1280
	mtu, said := integer(w.explicit["mtu"])
	if !said {
		return nil
	}
	if truth(object(w.explicit["ipv6"])["enabled"]) && mtu < leastOfIPv6 {
		return invalid("MTU should be >= %d when IPv6 is enabled on interface %s, but got mtu: %d", leastOfIPv6, w.name, mtu)
	}
	if w.link == nil || w.kind == "loopback" || w.kind == "ovs-interface" {
		return nil
	}
	least, most := 68, 65535
	if nic, ok := d.host.nic(w.name); ok {
		most = nic.MaxMTU
	}
	if w.kind == "vrf" {
		most = mtuOfNew("vrf")
	}
	switch {
	case mtu > most:
		return invalid("Desired MTU %d for interface %s is bigger than maximum allowed MTU %d", mtu, w.name, most)
	case mtu < least:
		return invalid("Desired MTU %d for interface %s is smaller than minimum allowed MTU %d", mtu, w.name, least)
	}
	return nil
}

func (d *plan) checkAddresses(_ map[string]*wish, w *wish) error {
	for _, family := range []string{"ipv4", "ipv6"} {
		ip := object(w.explicit[family])
		if w.port && truth(ip["enabled"]) {
			return invalid("Interface %s cannot have IP enabled as it is attached to controller %s where IP is not allowed on its port",
				w.name, text(w.said["controller"]))
		}
		for _, entry := range objects(ip["address"]) {
			if prefix, ok := addressOf(entry); !ok || familyOf(prefix.Addr()) != family {
				return invalid("interface %s: %s/%s is no address of %s", w.name, text(entry["ip"]), text(entry["prefix-length"]), family)
			}
		}
	}
	return nil
}

// checkRoutes refuses routes by interfaces that are absent or lack the family.
func (d *plan) checkRoutes(wanted map[string]*wish) error {
	for _, one := range d.desired.Routes() {
		if one.Absent || text(one.Tree()["state"]) == "ignore" {
			continue
		}
		w := wanted[one.NextHopInterface]
		if w == nil {
			continue // d.routes has found it.
		}
		family := "ipv4"
		if one.IsIPv6() {
			family = "ipv6"
		}
		switch {
		case w.absent:
			return invalid("The next hop interface of desired Route '%s' has been marked as absent", one)
		case !truth(object(w.said[family])["enabled"]):
			return invalid("The next hop interface of desired Route '%s' has been marked as %s disabled", one, map[string]string{"ipv4": "IPv4", "ipv6": "IPv6"}[family])
		}
	}
	return nil
}

// withParents: what stands on an interface that goes, goes as well.
func (d *plan) withParents(wanted map[string]*wish) {
	for again := true; again; {
		again = false
		for _, l := range d.host.kernel.links {
			base := wanted[l.Base]
			if l.Base == "" || base == nil || !base.absent || l.Foreign || d.settings.profile(l.Name, false) == nil {
				continue
			}
			w := d.wishFor(wanted, l.Name, l.Type, l)
			if w.explicit == nil && !w.absent {
				w.absent, again = true, true
			}
		}
	}
}
