package foreign

import (
	"net/netip"

	"github.com/nmstate/kubernetes-nmstate/handler/state"
)

// Without is a way back without the routes that somebody else made: nmstate
// reports a route that a person or a CNI made as one that is configured, and
// would write it into a profile, as NetworkManager's own.
func Without(revert state.State, before Snapshot) state.State {
	theirs, ours := map[place]bool{}, map[place]bool{}
	links := indexed(before.Links)
	for _, raw := range before.Routes {
		r, ok := raw.read()
		if !ok || !r.lasting() {
			continue
		}
		for _, h := range r.hops {
			at := place{table: r.key.table, to: r.key.to, metric: r.key.metric, device: links.name(h.device), gateway: h.gateway}
			if r.managed() {
				ours[at] = true
			} else {
				theirs[at] = true
			}
		}
	}
	var config []any
	dropped := false
	for _, route := range revert.Routes() {
		at := placeOf(route)
		if !route.Absent && theirs[at] && !ours[at] {
			dropped = true
			continue
		}
		config = append(config, route.Tree())
	}
	if !dropped {
		return revert
	}
	tree := revert.Tree()
	routes, _ := tree["routes"].(map[string]any)
	routes["config"] = config
	return state.FromTree(tree)
}

// place is where a route leads, in the words that both the kernel and nmstate
// have for it.
type place struct {
	table   int
	to      netip.Prefix
	metric  int
	device  string
	gateway netip.Addr
}

func placeOf(r state.Route) place {
	at := place{table: int(r.TableID), metric: int(r.Metric), device: r.NextHopInterface}
	at.to, _ = netip.ParsePrefix(r.Destination)
	if gateway, err := netip.ParseAddr(r.NextHopAddress); err == nil {
		at.gateway = gateway.Unmap()
	}
	return at
}
