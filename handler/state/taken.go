package state

import "strings"

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
	_, is := linkLocalIn(key)
	return is
}

// anotherCame tells of a leaf of a link-local address that the interface has another one
// instead: the kernel makes it of the MAC address, which a boot draws anew for a link that
// NetworkManager makes anew. One that somebody gives it by a protocol of his own is his.
func anotherCame(path Path, before, after map[Path]string) bool {
	key, is := strings.CutPrefix(path.Leaf, string(IPv6)+".")
	if path.Section != "interfaces" || !is {
		return false
	}
	address, is := linkLocalIn(key)
	if !is || before[path.Subject().below(string(IPv6)+".address["+address+"].protocol")] != "" {
		return false
	}
	for other := range after {
		key, is := strings.CutPrefix(other.Leaf, string(IPv6)+".")
		if !is || other.Subject() != path.Subject() {
			continue
		}
		if came, is := linkLocalIn(key); is && came != address {
			return true
		}
	}
	return false
}

// linkLocalIn is the link-local address that a leaf below ipv6 belongs to.
func linkLocalIn(key string) (string, bool) {
	address, _, entry := strings.Cut(strings.TrimPrefix(key, "address["), "].")
	return address, entry && address != key && isLinkLocal(address)
}
