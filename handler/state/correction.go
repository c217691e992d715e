package state

import (
	"slices"
	"strings"
)

// Correction is the part of a desired state that has to be applied again so
// that the differences go: the interfaces they are about with what hangs
// together with them, the routes and rules, the other sections whole. Leaves in
// which others differ, and that shall stay as they are, are left out where
// nmstate can be told less: a single value, a route, an interface that is gone.
func Correction(desired State, differences, others []Difference) State {
	var names []string
	routes, rules, sections := map[string]bool{}, map[string]bool{}, map[string]bool{}
	for _, d := range differences {
		switch d.Path.Section {
		case "interfaces":
			names = append(names, d.Path.Interface)
		case "routes":
			for _, route := range desired.Routes() {
				if d.means(route.String(), route.Absent) {
					routes[spelt(route.tree)] = true
				}
			}
		case "route-rules":
			for _, rule := range desired.RouteRules() {
				if d.means(rule.String(), rule.Absent) {
					rules[spelt(rule.tree)] = true
				}
			}
		default:
			sections[d.Path.Section] = true
		}
	}
	tree := closure(desired, names, routes, rules)
	for section := range sections {
		tree[section] = copied(desired.tree[section])
	}
	for _, d := range others {
		leaveOut(tree, d)
	}
	for _, d := range differences {
		tellBond(tree, d)
	}
	if len(tree) == 0 {
		return State{}
	}
	return State{tree: tree}
}

// tellBond gives the MTU that a port of a bond has lost to the bond as well, where
// nobody says which one that is to have: the kernel gives a bond's to its ports.
func tellBond(tree map[string]any, d Difference) {
	if d.Path.Section != "interfaces" || d.Path.Leaf != "mtu" {
		return
	}
	name := d.Path.Interface
	interfaces := objects(tree["interfaces"])
	for _, bond := range interfaces {
		one := interfaceOf(bond)
		if _, said := bond["mtu"]; said || one.Type != "bond" || !slices.Contains(one.Ports(), name) {
			continue
		}
		for _, other := range interfaces {
			if text(other["name"]) == name && other["mtu"] != nil {
				bond["mtu"] = other["mtu"]
			}
		}
	}
}

// means tells whether the difference is about a route or rule of the document:
// the one that is missing, or any that should have taken away what is there.
func (d Difference) means(entry string, absent bool) bool {
	if d.Want == "" {
		return absent
	}
	return !absent && entry == d.Want
}

func leaveOut(tree map[string]any, d Difference) {
	section := d.Path.Section
	if section == "routes" || section == "route-rules" {
		config := object(tree[section])
		if config == nil || d.Want == "" {
			return
		}
		config["config"] = slices.DeleteFunc(list(config["config"]), func(item any) bool {
			if section == "routes" {
				return routeOf(object(item)).String() == d.Want
			}
			return ruleOf(object(item)).String() == d.Want
		})
		return
	}
	is := func(item any) bool { return pathOf(interfaceOf(object(item))) == d.Path.Subject() }
	if d.Want == wholeInterface {
		tree["interfaces"] = slices.DeleteFunc(list(tree["interfaces"]), is)
		return
	}
	at := object(tree[section])
	if section == "interfaces" {
		i := slices.IndexFunc(list(tree["interfaces"]), is)
		if i < 0 {
			return
		}
		at = object(list(tree["interfaces"])[i])
	}
	if d.Path.Entry != "" {
		return
	}
	leaveOutLeaf(at, strings.Split(d.Path.Leaf, "."))
}

// leaveOutLeaf takes a single value out, and an object that has nothing else with it: nmstate
// refuses one without the key that it must have, as lldp without enabled.
func leaveOutLeaf(at map[string]any, keys []string) {
	key := keys[0]
	inner := object(at[key])
	switch {
	case len(keys) > 1 && inner != nil:
		leaveOutLeaf(inner, keys[1:])
		if len(inner) == 0 {
			delete(at, key)
		}
	case len(keys) == 1 && list(at[key]) == nil && inner == nil:
		delete(at, key)
	}
}
