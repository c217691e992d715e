package state

import (
	"fmt"
	"slices"
)

// Originals is what was there before a leaf was first owned, for every leaf
// that a committed document owns. It is shaped like the document; null is
// "nothing was there". Lists that nmstate takes as exact (addresses, ports,
// name servers), and the IP configuration of a family, are remembered whole.
//
//	interfaces: {br1: {state: absent, mtu: null}, eth1: {state: up, mtu: 1500}}
//	routes:     {<a route of the document>: [what it replaced or was before]}
type Originals struct {
	tree map[string]any
}

// ParseOriginals reads what JSON wrote; no bytes are no originals.
func ParseOriginals(raw []byte) (Originals, error) {
	parsed, err := Parse(raw)
	if err != nil {
		return Originals{}, fmt.Errorf("reading the originals: %w", err)
	}
	return Originals(parsed), nil
}

// JSON is the form in which the originals are kept.
func (o Originals) JSON() []byte { return State(o).JSON() }

// IsEmpty tells whether nothing is remembered.
func (o Originals) IsEmpty() bool { return len(o.tree) == 0 }

// Remember is what to keep when the node comes from one committed document to
// another, its state before that being before: of leaves that were owned
// already what is known of them, of new ones what before has. What the document
// does not own is forgotten. What from owned and is not known (a record of an
// older handler) stays unknown.
//
// Of what the paths kept name nothing is remembered: a policy that had set it
// too, with onDelete: Retain, has left, so it stays whoever leaves after it.
func (o Originals) Remember(from, committed, before State, kept []Path) Originals {
	said := implied(committed)
	c := newComparison(before)
	tree := map[string]any{}
	if interfaces := o.interfaces(implied(from), said, c, before); len(interfaces) > 0 {
		tree["interfaces"] = interfaces
	}
	if routes := o.routes(from, said, before); len(routes) > 0 {
		tree["routes"] = routes
	}
	if rules := o.rules(from, said, before); len(rules) > 0 {
		tree["route-rules"] = rules
	}
	for _, section := range nodeSections() {
		if now := object(committed.tree[section]); now != nil {
			tree[section] = remembered(object(o.tree[section]), object(from.tree[section]), now, object(before.tree[section]))
		}
	}
	forget(tree, kept)
	if len(tree) == 0 {
		return Originals{}
	}
	return Originals{tree: tree}
}

// nodeSections are the sections, apart from routes and interfaces, that can be
// put back.
func nodeSections() []string { return []string{"dns-resolver", "hostname", "ovn", "ovs-db"} }

func (o Originals) interfaces(from, said implication, c *comparison, before State) map[string]any {
	known := object(o.tree["interfaces"])
	found := map[string]any{}
	for _, one := range said.interfaces {
		was, there := c.find(one)
		have, owned := known[one.key()].(map[string]any)
		old, older := from.entry(one.key())
		var tree map[string]any
		switch {
		case !owned && !older && there && one.goes():
			tree = wholeInterfaceOf(was)
		case there:
			tree = rememberedInterface(have, old.tree, one, inPlace(canonical(was.Tree()), before))
		default:
			tree = rememberedInterface(have, old.tree, one, nil)
		}
		switch {
		case owned || older:
		case there:
			tree["state"] = was.State
		default:
			tree["state"] = "absent"
		}
		_, knew := have["controller"]
		if now, said := tree["controller"]; said && now == nil && !knew {
			if controller := o.displacedFrom(one.Name); controller != "" {
				tree["controller"] = controller
			}
		}
		o.addTaken(one, have, tree)
		found[one.key()] = tree
	}
	return found
}

// addTaken adds to a newly owned list of ports those that an owned leaf had
// taken away from the interface before.
func (o Originals) addTaken(one Interface, known, tree map[string]any) {
	interfaces := object(o.tree["interfaces"])
	for _, section := range []string{"bridge", "link-aggregation", "vrf"} {
		now := object(tree[section])
		if _, said := now["port"]; !said || object(known[section])["port"] != nil {
			continue
		}
		for _, port := range sortedKeys(interfaces) {
			if text(object(interfaces[port])["controller"]) == one.Name {
				now["port"] = append(list(now["port"]), portOf(section, port))
			}
		}
	}
}

// portOf is a port in the form of the section's list.
func portOf(section, name string) any {
	if section == "bridge" {
		return map[string]any{"name": name}
	}
	return name
}

// displacedFrom is the interface that the named one was a port of until an
// exact list of ports left it out; it was not owned then.
func (o Originals) displacedFrom(name string) string {
	interfaces := object(o.tree["interfaces"])
	for _, controller := range sortedKeys(interfaces) {
		tree := object(interfaces[controller])
		for _, section := range []string{"bridge", "link-aggregation", "vrf"} {
			for _, port := range list(object(tree[section])["port"]) {
				if portName(port) == name {
					return controller
				}
			}
		}
	}
	return ""
}

// wholeInterfaceOf is a reported interface as it can be desired again.
func wholeInterfaceOf(was Interface) map[string]any {
	tree := was.Tree()
	for _, family := range []Family{IPv4, IPv6} {
		if ip := object(tree[string(family)]); ip != nil {
			tree[string(family)] = desirable(ip)
		}
	}
	return tree
}

func rememberedInterface(known, from map[string]any, now Interface, before map[string]any) map[string]any {
	tree := remembered(known, from, now.tree, before)
	for _, key := range identityKeys() {
		delete(tree, key)
	}
	for _, family := range []Family{IPv4, IPv6} {
		key := string(family)
		if _, said := now.tree[key]; !said {
			continue
		}
		have, owned := known[key]
		_, older := from[key]
		switch ip := object(copied(before[key])); {
		case owned:
			tree[key] = have
		case older:
			delete(tree, key)
		case ip != nil:
			tree[key] = desirable(ip)
		default:
			tree[key] = nil
		}
	}
	if state, owned := known["state"]; owned {
		tree["state"] = state
	}
	return tree
}

// identityKeys say which interface is meant, and what it is for good.
func identityKeys() []string {
	return []string{"name", "type", "state", "identifier", "profile-name", "permanent-mac-address", "pci-address", "driver"}
}

// remembered goes through what is owned now.
func remembered(known, from, now, before map[string]any) map[string]any {
	tree := make(map[string]any, len(now))
	for key, value := range now {
		have, owned := known[key]
		if section, nested := value.(map[string]any); nested {
			tree[key] = remembered(object(have), object(from[key]), section, object(before[key]))
			continue
		}
		if owned {
			tree[key] = have
		} else if _, older := from[key]; !older {
			tree[key] = copied(before[key])
		}
	}
	return tree
}

// routes: of a route, whether it was there; of one that is to be absent, what
// was there; of a family that is switched off, what it had.
func (o Originals) routes(from State, said implication, before State) map[string]any {
	known, found := object(o.tree["routes"]), map[string]any{}
	had := o.originalRoutes(from, before)
	older := map[string]bool{}
	for _, route := range from.Routes() {
		older[routePath(route).String()] = true
	}
	keep := func(key string, matches func(Route) bool) {
		if have, owned := known[key]; owned || older[key] {
			if owned {
				found[key] = have
			}
			return
		}
		were := []any{}
		for _, route := range had {
			if matches(route) {
				were = append(were, route.Tree())
			}
		}
		found[key] = were
	}
	for _, route := range said.state.Routes() {
		if route.Absent {
			keep(routePath(route).String(), route.selects)
		} else {
			keep(routePath(route).String(), route.is)
		}
	}
	for family, fate := range said.families() {
		if _, owned := known[family.String()]; owned || fate.forgotten {
			keep(family.String(), family.lost)
		}
	}
	return found
}

// is tells whether a current route is the one that r wants.
func (r Route) is(got Route) bool { return r.Destination == got.Destination && r.isMetBy(got) }

// originalRoutes are the routes of before without what owned routes have added,
// and with what owned leaves have taken away.
func (o Originals) originalRoutes(from, before State) []Route {
	known := object(o.tree["routes"])
	routes := slices.DeleteFunc(before.Routes(), func(got Route) bool {
		return slices.ContainsFunc(from.Routes(), func(r Route) bool {
			were, owned := known[routePath(r).String()]
			return !r.Absent && owned && len(list(were)) == 0 && r.is(got)
		})
	})
	for _, key := range sortedKeys(known) {
		for _, tree := range objects(known[key]) {
			if route := routeOf(tree); !slices.ContainsFunc(routes, route.is) {
				routes = append(routes, route)
			}
		}
	}
	return routes
}

// rules: of a rule, whether it was there, or what was there; of a family that is left
// without routes, those of its routes' tables, which go with its profile.
func (o Originals) rules(from State, said implication, before State) map[string]any {
	older := map[string]bool{}
	for _, rule := range from.RouteRules() {
		older[rulePath(rule).String()] = true
	}
	known, found := object(o.tree["route-rules"]), map[string]any{}
	keep := func(key string, matches func(RouteRule) bool) {
		if have, owned := known[key]; owned || older[key] {
			if owned {
				found[key] = have
			}
			return
		}
		were := []any{}
		for _, got := range before.RouteRules() {
			if matches(got) {
				were = append(were, got.Tree())
			}
		}
		found[key] = were
	}
	for _, rule := range said.state.RouteRules() {
		keep(rulePath(rule).String(), rule.selects)
	}
	for family, fate := range said.families() {
		_, owned := known[family.String()]
		if !owned && !fate.forgotten {
			continue
		}
		tables := map[int64]bool{}
		for _, route := range before.Routes() {
			tables[route.TableID] = tables[route.TableID] || family.lost(route) && route.TableID != MainTable
		}
		keep(family.String(), func(got RouteRule) bool {
			return tables[got.TableID] && !slices.ContainsFunc(from.RouteRules(), func(r RouteRule) bool { return !r.Absent && r.selects(got) })
		})
		if were, are := found[family.String()]; are && len(list(were)) == 0 {
			delete(found, family.String())
		}
	}
	return found
}
