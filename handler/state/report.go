package state

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"maps"
	"slices"
)

// lifetimeKeys are the counters of an address that expires.
func lifetimeKeys() []string {
	return []string{
		"valid-life-time", "preferred-life-time",
		"valid-left", "preferred-left", "valid-lft", "preferred-lft",
	}
}

// timerKeys are what the kernel counts down in a bridge or bond.
func timerKeys() []string {
	return []string{"hello-timer", "gc-timer", "tcn-timer", "topology-change-timer"}
}

// Report is what of a node's state its NodeNetworkState shows (rules in
// api-contract.md). Veths that nobody manages come and go with pods: they are
// left out, with their routes and as ports, unless keep names them. So are
// what only counts down: address lifetimes and link timers. Interfaces come by
// name, routes and rules in a fixed order. What it leaves as it is it shares with current:
// a node may have thousands of interfaces.
func Report(current State, keep ...string) State {
	if current.tree == nil {
		return current
	}
	tree := maps.Clone(current.tree)
	dropped := map[string]bool{}
	var kept []map[string]any
	for _, one := range objects(tree["interfaces"]) {
		name := text(one["name"])
		if isUnmanagedVeth(one) && !slices.Contains(keep, name) {
			dropped[name] = true
			continue
		}
		kept = append(kept, withoutVolatile(one))
	}
	for i, one := range kept {
		kept[i] = withoutPorts(one, dropped)
	}
	if _, said := tree["interfaces"]; said {
		tree["interfaces"] = sortedBy(kept, interfaceOrder)
	}
	reportRoutes(tree, dropped)
	return State{tree: tree}
}

// isUnmanagedVeth: nmstate reports what NetworkManager does not manage with
// the state "ignore"; a veth that is a node's NIC is managed, so it is "up".
func isUnmanagedVeth(one map[string]any) bool {
	return text(one["type"]) == "veth" && text(one["state"]) == "ignore"
}

func withoutVolatile(one map[string]any) map[string]any {
	for _, family := range []Family{IPv4, IPv6} {
		ip := object(one[string(family)])
		if addresses, counts := withoutLifetimes(list(ip["address"])); counts {
			one = with(one, string(family), with(ip, "address", addresses))
		}
	}
	for _, key := range []string{"bridge", bondKey(one)} {
		part := object(one[key])
		if options, counts := withoutKeys(object(part["options"]), timerKeys()); counts {
			one = with(one, key, with(part, "options", options))
		}
	}
	return one
}

// withoutLifetimes are the addresses without what counts down, and whether one had it.
func withoutLifetimes(addresses []any) (kept []any, counts bool) {
	for i, address := range addresses {
		steady, had := withoutKeys(object(address), lifetimeKeys())
		if !had {
			continue
		}
		if !counts {
			kept, counts = slices.Clone(addresses), true
		}
		kept[i] = steady
	}
	return kept, counts
}

// withoutKeys is the tree without some keys, and whether it had one; itself where it had not.
func withoutKeys(tree map[string]any, keys []string) (left map[string]any, had bool) {
	for _, key := range keys {
		if _, has := tree[key]; !has {
			continue
		}
		if !had {
			tree, had = maps.Clone(tree), true
		}
		delete(tree, key)
	}
	return tree, had
}

// with is the tree with another value.
func with(tree map[string]any, key string, value any) map[string]any {
	next := maps.Clone(tree)
	next[key] = value
	return next
}

// withoutPorts leaves out the ports that are not reported either, so that a pod
// that comes or goes does not change the report.
func withoutPorts(one map[string]any, dropped map[string]bool) map[string]any {
	isDropped := func(port any) bool { return bondOf(object(port)) == nil && dropped[portName(port)] }
	for _, key := range []string{"port", "ports"} {
		bridge := object(one["bridge"])
		if ports := list(bridge[key]); slices.ContainsFunc(ports, isDropped) {
			one = with(one, "bridge", with(bridge, key, slices.DeleteFunc(slices.Clone(ports), isDropped)))
		}
	}
	return one
}

// reportRoutes puts others in the place of the tree's routes and rules.
func reportRoutes(tree map[string]any, dropped map[string]bool) {
	routes := maps.Clone(object(tree["routes"]))
	if routes != nil {
		tree["routes"] = routes
	}
	for _, key := range []string{"config", "running"} {
		if _, said := routes[key]; !said {
			continue
		}
		kept := slices.DeleteFunc(objects(routes[key]), func(route map[string]any) bool {
			return dropped[text(route["next-hop-interface"])]
		})
		routes[key] = sortedBy(kept, routeOrder)
	}
	if rules := object(tree["route-rules"]); rules["config"] != nil {
		tree["route-rules"] = with(rules, "config", sortedBy(objects(rules["config"]), ruleOrder))
	}
}

func sortedBy(trees []map[string]any, order func(a, b map[string]any) int) []any {
	slices.SortStableFunc(trees, order)
	items := make([]any, len(trees))
	for i, tree := range trees {
		items[i] = tree
	}
	return items
}

func interfaceOrder(a, b map[string]any) int {
	return cmp.Or(cmp.Compare(text(a["name"]), text(b["name"])), cmp.Compare(text(a["type"]), text(b["type"])))
}

func routeOrder(a, b map[string]any) int {
	one, other := routeOf(a), routeOf(b)
	return cmp.Or(
		cmp.Compare(one.TableID, other.TableID),
		compareBool(one.IsIPv6(), other.IsIPv6()),
		cmp.Compare(one.Destination, other.Destination),
		cmp.Compare(one.NextHopInterface, other.NextHopInterface),
		cmp.Compare(one.NextHopAddress, other.NextHopAddress),
		cmp.Compare(one.Metric, other.Metric),
		cmp.Compare(text(a["source"]), text(b["source"])),
	)
}

func ruleOrder(a, b map[string]any) int {
	one, other := ruleOf(a), ruleOf(b)
	return cmp.Or(
		cmp.Compare(one.Priority, other.Priority),
		cmp.Compare(one.TableID, other.TableID),
		cmp.Compare(one.String(), other.String()),
	)
}

func compareBool(a, b bool) int {
	switch {
	case a == b:
		return 0
	case b:
		return -1
	}
	return 1
}

// SameReport tells whether two reports say the same, whatever order they say
// it in and whatever only counts down.
func SameReport(a, b State) bool { return inOrder(a).Equal(inOrder(b)) }

// ReportMark is a report's size in bytes and its hash: two reports that say the same
// have the same ones.
func ReportMark(report State) (size int64, hash string) {
	raw := inOrder(report).JSON()
	sum := sha256.Sum256(raw)
	return int64(len(raw)), hex.EncodeToString(sum[:])
}

// inOrder is the report of a state with its addresses and neighbours in a
// fixed order, and without what the kernel changes by itself.
func inOrder(s State) State {
	reported := State{tree: copiedObject(Report(s).tree)}
	for _, one := range objects(reported.tree["interfaces"]) {
		options := object(object(one["bridge"])["options"])
		if on, _ := truth(object(options["stp"])["enabled"]); on {
			// Shortened by the kernel while a topology change is spread.
			delete(options, "mac-ageing-time")
		}
		sortNeighbours(one)
		for _, family := range []Family{IPv4, IPv6} {
			ip := object(one[string(family)])
			if addresses := objects(ip["address"]); len(addresses) > 0 {
				for _, address := range addresses {
					if !isForeign(address) {
						// NetworkManager makes the kernel's own anew, as nobody's.
						delete(address, "protocol")
					}
				}
				ip["address"] = sortedBy(addresses, func(a, b map[string]any) int {
					return cmp.Compare(normalAddress(a), normalAddress(b))
				})
			}
		}
	}
	return reported
}
