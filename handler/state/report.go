package state

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
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
// name, routes and rules in a fixed order.
func Report(current State, keep ...string) State {
	if current.tree == nil {
		return current
	}
	tree := copiedObject(current.tree)
	dropped := map[string]bool{}
	var kept []map[string]any
	for _, one := range objects(tree["interfaces"]) {
		name := text(one["name"])
		if isUnmanagedVeth(one) && !slices.Contains(keep, name) {
			dropped[name] = true
			continue
		}
		dropVolatile(one)
		kept = append(kept, one)
	}
	for _, one := range kept {
		dropPorts(one, dropped)
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

func dropVolatile(one map[string]any) {
	for _, family := range []Family{IPv4, IPv6} {
		for _, address := range objects(object(one[string(family)])["address"]) {
			for _, key := range lifetimeKeys() {
				delete(address, key)
			}
		}
	}
	for _, options := range []map[string]any{
		object(object(one["bridge"])["options"]), object(bondOf(one)["options"]),
	} {
		for _, key := range timerKeys() {
			delete(options, key)
		}
	}
}

// dropPorts leaves out the ports that are not reported either, so that a pod
// that comes or goes does not change the report.
func dropPorts(one map[string]any, dropped map[string]bool) {
	bridge := object(one["bridge"])
	for _, key := range []string{"port", "ports"} {
		ports, ok := bridge[key].([]any)
		if !ok {
			continue
		}
		bridge[key] = slices.DeleteFunc(ports, func(port any) bool {
			return bondOf(object(port)) == nil && dropped[portName(port)]
		})
	}
}

func reportRoutes(tree map[string]any, dropped map[string]bool) {
	routes := object(tree["routes"])
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
		rules["config"] = sortedBy(objects(rules["config"]), ruleOrder)
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
	reported := Report(s)
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
