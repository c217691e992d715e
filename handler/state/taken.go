package state

import (
	"net/netip"
	"strings"
)

// takenOver tells of a leaf that was not there before and only says that
// NetworkManager has a profile now for a NIC that it had just observed: after a
// rollback it keeps such a NIC, with what a profile that says nothing means.
// A link-local address is such a thing too: the kernel, or NetworkManager,
// gives one to each NIC that has IPv6.
func takenOver(path Path, got string) bool {
	if path.Section != "interfaces" || path.Leaf == "" {
		return false
	}
	key := path.Leaf
	family, rest, _ := strings.Cut(key, ".")
	if family == string(IPv4) || family == string(IPv6) {
		key = rest
	}
	switch key {
	case "identifier":
		return got == "mac-address" || got == "name"
	case "dhcp", "autoconf", "lldp.enabled":
		return got == "false"
	case "auto-route-metric", "prefix-route-metric":
		return got == "-1"
	case "wait-ip":
		return got == "any"
	case "addr-gen-mode":
		return true
	}
	address, _, entry := strings.Cut(strings.TrimPrefix(key, "address["), "].")
	if !entry || address == key {
		return false
	}
	prefix, err := netip.ParsePrefix(address)
	return err == nil && prefix.Addr().Is6() && prefix.Addr().IsLinkLocalUnicast()
}
