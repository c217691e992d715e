package host

import (
	"net/netip"
	"time"
)

// DHCPServer is whoever answers for the network: DHCP for ipv4, router
// advertisements for ipv6.
type DHCPServer interface {
	// Lease is what the host's link gets for the family ("ipv4", "ipv6") if it
	// asks now, and how long that takes; false: nobody answers. Then the link
	// asks again later, when its carrier comes back, and at Host.AskDHCP.
	Lease(h *Host, link, family string) (Lease, time.Duration, bool)
}

// Lease is what a link gets.
type Lease struct {
	Address netip.Prefix
	// Gateway of a default route; not valid for none.
	Gateway netip.Addr
	// Servers and Search domains.
	Servers, Search []string
	// For is how long it holds; zero for ever. It is asked for anew after half of it.
	For time.Duration
}

// askFirst and askAgain are how long a client waits after its first question that
// nobody answers, which doubles, and at most (RFC 2131, 4.1). nmstate tells
// NetworkManager to go on for ever.
const askFirst, askAgain = 4 * time.Second, 64 * time.Second

// askOnce is how long it waits for an answer to its first questions.
const askOnce = 16 * time.Second

// AskDHCP has every link ask that wants a lease and has none: for a network in
// which a server has come back.
func (h *Host) AskDHCP() {
	for _, key := range sortedKeys(h.activations) {
		h.ask(h.activations[key])
	}
}

// ForgetLease has the link lose its lease and ask anew: a server that took it back.
func (h *Host) ForgetLease(link string) {
	if a := h.activations[link]; a != nil && len(a.leases) > 0 {
		clear(a.leases)
		h.readdress(a)
		h.ask(a)
	}
}

// readdress gives the link what its activation says now.
func (h *Host) readdress(a *activation) {
	e := h.kernel.edit()
	h.address(e, a)
	h.put(e)
}

// current tells whether the activation still is one.
func (h *Host) current(a *activation) bool { return h.activations[a.profile.key()] == a }

func (h *Host) ask(a *activation) {
	for _, family := range []string{"ipv4", "ipv6"} {
		if a.leases[family] == nil && h.wants(a, family) {
			h.discover(a, family)
		}
	}
}

// wants tells whether a link can ask for the family, and is not doing so.
func (h *Host) wants(a *activation, family string) bool {
	p := a.profile
	return h.DHCP != nil && h.current(a) && !a.asking[family] && !a.idle && p.up() && p.dynamic(family) && h.nm.running && h.Carrier(p.name)
}

func (h *Host) discover(a *activation, family string) {
	lease, after, ok := h.DHCP.Lease(h, a.profile.name, family)
	if !ok {
		if !a.waiting {
			a.waiting = true
			a.patience = min(max(2*a.patience, askFirst), askAgain)
			h.world.After(a.patience, func() { a.waiting = false; h.ask(a) })
		}
		return
	}
	a.asking[family] = true
	h.await(a, family, lease, after)
}

// await waits for an answer that comes after a time. A client that waits for long
// asks once more meanwhile: a server that is quick again answers that first.
func (h *Host) await(a *activation, family string, lease Lease, after time.Duration) {
	h.world.After(min(after, askOnce), func() {
		asks := h.current(a) && !a.idle && h.Carrier(a.profile.name)
		if left := after - askOnce; left > 0 {
			if asks {
				if other, sooner, ok := h.DHCP.Lease(h, a.profile.name, family); ok && sooner < left {
					lease, left = other, sooner
				}
			}
			h.await(a, family, lease, left)
			return
		}
		a.asking[family] = false
		if asks {
			h.granted(a, family, &lease)
		}
	})
}

// granted takes a lease.
func (h *Host) granted(a *activation, family string, lease *Lease) {
	had := a.leases[family]
	a.leases[family] = lease
	if had == nil || had.Address != lease.Address || had.Gateway != lease.Gateway {
		h.readdress(a)
	}
	h.lasts(a, family, lease)
}

// lasts sees to a lease's renewal and end.
func (h *Host) lasts(a *activation, family string, lease *Lease) {
	if lease.For == 0 {
		return
	}
	h.world.After(lease.For/2, func() {
		if a.leases[family] == lease && h.wants(a, family) {
			h.discover(a, family)
		}
	})
	h.world.After(lease.For, func() {
		if h.current(a) && a.leases[family] == lease {
			delete(a.leases, family)
			h.readdress(a)
			h.ask(a)
		}
	})
}

// addLeased adds the routes of a lease.
func (h *Host) addLeased(e *edit, p *profile, family string, lease *Lease) {
	if !lease.Gateway.IsValid() || !p.takes(family, "auto-gateway") || !p.takes(family, "auto-routes") {
		return
	}
	r := Route{To: defaultOf(lease.Gateway), Via: lease.Gateway, Dev: p.name, Table: MainTable, Metric: metricOf(p.kind), Protocol: DHCP}
	if l := e.link(p.name, false); l != nil {
		r.Metric = l.metric(family == "ipv6")
	}
	if family == "ipv6" {
		r.Protocol = RA
	}
	if metric, ok := integer(p.family(family)["auto-route-metric"]); ok && metric >= 0 {
		r.Metric = metric
	}
	if table, ok := integer(p.family(family)["auto-route-table-id"]); ok && table > 0 {
		r.Table = table
	}
	e.addRoute(r)
}
