package guard

import (
	"net/netip"
	"slices"

	"github.com/nmstate/kubernetes-nmstate/handler/state"
)

// Target is one of those that a probe asks.
type Target struct {
	// Address; a link-local one has its link as its zone.
	Address netip.Addr `json:"address"`
	// Interface and Metric of a gateway's default route.
	Interface string `json:"interface,omitempty"`
	Metric    int    `json:"metric,omitempty"`
}

// Before is what the targets of a probe answered before a change.
type Before struct {
	Answered []Target `json:"answered,omitempty"`
	// Silent ones are never held against a change.
	Silent []Target `json:"silent,omitempty"`
}

// With has answered what did so before an earlier attempt at the same change.
func (b Before) With(earlier Before) Before {
	known := Before{Answered: slices.Clone(b.Answered)}
	for _, t := range earlier.Answered {
		if !slices.Contains(known.Answered, t) {
			known.Answered = append(known.Answered, t)
		}
	}
	known.Silent = filter(b.Silent, func(t Target) bool { return !slices.Contains(known.Answered, t) })
	return known
}

// Demand is what must answer.
type Demand struct {
	// Groups of addresses, of each of which one must answer.
	Groups [][]netip.Addr
	// Lost says of each target that nothing takes the place of what was lost.
	Lost []string
}

// each demands an answer of each of the targets.
func (d *Demand) each(targets []Target) {
	for _, t := range targets {
		d.oneOf([]Target{t})
	}
}

// oneOf demands an answer of one of the targets.
func (d *Demand) oneOf(targets []Target) {
	group := Addresses(targets)
	if len(group) > 0 && !slices.ContainsFunc(d.Groups, func(g []netip.Addr) bool { return slices.Equal(g, group) }) {
		d.Groups = append(d.Groups, group)
	}
}

// Addresses of targets, each once.
func Addresses(targets []Target) []netip.Addr {
	var found []netip.Addr
	for _, t := range targets {
		if !slices.Contains(found, t.Address) {
			found = append(found, t.Address)
		}
	}
	slices.SortFunc(found, netip.Addr.Compare)
	return found
}

func filter(targets []Target, keep func(Target) bool) []Target {
	var kept []Target
	for _, t := range targets {
		if keep(t) {
			kept = append(kept, t)
		}
	}
	return kept
}

func (t Target) family() state.Family {
	if t.Address.Unmap().Is4() {
		return state.IPv4
	}
	return state.IPv6
}

func of(family state.Family, targets []Target) []Target {
	return filter(targets, func(t Target) bool { return t.family() == family })
}

// still finds a target among those that are in use now. A link-local address is
// another one on another link, unless it has left its own: a NIC that became a
// port of a bridge has its router on the bridge. What was in use before beside it
// is not it.
func (t Target) still(now, before []Target) []Target {
	if same := filter(now, func(n Target) bool { return n.Address == t.Address }); len(same) > 0 || t.Address.Zone() == "" {
		return same
	}
	return filter(now, func(n Target) bool {
		return n.Address.WithZone("") == t.Address.WithZone("") && !slices.Contains(Addresses(before), n.Address)
	})
}

// added are those in use now that were not before.
func (b Before) added(now []Target) []Target {
	before := slices.Concat(b.Answered, b.Silent)
	return filter(now, func(n Target) bool {
		return !slices.ContainsFunc(before, func(t Target) bool { return len(t.still([]Target{n}, nil)) > 0 })
	})
}

// familyName is how people write it.
func familyName(family state.Family) string {
	if family == state.IPv6 {
		return "IPv6"
	}
	return "IPv4"
}
