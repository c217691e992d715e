package host

import (
	"slices"

	"github.com/nmstate/kubernetes-nmstate/handler/state"
)

// wayBack is the state that undoes desired on current: of what desired names
// and what follows from it, all as it was.
func wayBack(desired, current state.State) state.State {
	touched := touchedBy(desired, current)
	t := tree{}
	if len(touched) > 0 {
		t["interfaces"] = interfacesBefore(touched, desired, current)
		t["routes"] = tree{"config": routesBefore(touched, desired, current)}
	}
	was, said := current.Tree(), desired.Tree()
	if said["dns-resolver"] != nil {
		t["dns-resolver"] = tree{"config": object(was["dns-resolver"])["config"]}
	}
	if said["hostname"] != nil {
		t["hostname"] = was["hostname"]
	}
	if said["route-rules"] != nil {
		config := []any{tree{"state": "absent"}}
		t["route-rules"] = tree{"config": append(config, list(object(was["route-rules"])["config"])...)}
	}
	for _, section := range []string{"ovs-db", "ovn"} {
		if said[section] != nil {
			t[section] = undone(section, object(said[section]), object(was[section]))
		}
	}
	return state.CompleteRevert(state.FromTree(t), current)
}

// undone takes away what is added and gives back what was there.
func undone(section string, said, was tree) tree {
	if section == "ovn" {
		var mappings []any
		for _, m := range objects(said["bridge-mappings"]) {
			mappings = append(mappings, tree{"localnet": m["localnet"], "state": "absent"})
		}
		return tree{"bridge-mappings": append(mappings, list(was["bridge-mappings"])...)}
	}
	back := tree{}
	for _, part := range []string{"external_ids", "other_config"} {
		keys := tree{}
		for key := range object(said[part]) {
			keys[key] = object(was[part])[key]
		}
		if len(keys) > 0 {
			back[part] = keys
		}
	}
	return back
}

type touch struct{ name, kind string }

// touchedBy are the interfaces that the change names, with its ports, those
// that were its ports, and those of its routes.
func touchedBy(desired, current state.State) []touch {
	var found []touch
	add := func(name, kind string) {
		one := touch{name, kind}
		if name != "" && !slices.Contains(found, one) {
			found = append(found, one)
		}
	}
	for _, one := range desired.Interfaces() {
		was, there := currentOf(current, one.Name, one.Type)
		kind := one.Type
		if there {
			kind = was.Type
		}
		add(one.Name, kind)
		for _, port := range append(one.Ports(), was.Ports()...) {
			if had, there := currentOf(current, port, ""); there {
				add(port, had.Type)
			} else if _, said := desired.Interface(port); !said {
				add(port, "ovs-interface")
			}
		}
	}
	for _, route := range desired.Routes() {
		if had, there := currentOf(current, route.NextHopInterface, ""); there {
			add(route.NextHopInterface, had.Type)
		}
	}
	return found
}

func currentOf(current state.State, name, kind string) (state.Interface, bool) {
	for _, one := range current.Interfaces() {
		if one.Name == name && (one.Type == "ovs-bridge") == (kind == "ovs-bridge") {
			return one, true
		}
	}
	return state.Interface{}, false
}

func interfacesBefore(touched []touch, desired, current state.State) []any {
	var found []any
	for _, one := range touched {
		was, existed := currentOf(current, one.name, one.kind)
		if !existed {
			found = append(found, tree{"name": one.name, "type": one.kind, "state": "absent"})
			continue
		}
		if was.State == "ignore" {
			continue
		}
		t := without(was.Tree(), "min-mtu", "max-mtu", "permanent-mac-address")
		if _, said := was.Controller(); !said {
			t["controller"] = ""
		}
		found = append(found, t)
	}
	return found
}

// routesBefore: those of the touched interfaces go, those from before come back.
func routesBefore(touched []touch, desired, current state.State) []any {
	found := []any{}
	for _, one := range touched {
		if _, existed := currentOf(current, one.name, ""); existed {
			found = append(found, tree{"state": "absent", "next-hop-interface": one.name})
		}
	}
	for _, route := range current.Routes() {
		if slices.ContainsFunc(touched, func(t touch) bool { return t.name == route.NextHopInterface }) {
			found = append(found, route.Tree())
		}
	}
	return found
}
