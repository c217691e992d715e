package state

import (
	"cmp"
	"encoding/json"
	"net/netip"
	"slices"
	"strings"
)

const (
	// ReportLimit is the most that a report takes in a NodeNetworkState, in bytes: its
	// state, and what is said of what the state leaves out.
	ReportLimit = 512 << 10
	// These bound what is said of that, and are more than it takes as JSON: how many
	// omissions, the bytes of each and of what is said of all.
	maxOmissions    = 32
	maxOmittedNames = 512
	maxSection      = 64
	omissionSize    = 768
	aroundOmissions = 256
)

// Omission is what a report leaves out of one section of the state.
type Omission struct {
	Section string // "interfaces", "routes.running", ...: a path of the state.
	Type    string // Of interfaces; empty for others.
	Count   int
	Names   string // Of interfaces, in ranges: "br[0-599], eth7".
}

// Cut is a part of a report, and what that leaves out: told together, they take at most
// so many bytes of JSON, of which a quarter may be for the latter.
// These are kept, in this order, by name within each, and each as long as there is room:
//
//  1. interfaces that policies name,
//  2. what is the node's as a whole: host name, DNS, OVS and OVN,
//  3. default routes,
//  4. interfaces that carry them,
//  5. configured routes and rules,
//  6. interfaces with an address of their own (not link-local),
//  7. controllers, ports and base interfaces of all these,
//  8. NICs,
//  9. running routes of the interfaces that are kept.
//
// Everything else is left out, be there room or not: what is kept does not depend on
// how many others there are, as long as it fits.
func Cut(report State, limit int, named ...string) (State, []Omission) {
	const empty = `{"interfaces":[],"routes":{"config":[],"running":[]},"route-rules":{"config":[]}}`
	most := min(max(limit/4/omissionSize, 1), maxOmissions)
	c := cutter{report: report, room: limit - most*omissionSize - aroundOmissions - len(empty), kept: map[string]any{}, chosen: map[place]bool{}, names: map[string]bool{}}
	ranks := report.ranks(named)
	c.interfaces(func(name string) bool { return ranks[name] == rankNamed })
	c.nodeWide()
	c.routes("routes.config", Route.IsDefault)
	c.routes("routes.running", Route.IsDefault)
	c.interfaces(func(name string) bool { return ranks[name] == rankDefaultRoute })
	c.routes("routes.config", func(Route) bool { return true })
	c.routes("route-rules.config", func(Route) bool { return true })
	for _, rank := range []int{rankAddressed, rankConnected, rankNIC} {
		c.interfaces(func(name string) bool { return ranks[name] == rank })
	}
	c.routes("routes.running", func(r Route) bool { return c.names[r.NextHopInterface] })
	return c.result(), c.omissions(most)
}

// Ranks of interfaces in Cut; zero is for the rest.
const (
	rankNamed = iota + 1
	rankDefaultRoute
	rankAddressed
	rankConnected
	rankNIC
)

// ranks tells why an interface is kept. Several of one name are kept together: an OVS
// bridge and its port mostly have the same.
func (s State) ranks(named []string) map[string]int {
	isNamed, carries := map[string]bool{}, map[string]bool{}
	for _, name := range named {
		isNamed[name] = true
	}
	for _, route := range slices.Concat(s.Routes(), s.RunningRoutes()) {
		if route.IsDefault() {
			carries[route.NextHopInterface] = true
		}
	}
	ranks := map[string]int{}
	all := s.Interfaces()
	for _, one := range all {
		rank := 0
		switch {
		case isNamed[one.Name] || one.ProfileName != "" && isNamed[one.ProfileName]:
			rank = rankNamed
		case carries[one.Name]:
			rank = rankDefaultRoute
		case one.hasOwnAddress():
			rank = rankAddressed
		case one.Type == "ethernet" || one.Type == "infiniband":
			rank = rankNIC
		}
		if before := ranks[one.Name]; rank != 0 && (before == 0 || rank < before) {
			ranks[one.Name] = rank
		}
	}
	connect(all, ranks)
	return ranks
}

// connect gives a rank to what the ranked interfaces stand on, and to their controllers:
// not to what else stands on these.
func connect(all []Interface, ranks map[string]int) {
	below, above := map[string][]string{}, map[string][]string{}
	for _, one := range all {
		down := one.Ports()
		if base := one.BaseInterface(); base != "" {
			down = append(down, base)
		}
		below[one.Name] = append(below[one.Name], down...)
		for _, port := range one.Ports() {
			above[port] = append(above[port], one.Name)
		}
		if controller, said := one.Controller(); said && controller != "" {
			above[one.Name] = append(above[one.Name], controller)
		}
	}
	var begin []string
	for name, rank := range ranks {
		if rank < rankNIC {
			begin = append(begin, name)
		}
	}
	for _, next := range []map[string][]string{below, above} {
		seen, queue := map[string]bool{}, slices.Clone(begin)
		for len(queue) > 0 {
			name := queue[0]
			queue = queue[1:]
			for _, other := range next[name] {
				if seen[other] {
					continue
				}
				seen[other] = true
				if ranks[other] == 0 || ranks[other] == rankNIC {
					ranks[other] = rankConnected
				}
				queue = append(queue, other)
			}
		}
	}
}

// hasOwnAddress tells of an address that is not link-local: that one the kernel gives
// to everything.
func (i Interface) hasOwnAddress() bool {
	for _, family := range []Family{IPv4, IPv6} {
		for _, address := range i.Addresses(family) {
			prefix, err := netip.ParsePrefix(address)
			if err != nil || !prefix.Addr().IsLinkLocalUnicast() {
				return true
			}
		}
	}
	return false
}

// cutter keeps parts of a report as long as there is room.
type cutter struct {
	report State
	room   int
	// kept are the keys that are kept as a whole, left those that are not.
	kept map[string]any
	left []string
	// chosen are the parts of lists that are kept, names those of them that are interfaces.
	chosen map[place]bool
	names  map[string]bool
}

// place of a part in a list.
type place struct {
	section string
	index   int
}

// lists of a state, of which each part is kept or not.
func lists() []string {
	return []string{"interfaces", "routes.config", "routes.running", "route-rules.config"}
}

// in finds a list by its section.
func (s State) in(section string) []any {
	key, below, nested := strings.Cut(section, ".")
	if nested {
		return list(object(s.tree[key])[below])
	}
	return list(s.tree[key])
}

// take keeps the part of a list if there is room.
func (c *cutter) take(which place, value any) {
	if !c.chosen[which] && c.fits(value, len(",")) {
		c.chosen[which] = true
	}
}

func (c *cutter) fits(value any, more int) bool {
	raw, err := json.Marshal(value)
	if err != nil || len(raw)+more > c.room {
		return false // What is no JSON came from nowhere.
	}
	c.room -= len(raw) + more
	return true
}

func (c *cutter) interfaces(wanted func(name string) bool) {
	for index, value := range c.report.in("interfaces") {
		name, which := text(object(value)["name"]), place{"interfaces", index}
		if name != "" && wanted(name) {
			c.take(which, value)
			c.names[name] = c.names[name] || c.chosen[which]
		}
	}
}

func (c *cutter) routes(section string, wanted func(Route) bool) {
	for index, value := range c.report.in(section) {
		if tree := object(value); tree != nil && wanted(routeOf(tree)) {
			c.take(place{section, index}, value)
		}
	}
}

// nodeWide keeps everything that is no list of interfaces, routes or rules.
func (c *cutter) nodeWide() {
	for _, key := range sortedKeys(c.report.tree) {
		if slices.ContainsFunc(lists(), func(section string) bool { return section == key || strings.HasPrefix(section, key+".") }) {
			continue
		}
		if value := c.report.tree[key]; c.fits(map[string]any{key: value}, len(",")) {
			c.kept[key] = value
		} else {
			c.left = append(c.left, key)
		}
	}
}

// result is the document of what is kept. Lists that the report has it has too.
func (c *cutter) result() State {
	if c.room < 0 {
		return State{}
	}
	tree := copiedObject(c.kept)
	for _, section := range lists() {
		key, below, nested := strings.Cut(section, ".")
		if _, said := c.report.tree[key]; !said {
			continue
		}
		kept := []any{}
		for index, value := range c.report.in(section) {
			if c.chosen[place{section, index}] {
				kept = append(kept, copied(value))
			}
		}
		switch {
		case !nested:
			tree[key] = kept
		case tree[key] == nil:
			tree[key] = map[string]any{below: kept}
		default:
			object(tree[key])[below] = kept
		}
	}
	return State{tree: tree}
}

// omissions counts what is not kept: by type, and the most first where there are more
// types than there is room for.
func (c *cutter) omissions(most int) []Omission {
	counts, names := map[Omission]int{}, map[Omission][]string{}
	for _, section := range lists() {
		for index, value := range c.report.in(section) {
			if c.chosen[place{section, index}] {
				continue
			}
			kind := Omission{Section: section}
			if section == "interfaces" {
				kind.Type = plain(text(object(value)["type"]), maxSection)
				names[kind] = append(names[kind], text(object(value)["name"]))
			}
			counts[kind]++
		}
	}
	for _, key := range c.left {
		counts[Omission{Section: plain(key, maxSection)}]++
	}
	var all []Omission
	for kind, count := range counts {
		kind.Count, kind.Names = count, Ranges(names[kind], maxOmittedNames)
		all = append(all, kind)
	}
	slices.SortFunc(all, func(a, b Omission) int {
		return cmp.Or(cmp.Compare(b.Count, a.Count), cmp.Compare(a.Section, b.Section), cmp.Compare(a.Type, b.Type))
	})
	if len(all) > most {
		rest := Omission{Section: "others"}
		for _, one := range all[most-1:] {
			rest.Count += one.Count
		}
		all = append(all[:most-1], rest)
	}
	return all
}
