package state

import (
	"net/netip"
	"slices"
	"strings"
)

// family compares the IP configuration of one family.
func (c *comparison) family(path Path, family Family, want, got Interface) {
	wanted, said := want.tree[string(family)]
	if !said || object(wanted) == nil {
		return
	}
	path = path.At(string(family))
	enabled, says := want.Enabled(family)
	if says && !enabled {
		if is, _ := got.Enabled(family); is {
			c.add(path.At("enabled"), "false", "true")
		}
		return
	}
	wantedTree, gotTree := object(wanted), object(got.tree[string(family)])
	for _, key := range []string{"dhcp", "autoconf"} {
		on, says := truth(wantedTree[key])
		is, _ := truth(gotTree[key])
		if says && on != is {
			c.add(path.At(key), wordOf(on), wordOf(is))
		}
	}
	if want.Dynamic(family) {
		c.automatic(path, wantedTree, gotTree)
		return
	}
	c.addresses(path, family, want, got)
	if forwarding, says := truth(wantedTree["forwarding"]); says && gotTree["forwarding"] != nil {
		if is, _ := truth(gotTree["forwarding"]); is != forwarding {
			c.add(path.At("forwarding"), wordOf(forwarding), wordOf(is))
		}
	}
}

// automatic compares what is taken from DHCP and router advertisements. The
// addresses themselves are the server's affair.
func (c *comparison) automatic(path Path, want, got map[string]any) {
	for _, key := range automaticKeys() {
		if number, ok := integer(want[key]); ok && number <= 0 { // NetworkManager's default.
			if _, isFlag := truth(got[key]); !isFlag {
				continue
			}
		}
		if want[key] == nil || got[key] == nil || Same(want[key], got[key]) {
			continue
		}
		c.add(path.At(key), shown(want[key]), shown(got[key]))
	}
}

// automaticKeys say what is taken of DHCP and router advertisements, and how.
func automaticKeys() []string {
	return []string{
		"auto-dns", "auto-gateway", "auto-routes", "auto-route-table-id", "auto-route-metric", "dhcp-send-hostname", "dhcp-custom-hostname",
	}
}

func (c *comparison) addresses(path Path, family Family, want, got Interface) {
	have := got.Addresses(family)
	var wanted []string
	for _, entry := range objects(object(want.tree[string(family)])["address"]) {
		address := normalAddress(entry)
		// nmstate takes these for not written: they come by themselves.
		if isLeased(entry) || isLinkLocal(address) || isForeign(entry) {
			continue
		}
		wanted = append(wanted, address)
		if !slices.Contains(have, address) {
			c.add(path.At("address"), address, "")
		}
	}
	extra, says := truth(object(want.tree[string(family)])["allow-extra-address"])
	if !says || extra {
		return
	}
	for _, entry := range objects(object(got.tree[string(family)])["address"]) {
		address := normalAddress(entry)
		if !isLeased(entry) && !isLinkLocal(address) && !slices.Contains(wanted, address) {
			c.add(path.At("address"), "", address)
		}
	}
}

// isLeased tells an address that expires, so that a server gave it.
func isLeased(entry map[string]any) bool {
	for _, key := range lifetimeKeys() {
		if value, ok := entry[key]; ok && value != nil && text(value) != "forever" {
			return true
		}
	}
	return false
}

// isForeign tells an address of a protocol that nmstate leaves to its owner.
func isForeign(entry map[string]any) bool {
	switch strings.ToLower(text(entry["protocol"])) {
	case "", "0", "lo", "ra", "kernel_ll":
		return false
	}
	return true
}

// keepsAddresses tells whether an interface has addresses that NetworkManager gave it.
// The kernel gives itself some of IPv6, also where nobody configures it.
func keepsAddresses(i Interface) bool {
	for _, family := range []Family{IPv4, IPv6} {
		for _, entry := range objects(object(i.tree[string(family)])["address"]) {
			byItself := family == IPv6 && (isLeased(entry) || isLinkLocal(normalAddress(entry)))
			if !byItself && !isForeign(entry) {
				return true
			}
		}
	}
	return false
}

func isLinkLocal(address string) bool {
	prefix, err := netip.ParsePrefix(address)
	return err == nil && prefix.Addr().Is6() && prefix.Addr().IsLinkLocalUnicast()
}

func wordOf(on bool) string {
	if on {
		return "true"
	}
	return "false"
}
