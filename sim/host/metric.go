package host

import (
	"slices"

	"github.com/nmstate/kubernetes-nmstate/handler/profiles"
)

// number gives a link the metric of its routes, and takes it from one that has none of
// NetworkManager's addresses. A link keeps its number as long as it is active. A new one comes
// after all that aspired to the same number, the one that had it before included: so one
// that was activated anew comes last.
func (e *edit) number(l *Link, p *profile) *Link {
	wants := p.up() && (p.enabled("ipv4") || p.enabled("ipv6")) && !p.userspace()
	if wants && l.number != 0 {
		return l
	}
	aspired, number := 0, 0
	if wants {
		aspired = metricOf(p.kind)
		number = e.free(aspired)
	}
	return e.change(l, func(l *Link) { l.aspired, l.number = aspired, number })
}

// free is the first number from one on that no link has, or kept another one from.
func (e *edit) free(number int) int {
	for again := true; again; {
		again = false
		for _, other := range e.links {
			if other.number != 0 && other.aspired <= number && number <= other.number {
				number, again = other.number+1, true
			}
		}
	}
	return number
}

// forgetAspired is a start of NetworkManager: it knows the numbers of links, and not what
// they might have been.
func (h *Host) forgetAspired() {
	e := h.kernel.edit()
	for _, l := range slices.Clone(e.links) {
		if l.aspired != l.number {
			e.change(l, func(l *Link) { l.aspired = l.number })
		}
	}
	h.put(e)
}

// metric of the link's routes of a family.
func (l *Link) metric(ipv6 bool) int {
	switch {
	case l.given[index(ipv6)] != 0:
		return l.given[index(ipv6)]
	case l.number != 0:
		return l.number
	}
	return metricOf(l.Type)
}

func index(ipv6 bool) int {
	if ipv6 {
		return 1
	}
	return 0
}

// setMetric has the link's routes have another metric, until it is activated anew.
func (h *Host) setMetric(action profiles.Action) error {
	l := h.kernel.named(action.Device)
	if l == nil || h.activations[keyOf(l.Name, l.Type)] == nil {
		return gone("device %s", action.Device)
	}
	a := h.activations[keyOf(l.Name, l.Type)]
	e := h.kernel.edit()
	e.change(l, func(l *Link) { l.given[index(action.IPv6)] = action.Metric })
	h.address(e, a)
	h.put(e)
	return nil
}
