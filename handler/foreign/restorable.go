package foreign

import (
	"encoding/binary"
	"slices"
)

// restorable is the route as the kernel takes it back: on the devices that the
// map gives for the old ones, without what the kernel says of its own accord.
// byID keeps a nexthop object's id and leaves out what the kernel unfolded from
// it; otherwise the id is left out.
func (r Route) restorable(devices map[int]int, byID bool) Route {
	found := slices.Clone(r[:routeHeader])
	binary.NativeEndian.PutUint32(found[8:], uint32(number(r[8:])&hopOnLink))
	all := attributes(r, routeHeader)
	byID = byID && slices.ContainsFunc(all, func(a attribute) bool { return a.kind == rtaNextHopID })
	for i, one := range all {
		end := len(r)
		if i+1 < len(all) {
			end = all[i+1].start
		}
		switch one.kind {
		case rtaCacheInfo, rtaExpires:
			continue
		case rtaNextHopID:
			if !byID {
				continue
			}
		case rtaOIF, rtaGateway, rtaVia, rtaMultipath, rtaEncap, rtaEncapType:
			if byID {
				continue
			}
		}
		start := len(found)
		found = append(found, r[one.start:end]...)
		value := found[start+4 : start+4+len(one.value)]
		switch one.kind {
		case rtaOIF:
			redirect(value, devices)
		case rtaMultipath:
			eachHop(value, func(hop []byte) {
				hop[2] &= hopOnLink
				redirect(hop[4:], devices)
			})
		}
	}
	return found
}

// restorable is the address as the kernel takes it back.
func (a Address) restorable(devices map[int]int) Address {
	found := slices.Clone(a)
	redirect(found[4:], devices)
	return found
}

func redirect(value []byte, devices map[int]int) {
	if now, moved := devices[number(value)]; moved && len(value) >= 4 {
		binary.NativeEndian.PutUint32(value, uint32(now))
	}
}
