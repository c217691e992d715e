package state

import (
	"fmt"
	"slices"
	"strings"
)

// Diff is everything in which two reported states of a node differ: Want is
// the value before, Got the one after. What NetworkManager does not manage
// (pods' interfaces) and what only counts down is left out. Of routes that
// nobody configured the metric is left out too: it is chosen anew whenever a
// device comes up. So is what a profile that says nothing adds to a NIC.
func Diff(before, after State) []Difference {
	if before.Equal(after) {
		return nil
	}
	one, other := leaves(inOrder(before)), leaves(inOrder(after))
	var paths []Path
	for path, want := range one {
		if got, has := other[path]; !has || got != want {
			paths = append(paths, path)
		}
	}
	for path, got := range other {
		if _, both := one[path]; !both && !takenOver(path, got) {
			paths = append(paths, path)
		}
	}
	slices.SortFunc(paths, func(a, b Path) int { return strings.Compare(a.String(), b.String()) })
	var found []Difference
	gone := map[Path]bool{}
	for _, path := range paths {
		want, got := one[path], other[path]
		if path.Leaf != "" && gone[path.Subject()] {
			continue // Said already: the whole interface came or went.
		}
		if want == wholeInterface || got == wholeInterface {
			gone[path] = true
		}
		found = append(found, Difference{Path: path, Want: maskedText(path.Rest(), want), Got: maskedText(path.Rest(), got)})
	}
	return found
}

// DiffAfterBoot is Diff where the node has booted since before: the kernel draws the MAC address
// of a link that it makes anew, and its link-local address follows from that. A port has the
// MAC address of its bond.
func DiffAfterBoot(before, after State) []Difference {
	drawn := map[Path]bool{}
	for _, one := range after.Interfaces() {
		controller, _ := one.Controller()
		drawn[pathOf(one).At("mac-address")] = controller != "" || text(one.tree["permanent-mac-address"]) == ""
	}
	was, is := leaves(inOrder(before)), leaves(inOrder(after))
	return slices.DeleteFunc(Diff(before, after), func(d Difference) bool { return drawn[d.Path] || anotherCame(d.Path, was, is) })
}

// DiffAfterRollback is Diff without what no rollback can bring back, and nobody misses: a
// link-local address of a MAC address that the interface had no more, where another one came;
// and the MAC address that Open vSwitch draws for an internal port, which each activation of
// its profile makes anew, with the link-local address and the lease that follow. One that a
// profile gives comes back with it. And metrics that a device was given for the moment, so
// that its routes come before those of others again.
func DiffAfterRollback(before, after State) []Difference {
	after = withMetricsOf(before, after)
	was, is := leaves(inOrder(before)), leaves(inOrder(after))
	drawn := map[Path]bool{}
	for _, one := range after.Interfaces() {
		path := pathOf(one)
		drawn[path] = one.Type == "ovs-interface" && local(was[path.At("mac-address")]) && local(is[path.At("mac-address")])
	}
	return slices.DeleteFunc(Diff(before, after), func(d Difference) bool {
		if on := d.Path.Subject(); drawn[on] {
			return d.Path == on.At("mac-address") || anotherCame(d.Path, was, is) || anotherLease(d.Path, before, after)
		}
		return ofAnotherMAC(d.Path, was, is)
	})
}

// wholeInterface stands for an interface's being there at all.
const wholeInterface = "the interface"

// wholeEntry stands for an entry of a list.
const wholeEntry = "the entry"

// leaves are the values of a state by their paths. List entries go by their
// natural key, so that order does not matter where it has no meaning.
func leaves(s State) map[Path]string {
	found := collected{}
	for _, one := range s.Interfaces() {
		if one.State == "ignore" {
			continue
		}
		path := pathOf(one)
		found[path] = wholeInterface
		for key, value := range one.tree {
			if key != "name" {
				found.add(path.At(key), value)
			}
		}
	}
	routeLeaves(found, s)
	for key, value := range s.tree {
		if key != "interfaces" && key != "routes" {
			found.add(Path{Section: key}, value)
		}
	}
	return found
}

func routeLeaves(found collected, s State) {
	ignored, interfaces := map[string]bool{}, map[string]Interface{}
	for _, one := range s.Interfaces() {
		ignored[one.Name] = one.State == "ignore"
		interfaces[one.Name] = one
	}
	for _, route := range s.Routes() {
		switch {
		case ignored[route.NextHopInterface]:
		case automaticMetric(interfaces[route.NextHopInterface], route):
			about := route.Metric / metricSpan * metricSpan
			route.HasMetric = false
			found[routeLeaf(route, "config", fmt.Sprintf("%s metric about %d", route, about))] = route.String()
		default:
			found[routeLeaf(route, "config", route.String())] = route.String() + route.details()
		}
	}
	for _, route := range s.RunningRoutes() {
		if !ignored[route.NextHopInterface] {
			route.HasMetric = false
			found[routeLeaf(route, "running", route.String())] = route.String()
		}
	}
}

// metricSpan is how far NetworkManager's own metrics of devices of one type lie
// apart from those of the next type: 100 and up for ethernet, 300 for bonds,
// 400 for VLANs, and so on.
const metricSpan = 50

// automaticMetric tells whether NetworkManager may have chosen the metric. It
// does so anew whenever a device comes up (100 becomes 102 when others took
// 100 and 101 meanwhile), and the profile says nothing about it.
func automaticMetric(one Interface, route Route) bool {
	family := IPv4
	if route.IsIPv6() {
		family = IPv6
	}
	return route.HasMetric && route.Metric >= metricSpan && choosesMetric(one.tree, family, "auto-route-metric")
}

func routeLeaf(route Route, leaf, entry string) Path {
	return Path{Section: "routes", Interface: route.NextHopInterface, Leaf: leaf, Entry: entry}
}

// collected are leaves by their paths.
type collected map[Path]string

func (c collected) add(path Path, value any) {
	switch value := value.(type) {
	case nil:
	case map[string]any:
		for key, item := range value {
			if key != "neighbors" { // They announce themselves again in their own time.
				c.add(path.At(key), item)
			}
		}
	case []any:
		for _, item := range value {
			if naturalKey(object(item)) != "" {
				c.add(path.entry(itemKey(item)), item)
				continue
			}
			c.addItem(path, item)
		}
	default:
		c[path] = normalText(text(value))
	}
}

// addItem adds an entry of a list without keys: the order of name servers
// means something, so it stays.
func (c collected) addItem(path Path, item any) {
	if before := c[path]; before != "" {
		c[path] = before + ", " + normalText(shown(item))
		return
	}
	c[path] = normalText(shown(item))
}
