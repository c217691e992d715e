package state

import "slices"

// Delta is the document that has to be applied to come from one aggregate of
// policies to another: the interfaces that to describes differently, whole and
// with what hangs together with them (Closure), the routes and rules that are new,
// and every other section that changed, whole. What from had and to no longer
// names stays on the node (onDelete: Retain), so it is not in the document.
func Delta(from, to State) State {
	changed := ChangedInterfaces(from, to)
	routes := newEntries(from, to, "routes")
	rules := newEntries(from, to, "route-rules")
	tree := map[string]any{}
	if len(changed) > 0 || len(routes) > 0 || len(rules) > 0 {
		tree = closure(to, changed, routes, rules)
	}
	for _, section := range ChangedSections(from, to) {
		switch section {
		case "interfaces", "routes", "route-rules", "description":
			continue
		}
		tree[section] = copied(to.tree[section])
	}
	if len(tree) == 0 {
		return State{}
	}
	return State{tree: tree}
}

// Closure is desired restricted to the named interfaces, the interfaces they
// stand on, their ports and their controllers, and to the routes and rules
// that refer to any of them.
func Closure(desired State, changed []string) State {
	tree := closure(desired, changed, nil, nil)
	if len(tree) == 0 {
		return State{}
	}
	return State{tree: tree}
}

// closure is a document of the interfaces that hang together with the changed
// ones, and of the routes and rules that refer to them or are named.
func closure(desired State, changed []string, routes, rules map[string]bool) map[string]any {
	names := together(desired.Interfaces(), changed)
	tree := map[string]any{}
	var interfaces, routeItems, ruleItems []any
	for _, one := range desired.Interfaces() {
		if names[one.Name] {
			interfaces = append(interfaces, one.Tree())
		}
	}
	tables := map[int64]bool{}
	for _, route := range desired.Routes() {
		if names[route.NextHopInterface] || names[route.VRF] || routes[spelt(route.tree)] {
			routeItems = append(routeItems, route.Tree())
			tables[route.TableID] = route.TableID != MainTable
		}
	}
	for _, rule := range desired.RouteRules() {
		if names[rule.Interface] || tables[rule.TableID] || rules[spelt(rule.tree)] {
			ruleItems = append(ruleItems, rule.Tree())
		}
	}
	if interfaces != nil {
		tree["interfaces"] = interfaces
	}
	if routeItems != nil {
		tree["routes"] = map[string]any{"config": routeItems}
	}
	if ruleItems != nil {
		tree["route-rules"] = map[string]any{"config": ruleItems}
	}
	return tree
}

// together is the set of names that hang together with the given ones: what
// they stand on, their ports, their controllers, and so on.
func together(all []Interface, names []string) map[string]bool {
	byName := map[string][]Interface{}
	controllers := map[string][]string{}
	for _, one := range all {
		byName[one.Name] = append(byName[one.Name], one)
		for _, port := range one.Ports() {
			controllers[port] = append(controllers[port], one.Name)
		}
	}
	reached := map[string]bool{}
	queue := slices.Clone(names)
	for len(queue) > 0 {
		name := queue[0]
		queue = queue[1:]
		if name == "" || reached[name] {
			continue
		}
		reached[name] = true
		queue = append(queue, controllers[name]...)
		for _, one := range byName[name] {
			controller, _ := one.Controller()
			queue = append(queue, controller, one.BaseInterface(), one.Peer(), text(one.tree["copy-mac-from"]))
			queue = append(queue, one.Ports()...)
		}
	}
	return reached
}

// ChangedInterfaces are the names of the interfaces that to describes
// differently from from, in to's order.
func ChangedInterfaces(from, to State) []string {
	before := map[string]string{}
	for _, one := range from.Interfaces() {
		before[one.key()] = spelt(one.tree)
	}
	var names []string
	for _, one := range to.Interfaces() {
		if before[one.key()] != spelt(one.tree) && !slices.Contains(names, one.Name) {
			names = append(names, one.Name)
		}
	}
	return names
}

// key tells interfaces apart: kernel interfaces share one space of names.
func (i Interface) key() string {
	if isUserspace(i.Type) {
		return i.Name + " " + i.Type
	}
	return i.Name
}

// ChangedSections are the top-level keys of to whose values differ from
// from's, sorted. Sections that to does not have are not among them.
func ChangedSections(from, to State) []string {
	var changed []string
	for _, key := range sortedKeys(to.tree) {
		if encoded(from.tree[key]) != encoded(to.tree[key]) {
			changed = append(changed, key)
		}
	}
	return changed
}

// newEntries are the configured entries of a section that from does not have.
func newEntries(from, to State, section string) map[string]bool {
	before := map[string]bool{}
	for _, tree := range objects(object(from.tree[section])["config"]) {
		before[spelt(tree)] = true
	}
	added := map[string]bool{}
	for _, tree := range objects(object(to.tree[section])["config"]) {
		if entry := spelt(tree); !before[entry] {
			added[entry] = true
		}
	}
	return added
}

// spelt is a value's canonical JSON.
func spelt(tree map[string]any) string { return encoded(tree) }
