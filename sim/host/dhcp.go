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
	// asks again when its carrier comes back, or at Host.AskDHCP.
	Lease(h *Host, link, family string) (Lease, time.Duration, bool)
}

// Lease is what a link gets. It does not run out.
type Lease struct {
	Address netip.Prefix
	// Gateway of a default route; not valid for none.
	Gateway netip.Addr
	// Servers and Search domains.
	Servers, Search []string
}

// AskDHCP has every link ask that wants a lease and has none: for a network in
// which a server has come back.
func (h *Host) AskDHCP() {
	for _, key := range sortedKeys(h.activations) {
		h.ask(h.activations[key])
	}
}

// ForgetLease has the link lose its lease and ask anew: a server that took it back.
func (h *Host) ForgetLease(link string) {
	a := h.activations[link]
	if a == nil || len(a.leases) == 0 {
		return
	}
	clear(a.leases)
	e := h.kernel.edit()
	h.address(e, a)
	h.put(e)
	h.ask(a)
}

func (h *Host) ask(a *activation) {
	for _, family := range []string{"ipv4", "ipv6"} {
		h.askFor(a, family)
	}
}

func (h *Host) askFor(a *activation, family string) {
	p := a.profile
	_, has := a.leases[family]
	if has || a.asking[family] || a.idle || h.DHCP == nil || !p.up() || !p.dynamic(family) || !h.Carrier(p.name) {
		return
	}
	lease, after, ok := h.DHCP.Lease(h, p.name, family)
	if !ok {
		return
	}
	a.asking[family] = true
	h.world.After(after, func() {
		a.asking[family] = false
		if h.activations[p.key()] != a || a.idle || !h.Carrier(p.name) {
			return
		}
		a.leases[family] = lease
		e := h.kernel.edit()
		h.address(e, a)
		h.put(e)
	})
}

// addLeased adds the routes of a lease.
func (h *Host) addLeased(e *edit, p *profile, family string, lease Lease) {
	if !lease.Gateway.IsValid() || !p.takes(family, "auto-gateway") || !p.takes(family, "auto-routes") {
		return
	}
	r := Route{To: defaultOf(lease.Gateway), Via: lease.Gateway, Dev: p.name, Table: MainTable, Metric: metricOf(p.kind), Protocol: DHCP}
	if family == "ipv6" {
		r.Protocol = RA
	}
	if metric, ok := whole(p.family(family)["auto-route-metric"]); ok && metric >= 0 {
		r.Metric = metric
	}
	if table, ok := whole(p.family(family)["auto-route-table-id"]); ok && table > 0 {
		r.Table = table
	}
	e.addRoute(r)
}
