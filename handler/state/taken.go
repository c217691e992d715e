package state

import (
	"encoding/hex"
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
	if _, below, is := path.inFamily(); is {
		key = below
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
	_, is := linkLocalIn(path)
	return is
}

// anotherCame tells of a leaf of a link-local address that the interface has another one
// instead: the kernel makes it of the MAC address, which a boot draws anew for a link that
// NetworkManager makes anew. One that somebody gives it by a protocol of his own is his.
func anotherCame(path Path, before, after map[Path]string) bool {
	address, is := linkLocalIn(path)
	if !is {
		return false
	}
	protocol := path
	protocol.Within = "protocol"
	if before[protocol] != "" {
		return false
	}
	for other := range after {
		came, is := linkLocalIn(other)
		if is && came != address && other.Subject() == path.Subject() {
			return true
		}
	}
	return false
}

// anotherLease tells of a leaf of an IPv4 address that a DHCP server leased to the MAC address
// which the interface had, where it has leased another one to the MAC address that it has now.
// A static address that is lost beside it makes them fewer.
func anotherLease(path Path, before, after State) bool {
	was, _ := before.Interface(path.Interface)
	is, _ := after.Interface(path.Interface)
	leased := was.Dynamic(IPv4) && is.Dynamic(IPv4) && len(was.Addresses(IPv4)) == len(is.Addresses(IPv4))
	return leased && was.MACAddress() != is.MACAddress() && strings.HasPrefix(path.Leaf, "ipv4.address")
}

// ofAnotherMAC tells of a leaf of a link-local address that the kernel made of a MAC address
// which the interface had no more before the change, and in whose place another one is. A
// bridge has such an address: it is made before the first port gives the bridge its MAC
// address, and each activation makes another one.
func ofAnotherMAC(path Path, before, after map[Path]string) bool {
	address, is := linkLocalIn(path)
	own := linkLocalOf(before[path.Subject().At("mac-address")])
	return is && own != "" && address != own && madeOfMAC(address) && anotherCame(path, before, after)
}

// madeOfMAC tells an address whose second half has the form of RFC 4291, appendix A.
func madeOfMAC(address string) bool {
	prefix, err := netip.ParsePrefix(address)
	if err != nil {
		return false
	}
	b := prefix.Addr().As16()
	return b[11] == 0xff && b[12] == 0xfe
}

// linkLocalOf is the link-local address that is made of a MAC address, with its length;
// none of what is no MAC address.
func linkLocalOf(mac string) string {
	m, err := hex.DecodeString(strings.ReplaceAll(mac, ":", ""))
	if err != nil || len(m) != 6 {
		return ""
	}
	return netip.PrefixFrom(netip.AddrFrom16([16]byte{0xfe, 0x80, 8: m[0] ^ 2, m[1], m[2], 0xff, 0xfe, m[3], m[4], m[5]}), 64).String()
}

// local tells a MAC address that no manufacturer gave: somebody chose or drew it.
func local(mac string) bool {
	m, err := hex.DecodeString(strings.ReplaceAll(mac, ":", ""))
	return err == nil && len(m) == 6 && m[0]&2 != 0
}

// linkLocalIn is the link-local address that a leaf of an interface belongs to.
func linkLocalIn(path Path) (string, bool) {
	family, leaf, is := path.inFamily()
	return path.Entry, is && family == IPv6 && leaf == "address" && path.Within != "" && isLinkLocal(path.Entry)
}
