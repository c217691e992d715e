package host

import (
	"fmt"
	"net/netip"
	"slices"
)

// NameServers are those that the host asks, in their order: the global ones
// hide those of profiles and leases.
func (h *Host) NameServers() []string {
	if h.settings.dns != nil {
		if global := texts(h.settings.dns["server"]); len(global) > 0 {
			return global
		}
	}
	return h.resolving(func(p *profile) []string { return p.dns }, func(l *Lease) []string { return l.Servers })
}

// SearchDomains of the host's resolver. A global configuration that has name servers hides
// those of profiles and leases, whether it has some itself or not.
func (h *Host) SearchDomains() []string {
	if h.settings.dns != nil {
		global := texts(h.settings.dns["search"])
		if len(global) > 0 || len(texts(h.settings.dns["server"])) > 0 {
			return global
		}
	}
	return h.resolving(func(p *profile) []string { return p.search }, func(l *Lease) []string { return l.Search })
}

// resolving collects from the active profiles and their leases.
func (h *Host) resolving(ofProfile func(*profile) []string, ofLease func(*Lease) []string) []string {
	var found []string
	for _, key := range sortedKeys(h.activations) {
		a := h.activations[key]
		if a.idle {
			continue
		}
		all := slices.Clone(ofProfile(a.profile))
		for _, family := range []string{"ipv4", "ipv6"} {
			if lease, ok := a.leases[family]; ok && a.profile.takes(family, "auto-dns") {
				all = append(all, ofLease(lease)...)
			}
		}
		for _, one := range all {
			if !slices.Contains(found, one) {
				found = append(found, one)
			}
		}
	}
	return found
}

// resolverConfig is what is configured, globally or in profiles.
func (h *Host) resolverConfig() tree {
	if h.settings.dns != nil {
		return resolver(texts(h.settings.dns["server"]), texts(h.settings.dns["search"]), texts(h.settings.dns["options"]))
	}
	var servers, search []string
	for _, p := range h.settings.profiles {
		servers, search = append(servers, p.dns...), append(search, p.search...)
	}
	return resolver(servers, search, nil)
}

func resolver(servers, search, options []string) tree {
	t := tree{"server": anys(servers), "search": anys(search)}
	if len(options) > 0 {
		t["options"] = anys(options)
	}
	return t
}

func anys(items []string) []any {
	found := []any{}
	for _, item := range items {
		found = append(found, item)
	}
	return found
}

// refusedServers is why NetworkManager does not take a profile. nmstate leaves name
// servers in it, also where the state names the same or others, unless the state has
// none at all; and a family that is disabled may have none (seen on the lab, with 1.52).
// A port has neither.
func (h *Host) refusedServers(d *plan) error {
	for _, p := range d.activate {
		if p.controller() != "" {
			continue
		}
		for _, server := range p.dns {
			a, err := netip.ParseAddr(server)
			if err == nil && !p.enabled(familyOf(a)) {
				return fmt.Errorf("InvalidArgument: Connection(InvalidProperty):%s.dns: this property is not allowed for 'method=disabled'", familyOf(a))
			}
		}
	}
	return nil
}
