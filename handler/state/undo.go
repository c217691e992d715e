package state

import (
	"maps"
	"slices"
)

// Undo is what has to be applied beside Delta(from, to) so that what only from
// had, and may be reverted, goes back to what was there before it.
//
//   - An interface that was not there before, and that to does not refer to,
//     goes. Keys get their original values, a family its IP configuration of
//     before, a port that is let go its addresses and routes.
//   - Where to says something about a leaf it wins, and about a list that nmstate
//     takes as exact (addresses, ports, name servers) it wins for the whole list.
//     Otherwise the entries that from had go, those that it had displaced come
//     back, and entries that others put there since stay.
//   - Routes and rules that from had added go; those that it took away come back.
//   - A leaf whose current value is not from's any more is left alone: somebody
//     else has changed it since, and what is theirs is not ours to undo. An address
//     that somebody only took away is nobody's, and the others go.
//
// reverts are the paths (as Paths spells them) that may be reverted. What the
// originals do not know is left alone.
func Undo(from, to State, reverts []Path, originals Originals, current State) State {
	u := &undoing{
		from: implied(from), to: implied(to), originals: originals.tree,
		c: newComparison(current), current: current, reverts: canonicalPaths(reverts),
	}
	tree := map[string]any{}
	for _, one := range u.from.interfaces {
		u.inter(one)
	}
	if len(u.interfaces) > 0 {
		tree["interfaces"] = u.interfaces
	}
	if routes := u.routes(); len(routes) > 0 {
		tree["routes"] = map[string]any{"config": routes}
	}
	if rules := u.rules(); len(rules) > 0 {
		tree["route-rules"] = map[string]any{"config": rules}
	}
	u.sections(tree)
	if len(tree) == 0 {
		return State{}
	}
	return State{tree: tree}
}

// undoing is one Undo in the making.
type undoing struct {
	from, to  implication
	reverts   []Path
	originals map[string]any
	c         *comparison
	current   State

	// interfaces are those of the result, gone the names that it takes away,
	// restored the families that get their configuration of before.
	interfaces []any
	gone       map[string]bool
	restored   map[emptied]bool
}

// may tells whether something at or below the path may be reverted.
func (u *undoing) may(path Path) bool { return slices.ContainsFunc(u.reverts, path.touches) }

// mayPort is may for what follows from an interface's being a port.
func (u *undoing) mayPort(name string) bool {
	controller, is := u.from.ports[name]
	if !is {
		return false
	}
	base := pathOf(controller)
	for _, section := range []string{"bridge", "link-aggregation", "vrf", "hsr"} {
		if u.may(base.At(section).At("port").entry(name)) {
			return true
		}
	}
	return false
}

// inter undoes what only from says of an interface.
func (u *undoing) inter(one Interface) {
	original, known := object(u.originals["interfaces"])[one.key()].(map[string]any)
	if !known || !(u.may(pathOf(one)) || u.mayPort(one.Name)) {
		return
	}
	got, there := u.c.find(one)
	wanted, inTo := u.to.entry(one.key())
	stays := inTo || u.to.named[one.Name]
	tree := identity(one, got)
	switch {
	case text(original["state"]) == "absent" && !stays:
		if there {
			tree["state"] = "absent"
			u.add(tree, one.Name)
		}
		return
	case one.goes():
		if !inTo && text(original["state"]) == "up" && !(there && got.State == "up") {
			maps.Copy(tree, u.withoutTaken(one.Name, object(copied(original))))
			u.add(tree, "")
			u.restore(one.Name, IPv4, IPv6)
		}
		return
	case !there:
		return
	}
	o := &overlay{u: u, name: one.Name, implied: u.from.ports[one.Name].Name != "", differences: u.differences(one, got)}
	back := o.interfaceTree(pathOf(one), one.tree, wanted.tree, original, canonical(got.Tree()))
	if back == nil {
		return
	}
	maps.Copy(tree, back)
	if text(original["state"]) == "down" && !inTo && silent(tree, got) {
		tree["state"] = "down"
	}
	u.add(tree, "")
}

// withoutTaken leaves out of an interface that comes back the ports that are another
// one's by now.
func (u *undoing) withoutTaken(name string, tree map[string]any) map[string]any {
	o := &overlay{u: u, name: name}
	for _, section := range []string{"bridge", "link-aggregation", "vrf"} {
		leaf := section + ".port"
		if ports, said := object(tree[section])["port"].([]any); said {
			object(tree[section])["port"] = slices.DeleteFunc(ports, func(port any) bool { return o.taken(leaf, port) })
		}
	}
	return tree
}

// silent tells whether the interface has no addresses once the document is
// applied, so that it may go down without taking anybody else's with it.
func silent(tree map[string]any, current Interface) bool {
	for _, family := range []Family{IPv4, IPv6} {
		ip, said := tree[string(family)].(map[string]any)
		if !said {
			ip = object(current.tree[string(family)])
		}
		one := interfaceOf(map[string]any{string(family): ip})
		if enabled, _ := one.Enabled(family); !enabled {
			continue
		}
		if one.Dynamic(family) || slices.ContainsFunc(one.Addresses(family), func(address string) bool { return !isLinkLocal(address) }) {
			return false
		}
	}
	return true
}

func (u *undoing) add(tree map[string]any, gone string) {
	u.interfaces = append(u.interfaces, tree)
	if gone != "" {
		if u.gone == nil {
			u.gone = map[string]bool{}
		}
		u.gone[gone] = true
	}
}

func (u *undoing) restore(name string, families ...Family) {
	if u.restored == nil {
		u.restored = map[emptied]bool{}
	}
	for _, family := range families {
		u.restored[emptied{name, family}] = true
	}
}

// identity is what makes a document mean this interface.
func identity(one, got Interface) map[string]any {
	tree := map[string]any{"name": one.Name, "state": "up"}
	switch kind := text(one.tree["identifier"]); kind {
	case "mac-address", "pci-address":
		tree["identifier"], tree[kind] = kind, one.tree[kind]
	}
	if one.Type != "" {
		tree["type"] = one.Type
	} else if got.Type != "" {
		tree["type"] = got.Type
	}
	return tree
}

// differences are the places where the interface is not as from has it, but for addresses
// that somebody took away and put no other ones in their place.
func (u *undoing) differences(one, got Interface) []Path {
	c := &comparison{byName: u.c.byName, others: u.c.others, controllers: u.c.controllers, all: u.c.all}
	c.inter(one)
	var paths []Path
	for _, d := range c.found {
		family, leaf, is := d.Path.inFamily()
		if is && leaf == "address" && d.Got == "" && !hasOthers(one, got, family) {
			continue
		}
		paths = append(paths, d.names()...)
	}
	return paths
}

// hasOthers tells whether got has addresses of a family that one does not.
func hasOthers(one, got Interface, family Family) bool {
	addresses := func(i Interface) (found []string) {
		for _, entry := range objects(object(i.tree[string(family)])["address"]) {
			if address := normalAddress(entry); !isLeased(entry) && !isLinkLocal(address) && !isForeign(entry) {
				found = append(found, address)
			}
		}
		return found
	}
	given := addresses(one)
	return slices.ContainsFunc(addresses(got), func(has string) bool { return !slices.Contains(given, has) })
}

// routes are those to take away, then those to bring back.
func (u *undoing) routes() []any {
	var away, back []any
	known := object(u.originals["routes"])
	configured := u.current.Routes()
	kept := map[Path]bool{}
	for _, route := range u.to.state.Routes() {
		kept[routePath(route)] = true
	}
	again := func(key string) {
		for _, tree := range objects(known[key]) {
			if route := routeOf(copiedObject(tree)); u.toRestore(route, configured) {
				back = append(back, route.tree)
				configured = append(configured, route)
			}
		}
	}
	for _, route := range u.from.state.Routes() {
		path := routePath(route)
		key := path.String()
		were, owned := known[key]
		if !owned || kept[path] || !u.may(path) {
			continue
		}
		if route.Absent {
			again(key)
			continue
		}
		there := slices.ContainsFunc(configured, route.is)
		if there && len(list(were)) == 0 && !u.gone[route.NextHopInterface] && !slices.ContainsFunc(u.to.state.Routes(), route.is) {
			tree := route.Tree()
			tree["state"] = "absent"
			away = append(away, tree)
		}
	}
	for _, family := range slices.SortedFunc(maps.Keys(u.restored), emptied.compare) {
		again(family.String())
	}
	return append(away, back...)
}

// toRestore is true of a route that was there before and is missing, where to has nothing
// against it.
func (u *undoing) toRestore(route Route, configured []Route) bool {
	if slices.ContainsFunc(configured, func(r Route) bool { return !r.Absent && route.is(r) }) {
		return false
	}
	for _, other := range u.to.state.Routes() {
		if other.Absent && other.selects(route) {
			return false
		}
	}
	for family, fate := range u.to.families() {
		if fate.off && family.lost(route) {
			return false
		}
	}
	return !u.gone[route.NextHopInterface]
}

func (u *undoing) rules() []any {
	var away, back []any
	known := object(u.originals["route-rules"])
	current := u.current.RouteRules()
	kept := map[Path]bool{}
	for _, rule := range u.to.state.RouteRules() {
		kept[rulePath(rule)] = true
	}
	for _, rule := range u.from.state.RouteRules() {
		path := rulePath(rule)
		were, owned := known[path.String()]
		if !owned || kept[path] || !u.may(path) {
			continue
		}
		if rule.Absent {
			for _, tree := range objects(were) {
				was := ruleOf(copiedObject(tree))
				if !slices.ContainsFunc(current, was.selects) {
					back = append(back, was.tree)
				}
			}
			continue
		}
		if len(list(were)) == 0 && slices.ContainsFunc(current, rule.selects) {
			tree := rule.Tree()
			tree["state"] = "absent"
			away = append(away, tree)
		}
	}
	for _, family := range slices.SortedFunc(maps.Keys(u.restored), emptied.compare) {
		for _, tree := range objects(known[family.String()]) {
			was := ruleOf(copiedObject(tree))
			there := slices.ContainsFunc(slices.Concat(current, u.to.state.RouteRules()), was.selects)
			if !there {
				back, current = append(back, was.tree), append(current, was)
			}
		}
	}
	return append(away, back...)
}

// sections undoes name servers, host name and OVS settings.
func (u *undoing) sections(tree map[string]any) {
	from := State{tree: map[string]any{}}
	for _, section := range nodeSections() {
		from.tree[section] = u.from.state.tree[section]
	}
	o := &overlay{u: u, exact: true}
	for _, d := range Missing(from, u.current) {
		o.differences = append(o.differences, d.names()...)
	}
	original := u.originals
	for _, section := range nodeSections() {
		now := object(u.from.state.tree[section])
		if now == nil {
			continue
		}
		to := object(u.to.state.tree[section])
		if back := o.tree(Path{Section: section}, now, to, object(original[section]), object(u.current.tree[section])); len(back) > 0 {
			tree[section] = back
		}
	}
}
