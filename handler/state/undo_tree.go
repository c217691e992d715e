package state

import (
	"slices"
	"strings"
)

// overlay goes through one interface or section: what from says and to does
// not gets its original value.
type overlay struct {
	u    *undoing
	name string
	// implied: the interface is a port, so its leaves are also its controller's.
	implied bool
	// exact: a list is put back only where it still is from's, whole.
	exact bool
	// differences are the leaves that are not from's any more.
	differences []Path
}

func (o *overlay) may(path Path) bool {
	return o.u.may(path) || o.implied && o.u.mayPort(o.name)
}

// held tells whether all at and below the path still is as from has it.
func (o *overlay) held(path Path) bool {
	return !slices.ContainsFunc(o.differences, path.touches)
}

// interfaceTree is tree for an interface, nil where nothing is to be undone.
func (o *overlay) interfaceTree(path Path, from, to, original, current map[string]any) map[string]any {
	plain := make(map[string]any, len(from))
	for key, value := range from {
		if !slices.Contains(identityKeys(), key) && key != string(IPv4) && key != string(IPv6) {
			plain[key] = value
		}
	}
	back := o.tree(path, plain, to, original, current)
	for _, family := range []Family{IPv4, IPv6} {
		key := string(family)
		now, said := from[key].(map[string]any)
		value, known := original[key]
		was := object(value)
		if was == nil {
			was = map[string]any{"enabled": false} // So is that of a new interface.
		}
		if !said || !known || !o.may(path.At(key)) || !o.held(path.At(key)) {
			continue
		}
		ip := o.family(path.At(key), now, object(to[key]), was, object(current[key]))
		if len(ip) == 0 {
			continue
		}
		if back == nil {
			back = map[string]any{}
		}
		back[key] = ip
		if to[key] == nil {
			o.u.restore(o.name, family)
		}
	}
	return back
}

func (o *overlay) tree(path Path, from, to, original, current map[string]any) map[string]any {
	var back map[string]any
	put := func(key string, value any) {
		if back == nil {
			back = map[string]any{}
		}
		back[key] = value
	}
	for _, key := range sortedKeys(from) {
		leaf := path.At(key)
		wanted, inTo := to[key]
		was, known := original[key]
		switch now := from[key].(type) {
		case map[string]any:
			if _, nested := wanted.(map[string]any); inTo && !nested {
				continue
			}
			if child := o.tree(leaf, now, object(wanted), object(was), object(current[key])); len(child) > 0 {
				put(key, child)
			}
		case []any:
			if inTo || !known || !o.may(leaf) || !o.held(leaf) {
				continue
			}
			if o.exact {
				o.list(key, now, was, current[key], put)
			} else if items, changed := o.entries(leaf, now, list(was), list(current[key])); changed {
				put(key, items)
			}
		default:
			if !inTo && known && o.may(leaf) && o.held(leaf) {
				o.scalar(leaf, key, was, put)
			}
		}
	}
	return back
}

// scalar puts a value back. That there was none can be said of few keys.
func (o *overlay) scalar(path Path, key string, was any, put func(string, any)) {
	switch {
	case key == "controller" && (o.fixed(text(was)) || o.unfit(text(was))):
		put(key, "")
	case key == "mtu" && o.portsWantOther(was): // They would have it too.
	case was != nil:
		put(key, copied(was))
	case key == "controller":
		put(key, "")
	case key == string(PostActivation), key == string(PostDeactivation):
		put(key, "") // An empty text takes a script away.
	case path.Section == "ovs-db":
		put(key, nil) // Null takes a key of the database away.
	}
}

// fixed tells whether to says which ports an interface has.
func (o *overlay) fixed(controller string) bool {
	one, named := o.u.to.entry(controller)
	return named && one.SaysPorts()
}

// unfit tells whether to says of the interface what a port of a controller cannot have: an
// address, or another MTU than the bond's.
func (o *overlay) unfit(controller string) bool {
	one, named := o.u.to.entry(o.name)
	if !named {
		return false
	}
	return slices.ContainsFunc(o.u.c.byName[controller], func(by Interface) bool {
		wanted, said := one.tree["mtu"]
		otherMTU := by.Type == "bond" && said && text(wanted) != text(by.tree["mtu"])
		return otherMTU || takesIP(by.Type) && one.asksForIP()
	})
}

// portsWantOther tells whether to gives another MTU to a port of the bond.
func (o *overlay) portsWantOther(mtu any) bool {
	return slices.ContainsFunc(o.u.c.byName[o.name], func(bond Interface) bool {
		return bond.Type == "bond" && slices.ContainsFunc(bond.Ports(), func(port string) bool {
			one, named := o.u.to.entry(port)
			wanted, said := one.tree["mtu"]
			return named && said && text(wanted) != text(mtu)
		})
	})
}

// list puts a list back whose order means something, if it still is from's.
// OVN's mappings are not exact, so what was added is taken away by name.
func (o *overlay) list(key string, from []any, was, current any, put func(string, any)) {
	if key == "bridge-mappings" {
		var items []any
		for _, mapping := range objects(from) {
			if old := itemNamed(list(was), "localnet", text(mapping["localnet"])); old != nil {
				items = append(items, copied(old))
			} else {
				items = append(items, map[string]any{"localnet": mapping["localnet"], "state": "absent"})
			}
		}
		put(key, items)
		return
	}
	if slices.EqualFunc(from, list(current), Same) {
		put(key, append([]any{}, list(copied(was))...))
	}
}

// entries is the current list without what only from had, and with what from
// had displaced.
func (o *overlay) entries(path Path, from, was, current []any) ([]any, bool) {
	displaced := map[string]any{}
	for _, item := range was {
		displaced[itemKey(item)] = item
	}
	leaves := map[string]bool{}
	for _, item := range from {
		if key := itemKey(item); o.may(path.entry(key)) {
			leaves[key] = true
		}
	}
	items, changed := []any{}, false
	for _, item := range current {
		key := itemKey(item)
		old, before := displaced[key]
		switch {
		case o.taken(path.Leaf, item):
			changed = true
		case !leaves[key]:
			items = append(items, copied(item))
		case before:
			items = append(items, copied(old))
			changed = changed || encoded(old) != encoded(item)
		default:
			changed = true
		}
		delete(displaced, key)
	}
	for _, item := range was {
		if _, gone := displaced[itemKey(item)]; gone && (len(leaves) > 0 || len(from) == 0) && !o.taken(path.Leaf, item) {
			items, changed = append(items, copied(item)), true
		}
	}
	return items, changed
}

// taken tells a port that is another interface's, since to gives it to that one or
// somebody else has; or that to gives addresses of its own, which a port has not.
func (o *overlay) taken(leaf string, item any) bool {
	name := portName(item)
	isPort := slices.Contains([]string{"bridge.port", "link-aggregation.port", "vrf.port"}, leaf)
	if _, is := o.u.to.ports[name]; is && isPort {
		return true
	}
	if isPort && leaf != "vrf.port" && slices.ContainsFunc(o.u.to.interfaces, func(one Interface) bool {
		return one.Name == name && hasOwnAddresses(one)
	}) {
		return true
	}
	ours := o.u.from.ports[name].Name
	return slices.ContainsFunc(o.u.c.controllers[name], func(controller string) bool { return controller != o.name && controller != ours })
}

func hasOwnAddresses(one Interface) bool {
	return slices.ContainsFunc([]Family{IPv4, IPv6}, func(family Family) bool {
		enabled, _ := one.Enabled(family)
		return enabled
	})
}

// ipKeys decide together where a family's addresses come from.
func ipKeys() []string { return []string{"enabled", "dhcp", "autoconf", "address"} }

// family puts the IP configuration of a family back. was is all of it.
func (o *overlay) family(path Path, from, to, was, current map[string]any) map[string]any {
	if on, said := truth(to["enabled"]); said && !on {
		return nil
	}
	if to != nil {
		var addresses any
		if _, said := to["address"]; !said {
			addresses = from["address"]
		}
		rest := make(map[string]any, len(from))
		for key, value := range from {
			if key != "address" {
				rest[key] = value
			}
		}
		back := o.tree(path, rest, to, was, current)
		if items, changed := o.addresses(path, list(addresses), was, current); changed && addresses != nil {
			if back == nil {
				back = map[string]any{}
			}
			back["address"] = items
		}
		return withAutomatic(back, from, to, was, current)
	}
	if on, said := truth(was["enabled"]); said && !on {
		return map[string]any{"enabled": false}
	}
	off := false
	if on, said := truth(current["enabled"]); said && !on {
		off = true
	}
	decides := slices.ContainsFunc(ipKeys(), func(key string) bool { return from[key] != nil })
	back := map[string]any{}
	for key, value := range was {
		_, named := from[key]
		if named || off || decides && slices.Contains(ipKeys(), key) {
			back[key] = copied(value)
		}
	}
	delete(back, "address")
	if decides && !isDynamic(was) {
		back["address"], _ = o.addresses(path, list(from["address"]), was, current)
	}
	return withAutomatic(back, from, nil, was, current)
}

// withAutomatic adds what was taken of DHCP and router advertisements where a family goes
// back to them: nmstate forgets it where they are switched off, and takes everything, a
// default route included, where they are switched on or a document says again that they are.
func withAutomatic(back, from, to, was, current map[string]any) map[string]any {
	says := func(tree map[string]any, keys []string) bool {
		return slices.ContainsFunc(keys, func(key string) bool { return tree[key] != nil })
	}
	if !says(from, ipKeys()) || says(to, dynamicKeys()) || !isDynamic(was) {
		return back
	}
	for _, key := range append(automaticKeys(), "dhcp-client-id", "dhcp-duid", "addr-gen-mode") {
		all, _ := truth(current[key])
		byDefault := all || text(current[key]) == "eui64"
		forgotten := !isDynamic(current) || byDefault && !Same(was[key], current[key])
		if forgotten && was[key] != nil && back[key] == nil && to[key] == nil {
			if back == nil {
				back = map[string]any{}
			}
			back[key] = copied(was[key])
		}
	}
	return back
}

// addresses is entries for addresses, without those that come by themselves.
func (o *overlay) addresses(path Path, from []any, was, current map[string]any) ([]any, bool) {
	static := func(ip map[string]any) []any {
		var items []any
		for _, entry := range objects(desirable(copiedObject(ip))["address"]) {
			if !isLinkLocal(normalAddress(entry)) {
				items = append(items, entry)
			}
		}
		return items
	}
	leased := slices.DeleteFunc(objects(current["address"]), isLeased)
	have := make([]any, 0, len(leased))
	for _, entry := range leased {
		if !isLinkLocal(normalAddress(entry)) && !isForeign(entry) {
			entry = copiedObject(entry)
			for _, key := range append(lifetimeKeys(), "mptcp-flags") {
				delete(entry, key)
			}
			have = append(have, entry)
		}
	}
	return o.entries(path.At("address"), from, static(was), have)
}

// Union is both documents in one; where they differ, first wins.
func Union(first, second State) State {
	switch {
	case first.IsEmpty():
		return second
	case second.IsEmpty():
		return first
	}
	tree, other := first.Tree(), second.Tree()
	for _, section := range []string{"routes", "route-rules"} {
		config := slices.Concat(list(object(other[section])["config"]), list(object(tree[section])["config"]))
		delete(other, section)
		if len(config) > 0 {
			tree[section] = map[string]any{"config": config}
		}
	}
	for _, one := range second.Interfaces() {
		at := slices.IndexFunc(objects(tree["interfaces"]), func(have map[string]any) bool { return interfaceOf(have).key() == one.key() })
		if at < 0 {
			tree["interfaces"] = append(list(tree["interfaces"]), one.Tree())
			continue
		}
		if have := objects(tree["interfaces"])[at]; !strings.EqualFold(text(have["state"]), "absent") {
			fillIn(have, one.Tree())
		}
	}
	delete(other, "interfaces")
	fillIn(tree, other)
	return State{tree: tree}
}

// fillIn adds to tree what only other has.
func fillIn(tree, other map[string]any) {
	for key, value := range other {
		have, there := tree[key]
		if !there {
			tree[key] = value
			continue
		}
		if inner, nested := have.(map[string]any); nested {
			fillIn(inner, object(value))
		}
	}
}
