package probe

import (
	"fmt"
	"net"
	"net/netip"
	"strconv"
)

// onLink replaces the link's name in a link-local address by its present
// index. Package net would look the name up in a cache that is up to a minute
// old, and so send to a link that was there before a change.
func onLink(address netip.Addr) (netip.Addr, error) {
	if address.Zone() == "" {
		return address, nil
	}
	link, err := net.InterfaceByName(address.Zone())
	if err != nil {
		return netip.Addr{}, fmt.Errorf("link %s: %w", address.Zone(), readable(err))
	}
	return address.WithZone(strconv.Itoa(link.Index)), nil
}
