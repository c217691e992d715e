// Package observe notices that the node's network may have changed, and that
// NetworkManager went or came.
//
// It owns the subscriptions: netlink (links, addresses, routes, rules) and the
// system bus (NetworkManager's name, DNS, host name, profiles, neighbours told
// by LLDP). An event only triggers: it carries no state, because the state is
// always read again by whoever acts on it.
//
// It never reads the network's state, never changes it, and decides nothing.
// What no report contains (statistics, timers, lifetimes, wireless, neighbour
// entries) triggers nothing.
//
//	kernel ── netlink ──┐              at most one per 200 ms,
//	                    ├─► pacer ───► the last one never lost ──► Network
//	NetworkManager ─────┤                                 slow poll ──┘
//	  properties        │
//	  name's owner ─────┴────────────► at once, each one ──► NetworkManager…
//
// A subscription that fails is made again, and counts as a change, because
// what happened meanwhile is not known.
package observe
