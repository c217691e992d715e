package host

import (
	"cmp"
	"maps"
	"slices"

	"github.com/nmstate/kubernetes-nmstate/handler/state"
)

// Show is the host's state as nmstate shows it. It is computed once for each
// revision.
func (h *Host) Show() state.State {
	return h.shown.get(h.revision, func() state.State { return h.words.shared.FromTree(h.document()).WithScripts(h.scripts().Texts()) })
}

func (h *Host) document() tree {
	var interfaces []any
	links := slices.Clone(h.kernel.links)
	slices.SortStableFunc(links, func(a, b *Link) int { return cmp.Compare(a.Name, b.Name) })
	for _, l := range links {
		interfaces = append(interfaces, h.showLink(l))
	}
	var config, running []any
	for _, r := range h.kernel.routes {
		if r.Protocol == Kernel {
			continue
		}
		running = append(running, showRoute(r))
		if r.Protocol == Static || r.Protocol == Boot {
			config = append(config, showRoute(r))
		}
	}
	rules := []any{}
	for _, r := range h.kernel.rules {
		rules = append(rules, r)
	}
	document := tree{
		"interfaces":   interfaces,
		"routes":       tree{"config": orNone(config), "running": orNone(running)},
		"route-rules":  tree{"config": rules},
		"dns-resolver": tree{"config": h.resolverConfig(), "running": resolver(h.NameServers(), h.SearchDomains(), texts(h.settings.dns["options"]))},
		"hostname":     tree{"config": h.settings.hostname, "running": h.kernel.hostname},
	}
	h.showOpenVSwitch(document)
	return document
}

func orNone(items []any) []any {
	if items == nil {
		return []any{}
	}
	return items
}

func showRoute(r Route) tree {
	t := tree{"destination": r.To.String(), "next-hop-interface": r.Dev, "table-id": r.Table}
	maps.Copy(t, r.Said)
	if r.Via.IsValid() {
		t["next-hop-address"] = r.Via.String()
	}
	if r.Metric != 0 {
		t["metric"] = r.Metric
	}
	return t
}

// isUp tells whether nmstate has a link up. One that NetworkManager has disconnected,
// since its profile is to be down, it has down, whatever the kernel says.
func (h *Host) isUp(l *Link) bool {
	a := h.activations[keyOf(l.Name, l.Type)]
	return l.Up && (a == nil || a.profile.up())
}

// showLink is what is said of a link: the defaults of its type, what its
// profile said, and over both what the kernel has.
func (h *Host) showLink(l *Link) tree {
	t := defaultsOf(l.Type)
	if l.Said != nil {
		t = merged(t, without(l.Said, "ipv4", "ipv6", "controller", "mtu", "mac-address", "state", "bridge", "link-aggregation"))
	}
	t["name"], t["type"] = l.Name, l.Type
	t["state"] = "down"
	if h.isUp(l) {
		t["state"] = "up"
	}
	if l.Foreign || l.Unused {
		t["state"] = "ignore"
	}
	if l.Controller != "" {
		t["controller"] = l.Controller
	}
	if l.userspace() {
		h.showPorts(t, l)
		return t
	}
	t["mtu"], t["mac-address"] = l.MTU, l.MAC
	if nic, ok := h.nic(l.Name); ok {
		t["min-mtu"], t["max-mtu"], t["permanent-mac-address"] = 68, nic.MaxMTU, l.Permanent
	}
	t["ipv4"], t["ipv6"] = h.showFamily(l, "ipv4"), h.showFamily(l, "ipv6")
	if truth(object(t["lldp"])["enabled"]) && h.Neighbours != nil {
		t["lldp"] = merged(object(t["lldp"]), tree{"neighbors": showNeighbours(h.Neighbours(l.Name))})
	}
	h.showPorts(t, l)
	h.showTypes(t, l)
	return t
}

// showTypes is what the kernel itself knows of a link of a type.
func (h *Host) showTypes(t tree, l *Link) {
	switch l.Type {
	case "veth":
		if l.Peer != "" {
			t["veth"] = tree{"peer": l.Peer}
		}
	case "vlan":
		t["vlan"] = merged(tree{"protocol": "802.1q", "registration-protocol": "none"}, merged(object(t["vlan"]), tree{"base-iface": l.Base, "id": l.VLAN}))
	}
}

// spanningTree tells whether a bridge takes part in one. NetworkManager switches
// it on unless its profile says otherwise; a bridge by hand has it off.
func (l *Link) spanningTree() bool {
	stp, told := object(object(object(l.Said["bridge"])["options"])["stp"])["enabled"]
	if told {
		return truth(stp)
	}
	return l.Said != nil
}

// showFamily is the IP configuration of a link.
func (h *Host) showFamily(l *Link, family string) tree {
	var addresses []any
	for _, a := range l.Addresses {
		if familyOf(a.Prefix.Addr()) == family {
			addresses = append(addresses, tree{"ip": a.Prefix.Addr().String(), "prefix-length": a.Prefix.Bits()})
		}
	}
	p := h.active(l)
	dynamic := p != nil && p.dynamic(family)
	if len(addresses) == 0 && !dynamic {
		return tree{"enabled": false}
	}
	t := tree{"enabled": true, "address": orNone(addresses)}
	if p == nil {
		return t
	}
	t["auto-route-metric"] = -1
	if family == "ipv6" {
		t["autoconf"], t["addr-gen-mode"] = false, "eui64"
	} else {
		t["prefix-route-metric"] = -1
	}
	t["dhcp"] = false
	if dynamic {
		maps.Copy(t, tree{"auto-dns": true, "auto-gateway": true, "auto-routes": true, "auto-route-table-id": 0})
	}
	return merged(t, without(p.family(family), "enabled", "address"))
}

// active is the profile that is active on a link as it was activated, also where its
// file says something else since; nil for none.
func (h *Host) active(l *Link) *profile {
	p := h.settings.profile(l.Name, l.userspace())
	if p == nil || samePointer(p.said, l.Said) {
		return p
	}
	if a := h.activations[p.key()]; a != nil && a.profile.uuid == p.uuid && samePointer(a.profile.said, l.Said) {
		return a.profile
	}
	return nil
}

// showPorts is the list of ports that the kernel has, each with what the
// profile says about it.
func (h *Host) showPorts(t tree, l *Link) {
	ports := h.kernel.ports(l.Name)
	switch l.Type {
	case "linux-bridge":
		said := object(l.Said["bridge"])
		bridge := merged(object(t["bridge"]), tree{"options": object(said["options"])})
		bridge = merged(bridge, tree{"options": tree{"stp": tree{"enabled": l.spanningTree()}}})
		bridge["port"] = portsSaid(ports, said, tree{"stp-hairpin-mode": false, "stp-path-cost": 100, "stp-priority": 32})
		t["bridge"] = bridge
	case "ovs-bridge":
		said := object(l.Said["bridge"])
		t["bridge"] = merged(merged(object(t["bridge"]), said), tree{"port": ovsPorts(ports, said)})
	case "bond":
		said := object(l.Said["link-aggregation"])
		if said == nil {
			said = object(l.Said["bond"])
		}
		delete(t, "bond")
		t["link-aggregation"] = merged(without(said, "port", "ports", "slaves"), tree{"port": names(ports)})
	case "vrf":
		t["vrf"] = tree{"port": names(ports), "route-table-id": l.Table}
	}
}

func names(links []*Link) []any {
	found := []any{}
	for _, l := range links {
		found = append(found, l.Name)
	}
	return found
}

// saidOf is what a bridge's profile says about a port.
func saidOf(said tree, name string) tree {
	for _, key := range []string{"port", "ports"} {
		for _, port := range objects(said[key]) {
			if text(port["name"]) == name {
				return port
			}
		}
	}
	return nil
}

func portsSaid(ports []*Link, said, defaults tree) []any {
	found := []any{}
	for _, l := range ports {
		port := merged(defaults, saidOf(said, l.Name))
		if len(object(port["vlan"])) == 0 {
			delete(port, "vlan")
		}
		port["name"] = l.Name
		found = append(found, port)
	}
	return found
}

// ovsPorts keeps the bonds of the profile whose ports are there.
func ovsPorts(ports []*Link, said tree) []any {
	found := []any{}
	bonded := map[string]bool{}
	for _, key := range []string{"port", "ports"} {
		for _, port := range objects(said[key]) {
			bond := object(port["link-aggregation"])
			if bond == nil {
				continue
			}
			for _, list := range []string{"port", "ports", "slaves"} {
				for _, one := range objects(bond[list]) {
					bonded[text(one["name"])] = true
				}
			}
			found = append(found, port)
		}
	}
	for _, l := range ports {
		if !bonded[l.Name] {
			found = append(found, merged(saidOf(said, l.Name), tree{"name": l.Name}))
		}
	}
	return found
}

// defaultsOf is what nmstate shows of a link of the type about which nobody
// has said anything.
func defaultsOf(kind string) tree {
	t := tree{"accept-all-mac-addresses": false, "identifier": "name", "lldp": tree{"enabled": false}, "wait-ip": "any"}
	switch kind {
	case "loopback":
		return tree{}
	case "ovs-bridge":
		return tree{"bridge": tree{"options": tree{"fail-mode": "", "mcast-snooping-enable": false, "rstp": false, "stp": tree{"enabled": false}}}}
	case "linux-bridge":
		t["bridge"] = tree{"options": tree{
			"group-addr": "01:80:C2:00:00:00", "group-forward-mask": 0, "group-fwd-mask": 0, "hash-max": 4096, "mac-ageing-time": 300,
			"multicast-querier": false, "multicast-router": "auto", "multicast-snooping": true,
			"stp": tree{"enabled": false, "forward-delay": 15, "hello-time": 2, "max-age": 20, "priority": 32768},
		}}
	}
	return t
}
