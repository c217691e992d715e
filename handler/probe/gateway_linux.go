package probe

import (
	"errors"
	"net"
	"net/netip"

	"github.com/vishvananda/netlink"
	"golang.org/x/sys/unix"

	"github.com/nmstate/kubernetes-nmstate/handler/dump"
	"github.com/nmstate/kubernetes-nmstate/handler/guard"
)

// defaultGateways reads the gateways of the default routes of the main table,
// those of multipath routes included.
func defaultGateways() ([]guard.Target, error) {
	var gateways []guard.Target
	for _, family := range []int{unix.AF_INET, unix.AF_INET6} {
		routes, err := mainRoutes(family)
		if err != nil {
			return nil, err
		}
		for _, route := range routes {
			if route.Type != unix.RTN_UNICAST || !isDefault(route.Dst) {
				continue
			}
			if gateway, ok := gatewayOf(route.Gw, route.Via, route.LinkIndex, route.Priority); ok {
				gateways = append(gateways, gateway)
			}
			for _, hop := range route.MultiPath {
				if gateway, ok := gatewayOf(hop.Gw, hop.Via, hop.LinkIndex, route.Priority); ok {
					gateways = append(gateways, gateway)
				}
			}
		}
	}
	return gateways, nil
}

func mainRoutes(family int) ([]netlink.Route, error) {
	main := &netlink.Route{Table: unix.RT_TABLE_MAIN}
	routes, err := dump.Whole(func() ([]netlink.Route, error) {
		return netlink.RouteListFiltered(family, main, netlink.RT_FILTER_TABLE)
	})
	if errors.Is(err, unix.EAFNOSUPPORT) || errors.Is(err, unix.EOPNOTSUPP) {
		return nil, nil // The kernel runs without this family.
	}
	return routes, err
}

func isDefault(destination *net.IPNet) bool {
	if destination == nil {
		return true
	}
	ones, _ := destination.Mask.Size()
	return ones == 0 && destination.IP.IsUnspecified()
}

// gatewayOf returns a route's gateway; a link-local one only means something
// together with its link.
func gatewayOf(gateway net.IP, via netlink.Destination, link, metric int) (guard.Target, bool) {
	if v, ok := via.(*netlink.Via); ok && v != nil {
		gateway = v.Addr
	}
	address, ok := netip.AddrFromSlice(gateway)
	if !ok {
		return guard.Target{}, false
	}
	found, err := net.InterfaceByIndex(link)
	if err != nil {
		return guard.Target{}, false // The link went away after the table was read.
	}
	address = address.Unmap()
	if address.Is6() && address.IsLinkLocalUnicast() {
		address = address.WithZone(found.Name)
	}
	return guard.Target{Address: address, Interface: found.Name, Metric: metric}, true
}
