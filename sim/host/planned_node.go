package host

import (
	"net/netip"
	"slices"
	"strings"

	"github.com/nmstate/kubernetes-nmstate/handler/state"
)

// observed is what nmstate takes over of a link that has no profile: its
// addresses and NetworkManager's kind of routes.
func (h *Host) observed(l *Link) (tree, []Route) {
	said := tree{"ipv4": tree{"enabled": false}, "ipv6": tree{"enabled": false}}
	if !h.isUp(l) {
		said["state"] = "down"
	}
	for _, family := range []string{"ipv4", "ipv6"} {
		var addresses []any
		for _, a := range l.Addresses {
			if familyOf(a.Prefix.Addr()) == family && !a.Dynamic {
				addresses = append(addresses, tree{"ip": a.Prefix.Addr().String(), "prefix-length": a.Prefix.Bits()})
			}
		}
		if len(addresses) > 0 {
			said[family] = tree{"enabled": true, "dhcp": false, "address": addresses}
			if family == "ipv6" {
				object(said[family])["autoconf"] = false
			}
		}
	}
	if l.Controller != "" {
		said["controller"] = l.Controller
	}
	if l.Said != nil {
		said = merged(l.Said, said)
	}
	var routes []Route
	for _, r := range h.kernel.routes {
		if r.Dev == l.Name && r.Protocol == Static {
			routes = append(routes, r)
		}
	}
	return said, routes
}

// routes adds and takes away routes of the wished interfaces and of others
// that the routes name.
func (d *plan) routes(wanted map[string]*wish) error {
	desired := d.desired.Routes()
	d.takeOver(wanted, desired)
	for _, filter := range desired {
		if !filter.Absent {
			continue
		}
		for _, r := range d.configured(wanted) {
			if d.selects(filter, r) {
				w := d.wishForDevice(wanted, r.Dev)
				if w != nil {
					w.routes = slices.DeleteFunc(slices.Clone(w.routes), r.is)
				}
			}
		}
	}
	for _, one := range desired {
		if one.Absent || text(one.Tree()["state"]) == "ignore" {
			continue
		}
		r, err := d.route(one)
		if err != nil {
			return err
		}
		w := d.wishForDevice(wanted, r.Dev)
		if w == nil {
			return invalid("Route '%s': next hop interface %s not found", one, r.Dev)
		}
		w.routes = append(slices.DeleteFunc(slices.Clone(w.routes), func(other Route) bool {
			return other.To == r.To && other.Via == r.Via && other.Table == r.Table && (!one.HasMetric || other.Metric == r.Metric)
		}), r)
	}
	return nil
}

// takeOver: nmstate takes routes of the protocol boot for configured ones, and
// writes them into the profile of an interface whose routes change.
func (d *plan) takeOver(wanted map[string]*wish, desired []state.Route) {
	changed := map[string]bool{}
	for _, one := range desired {
		switch {
		case text(one.Tree()["state"]) == "ignore":
		case !one.Absent:
			changed[one.NextHopInterface] = true
		default:
			for _, r := range d.host.kernel.routes {
				if (r.Protocol == Boot || r.Protocol == Static) && d.selects(one, r) {
					changed[r.Dev] = true
				}
			}
		}
	}
	for _, r := range d.host.kernel.routes {
		if r.Protocol != Boot || !changed[r.Dev] {
			continue
		}
		if w := d.wishForDevice(wanted, r.Dev); w != nil {
			r.Protocol = Static
			w.routes = append(slices.Clone(w.routes), r)
		}
	}
}

func (d *plan) wishForDevice(wanted map[string]*wish, name string) *wish {
	if w := wanted[name]; w != nil {
		return w
	}
	l := d.host.kernel.link(name, false)
	if l == nil {
		return nil
	}
	return d.wishFor(wanted, l.Name, l.Type, l)
}

// configured are the routes of the profiles and wishes.
func (d *plan) configured(wanted map[string]*wish) []Route {
	var found []Route
	for _, p := range d.settings.profiles {
		if wanted[p.key()] == nil {
			found = append(found, p.routes...)
		}
	}
	for _, key := range sortedKeys(wanted) {
		found = append(found, wanted[key].routes...)
	}
	for _, l := range d.host.kernel.links {
		if wanted[l.Name] == nil && d.settings.profile(l.Name, false) == nil {
			_, routes := d.host.observed(l)
			found = append(found, routes...)
		}
	}
	return found
}

func (d *plan) selects(filter state.Route, r Route) bool {
	via := ""
	if r.Via.IsValid() {
		via = r.Via.String()
	}
	_, says := filter.Tree()["next-hop-address"]
	table, _ := integer(filter.Tree()["table-id"])
	return (filter.Destination == "" || filter.Destination == r.To.String()) &&
		(filter.NextHopInterface == "" || filter.NextHopInterface == r.Dev) &&
		(!says || filter.NextHopAddress == via) && (table == 0 || table == r.Table) &&
		(!filter.HasMetric || int(filter.Metric) == r.Metric)
}

// route is a desired route as the kernel has it.
func (d *plan) route(one state.Route) (Route, error) {
	to, err := netip.ParsePrefix(one.Destination)
	if err != nil {
		return Route{}, invalid("route %s: %q is no destination", one, one.Destination)
	}
	r := Route{To: to.Masked(), Dev: one.NextHopInterface, Table: int(one.TableID), Metric: int(one.Metric), Protocol: Static}
	if one.NextHopAddress != "" {
		if r.Via, err = netip.ParseAddr(one.NextHopAddress); err != nil || r.Via.Is4() != to.Addr().Is4() {
			return Route{}, invalid("route %s: %q is no gateway for it", one, one.NextHopAddress)
		}
	}
	if one.NextHopInterface == "" {
		return Route{}, invalid("route %s: the simulator has no routes without an interface", one)
	}
	if to.Addr().Is6() && r.Metric == 0 {
		r.Metric = 1024 // The kernel's own choice.
	}
	if vrf := one.VRF; vrf != "" {
		if l := d.host.kernel.link(vrf, false); l != nil {
			r.Table = l.Table
		}
		if w, ok := d.desired.Interface(vrf); ok {
			r.Table = tableIn(w.Tree())
		}
	}
	r.Said = without(one.Tree(), "destination", "next-hop-interface", "next-hop-address", "table-id", "metric", "state", "vrf-name")
	if len(r.Said) == 0 {
		r.Said = nil
	}
	return r, nil
}

// node are the settings that belong to no interface.
func (d *plan) node() {
	t := d.desired.Tree()
	if resolver := object(t["dns-resolver"]); resolver["config"] != nil {
		d.resolver(object(resolver["config"]))
	}
	if hostname := object(t["hostname"]); hostname != nil {
		// A trial in memory takes no hostname for the next boot.
		d.running = text(hostname["running"])
	}
	d.rules()
}

// resolver is kept in NetworkManager's global configuration, which hides what
// profiles and leases bring. Nothing at all takes that of the profiles away, too.
func (d *plan) resolver(config tree) {
	dns := merged(d.host.resolverConfig(), config)
	if len(config) == 0 || len(texts(dns["server"]))+len(texts(dns["search"]))+len(texts(dns["options"])) == 0 {
		d.settings.dns = nil
		for _, p := range d.settings.profiles {
			if len(p.dns)+len(p.search) > 0 {
				without := *p
				without.dns, without.search, without.text = nil, nil, ""
				d.settings = d.settings.with(&without)
				if !slices.ContainsFunc(d.activate, func(other *profile) bool { return other.key() == p.key() }) {
					d.activate = append(d.activate, &without)
				}
			}
		}
		return
	}
	d.settings.dns = dns
	d.copyServers(dns)
}

// copyServers has the name servers in the profile of an interface that the state says
// addresses of, too, as nmstate does: the first such interface of each family.
func (d *plan) copyServers(dns tree) {
	for _, family := range []string{"ipv4", "ipv6"} {
		var servers []string
		for _, server := range texts(dns["server"]) {
			if a, err := netip.ParseAddr(server); err == nil && familyOf(a) == family {
				servers = append(servers, server)
			}
		}
		p := d.holdsServers(family)
		if len(servers) == 0 || p == nil {
			continue
		}
		with := *p
		with.text, with.search = "", texts(dns["search"])
		with.dns = slices.DeleteFunc(slices.Clone(p.dns), func(server string) bool {
			a, err := netip.ParseAddr(server)
			return err == nil && familyOf(a) == family
		})
		with.dns = append(with.dns, servers...)
		d.settings = d.settings.with(&with)
	}
}

// holdsServers is the profile of the first interface of the state that has static
// addresses of the family; nil for none.
func (d *plan) holdsServers(family string) *profile {
	for _, one := range d.desired.Interfaces() {
		p := d.settings.profile(one.Name, false)
		said := object(one.Tree()[family])
		if p != nil && p.up() && p.controller() == "" && truth(said["enabled"]) && p.enabled(family) && !p.dynamic(family) &&
			slices.ContainsFunc(d.activate, func(other *profile) bool { return other.key() == p.key() }) {
			return p
		}
	}
	return nil
}

// rules are added; absent ones are filters.
func (d *plan) rules() {
	wanted := d.desired.RouteRules()
	if len(wanted) == 0 {
		return
	}
	d.rulesChanged = true
	rules := slices.Clone(d.settings.rules())
	for _, filter := range wanted {
		if filter.Absent {
			rules = slices.DeleteFunc(rules, func(have tree) bool { return covers(filter.Tree(), have) })
		}
	}
	for _, one := range wanted {
		if one.Absent || slices.ContainsFunc(rules, func(have tree) bool { return covers(one.Tree(), have) }) {
			continue
		}
		rule := one.Tree()
		if one.From != "" {
			rule["ip-from"] = one.From
		}
		if one.To != "" {
			rule["ip-to"] = one.To
		}
		if rule["family"] == nil {
			rule["family"] = "ipv4"
			if strings.Contains(one.From+one.To, ":") {
				rule["family"] = "ipv6"
			}
		}
		rules = append(rules, rule)
	}
	if same(rules, d.settings.rules()) {
		return
	}
	items := []any{}
	for _, rule := range rules {
		items = append(items, rule)
	}
	routing := &profile{kind: rulesKind, said: tree{"rules": items}}
	if d.settings.routing != nil {
		routing.uuid = d.settings.routing.uuid
	}
	d.settings.routing = routing
}

// covers tells whether a rule has all that the wanted one says.
func covers(wanted, have tree) bool {
	for key, value := range wanted {
		if key == "state" || value == nil {
			continue
		}
		one, isPrefix := prefixOf(text(value))
		other, _ := prefixOf(text(have[key]))
		if isPrefix && one == other && strings.HasPrefix(key, "ip-") {
			continue
		}
		if text(value) != text(have[key]) {
			return false
		}
	}
	return true
}
