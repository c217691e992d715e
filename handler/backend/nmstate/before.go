package nmstate

import (
	"slices"

	"github.com/nmstate/kubernetes-nmstate/handler/state"
)

// before is the way back without the helper: the state in current of what
// desired names.
func before(desired, current state.State) state.State {
	touched := touchedInterfaces(desired)
	tree := map[string]any{}
	if len(touched) > 0 {
		tree["interfaces"] = interfacesBefore(touched, desired, current)
	}
	if routes := routesBefore(touched, desired, current); len(routes) > 0 {
		tree["routes"] = map[string]any{"config": routes}
	}
	was, desiredTree := current.Tree(), desired.Tree()
	for section, none := range map[string]any{
		"dns-resolver": map[string]any{},
		"route-rules":  []any{},
	} {
		if _, named := desiredTree[section]; named {
			tree[section] = map[string]any{"config": configOf(was[section], none)}
		}
	}
	if rules, named := tree["route-rules"].(map[string]any); named {
		// Rules are added to those that are there, unless these go first.
		config, _ := rules["config"].([]any)
		rules["config"] = append([]any{map[string]any{"state": "absent"}}, config...)
	}
	return state.FromTree(tree)
}

func configOf(section, none any) any {
	if tree, ok := section.(map[string]any); ok && tree["config"] != nil {
		return tree["config"]
	}
	return none
}

// touchedInterfaces are the interfaces that a state names, and their ports.
func touchedInterfaces(desired state.State) []string {
	var names []string
	for _, one := range desired.Interfaces() {
		for _, name := range append([]string{one.Name}, one.Ports()...) {
			if name != "" && !slices.Contains(names, name) {
				names = append(names, name)
			}
		}
	}
	return names
}

func interfacesBefore(touched []string, desired, current state.State) []any {
	var found []any
	for _, name := range touched {
		was, existed := current.Interface(name)
		if !existed {
			gone := map[string]any{"name": name, "state": "absent"}
			if one, ok := desired.Interface(name); ok && one.Type != "" {
				gone["type"] = one.Type
			}
			found = append(found, gone)
			continue
		}
		tree := was.Tree()
		if _, said := was.Controller(); !said {
			tree["controller"] = ""
		}
		found = append(found, tree)
	}
	return found
}

// routesBefore are the routes of the touched interfaces: those there now go,
// those from before come back.
func routesBefore(touched []string, desired, current state.State) []any {
	var found []any
	for _, name := range touched {
		if _, existed := current.Interface(name); existed {
			found = append(found, map[string]any{"state": "absent", "next-hop-interface": name})
		}
	}
	for _, route := range current.Routes() {
		if slices.Contains(touched, route.NextHopInterface) {
			found = append(found, route.Tree())
		}
	}
	return found
}
