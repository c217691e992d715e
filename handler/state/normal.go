package state

import (
	"net/netip"
	"regexp"
	"strconv"
	"strings"
)

// normalIP is an address in its shortest form; what is none stays as it is.
func normalIP(written string) string {
	address, err := netip.ParseAddr(written)
	if err != nil {
		return written
	}
	return address.Unmap().String()
}

// normalPrefix is a prefix with the host bits cleared and the address in its
// shortest form; a bare address is a prefix of full length.
func normalPrefix(written string) string {
	if address, err := netip.ParseAddr(written); err == nil {
		return netip.PrefixFrom(address, address.BitLen()).String()
	}
	prefix, err := netip.ParsePrefix(written)
	if err != nil {
		return written
	}
	return prefix.Masked().String()
}

// normalAddress is an entry of an address list as "ip/prefix length".
func normalAddress(entry map[string]any) string {
	ip := normalIP(text(entry["ip"]))
	if length, ok := integer(entry["prefix-length"]); ok {
		return ip + "/" + strconv.FormatInt(length, 10)
	}
	return ip
}

// macAddress is one with dashes, of Ethernet or of InfiniBand.
var macAddress = regexp.MustCompile(`^[0-9A-Fa-f]{2}(-[0-9A-Fa-f]{2}){5,19}$`)

// colons is a MAC address with colons; what is none stays as it is.
func colons(written string) string {
	if macAddress.MatchString(written) {
		return strings.ReplaceAll(written, "-", ":")
	}
	return written
}

func normalMAC(written string) string {
	return strings.ToLower(strings.ReplaceAll(strings.TrimSpace(written), "-", ":"))
}
