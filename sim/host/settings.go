package host

import (
	"maps"
	"slices"
	"strings"
)

// settings are all that NetworkManager is configured with: what it has in its
// memory, whatever its files say meanwhile. A change makes others.
type settings struct {
	profiles []*profile // By their keys.
	// down are the profiles that somebody has ended; they come up with the next
	// start of NetworkManager.
	down []*profile
	// servers and search are NetworkManager's global DNS configuration, which
	// hides that of profiles and leases; nil: there is none.
	dns tree
	// routing is what holds the policy routing rules; nil: there are none.
	routing *profile
	// ports are the profiles of Open vSwitch's ports: no interface, nor anything of nmstate's.
	ports []*profile
	// hostname of the next boot.
	hostname string
}

// profile is NetworkManager's connection profile of one interface. It is never changed.
type profile struct {
	name, kind string
	// said is what nmstate wrote into it, in nmstate's words, in the form that
	// a desired state has.
	said tree
	// routes that it configures.
	routes []Route
	// dns servers and search domains that it brings along.
	dns, search []string
	// bare: it says nothing, and has no file. NetworkManager keeps such a one of
	// a NIC that it had only observed, after a rollback.
	bare bool
	// uuid is what NetworkManager tells it by.
	uuid string
	// portType is the kind of what it is a port of, in NetworkManager's words.
	portType string
	// ovsPort is the name of the port of an Open vSwitch bridge that it is in.
	ovsPort string
	// text is its meaning once that was asked for.
	text string
}

// rulesKind is the kind of the profile that holds the policy routing rules. Really
// they are in the profile of an interface that they lead to.
const rulesKind = "rules"

// rules are the policy routing rules.
func (s settings) rules() []tree {
	if s.routing == nil {
		return nil
	}
	return objects(s.routing.said["rules"])
}

func (p *profile) key() string { return keyOf(p.name, p.kind) }

// keyOf tells an OVS bridge from the interface of the same name.
func keyOf(name, kind string) string {
	if kind == "ovs-bridge" || kind == ovsPortKind {
		return name + " " + kind
	}
	return name
}

func (p *profile) userspace() bool { return p.kind == "ovs-bridge" }

// up tells whether the interface is to be up.
func (p *profile) up() bool { return !strings.EqualFold(text(p.said["state"]), "down") }

func (p *profile) controller() string { return text(p.said["controller"]) }

// within is the controller that the kernel's link is a port of: one that is disconnected is
// in none.
func (p *profile) within() string {
	if !p.up() {
		return ""
	}
	return p.controller()
}

// family of addresses: its configuration.
func (p *profile) family(family string) tree { return object(p.said[family]) }

// enabled tells whether the family is on.
func (p *profile) enabled(family string) bool { return truth(p.family(family)["enabled"]) }

// dynamic tells whether the network is asked for addresses of the family.
func (p *profile) dynamic(family string) bool {
	ip := p.family(family)
	return truth(ip["enabled"]) && (truth(ip["dhcp"]) || truth(ip["autoconf"]))
}

// takes tells whether something of the family's lease is used: auto-dns,
// auto-gateway, auto-routes.
func (p *profile) takes(family, what string) bool {
	value, said := p.family(family)[what]
	return !said || truth(value)
}

func (s settings) profile(name string, userspace bool) *profile {
	for _, p := range s.profiles {
		if p.name == name && p.userspace() == userspace {
			return p
		}
	}
	return nil
}

// with has the profile, in the place of an older one.
func (s settings) with(p *profile) settings {
	s = s.less(p.key())
	s.down = slices.DeleteFunc(slices.Clone(s.down), func(o *profile) bool { return o.key() == p.key() })
	s.profiles = append(s.profiles, p)
	slices.SortFunc(s.profiles, func(a, b *profile) int { return strings.Compare(a.key(), b.key()) })
	return s
}

// less lacks the profile.
func (s settings) less(key string) settings {
	s.profiles = slices.DeleteFunc(slices.Clone(s.profiles), func(p *profile) bool { return p.key() == key })
	return s
}

// ended has the profile, but down.
func (s settings) ended(p *profile) settings {
	s = s.less(p.key())
	if !p.bare {
		s.down = append(slices.Clone(s.down), p)
	}
	return s
}

// forgotten lacks the profile altogether.
func (s settings) forgotten(uuid string) settings {
	gone := func(p *profile) bool { return p.uuid == uuid }
	s.profiles, s.down = slices.DeleteFunc(slices.Clone(s.profiles), gone), slices.DeleteFunc(slices.Clone(s.down), gone)
	s.ports = slices.DeleteFunc(slices.Clone(s.ports), gone)
	if s.routing != nil && s.routing.uuid == uuid {
		s.routing = nil
	}
	return s
}

// all are the profiles, whether up or not.
func (s settings) all() []*profile {
	found := slices.Concat(s.profiles, s.down, s.ports)
	if s.routing != nil {
		found = append(found, s.routing)
	}
	return found
}

func (s settings) byUUID(uuid string) *profile {
	for _, p := range s.all() {
		if p.uuid == uuid {
			return p
		}
	}
	return nil
}

// past is the profile of the key that is down; nil for none.
func (s settings) past(key string) *profile {
	for _, p := range s.down {
		if p.key() == key {
			return p
		}
	}
	return nil
}

// profileOf is the profile that the installer wrote for a NIC.
func profileOf(nic NIC) *profile {
	p := &profile{name: nic.Name, kind: "ethernet", dns: nic.DNS, search: nic.Search}
	ipv4, ipv6 := tree{"enabled": false}, tree{"enabled": false}
	if nic.DHCP4 {
		ipv4 = tree{"enabled": true, "dhcp": true, "auto-dns": true, "auto-gateway": true, "auto-routes": true}
	}
	if nic.RA {
		ipv6 = tree{"enabled": true, "autoconf": true, "dhcp": true, "auto-dns": true, "auto-gateway": true, "auto-routes": true}
	}
	for family, ip := range map[string]tree{"ipv4": ipv4, "ipv6": ipv6} {
		var addresses []any
		for _, a := range nic.Addresses {
			if familyOf(a.Addr()) == family {
				addresses = append(addresses, tree{"ip": a.Addr().String(), "prefix-length": a.Bits()})
			}
		}
		if len(addresses) > 0 {
			maps.Copy(ip, tree{"enabled": true, "address": addresses})
			if ip["dhcp"] == nil {
				ip["dhcp"] = false
			}
		}
	}
	if ipv6["enabled"] == true && ipv6["autoconf"] == nil {
		ipv6["autoconf"] = false
	}
	p.said = tree{"name": nic.Name, "type": "ethernet", "state": "up", "ipv4": ipv4, "ipv6": ipv6}
	for _, gateway := range nic.Gateways {
		p.routes = append(p.routes, Route{
			To: defaultOf(gateway), Via: gateway, Dev: nic.Name, Table: MainTable, Metric: metricOf("ethernet"), Protocol: Static,
		})
	}
	return p
}

// mergedInterface is an interface's settings with what is desired of it.
func mergedInterface(base, over tree) tree {
	result := merged(base, over)
	for _, family := range []string{"ipv4", "ipv6"} {
		ip := object(over[family])
		if ip == nil {
			continue
		}
		now := object(result[family])
		switch enabled, said := ip["enabled"]; {
		case said && !truth(enabled):
			result[family] = tree{"enabled": false}
		case (truth(now["dhcp"]) || truth(now["autoconf"])) && ip["address"] == nil:
			result[family] = without(now, "address")
		case !said && ip["address"] != nil:
			result[family] = merged(now, tree{"enabled": true})
		}
		if now = object(result[family]); now != nil && !truth(now["dhcp"]) && !truth(now["autoconf"]) {
			result[family] = without(now, "auto-dns", "auto-gateway", "auto-routes", "auto-route-table-id")
		}
	}
	if controller, said := over["controller"]; said && text(controller) == "" {
		delete(result, "controller")
	}
	if master, said := over["master"]; said {
		delete(result, "master")
		delete(result, "controller")
		if text(master) != "" {
			result["controller"] = master
		}
	}
	return result
}
