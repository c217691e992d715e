package host

import (
	"encoding/binary"
	"errors"
	"fmt"
	"net/netip"
	"strings"

	"github.com/nmstate/kubernetes-nmstate/handler/foreign"
)

// The kernel's numbers (linux/rtnetlink.h, linux/if_addr.h).
const (
	familyIPv4, familyIPv6 = 2, 10

	addressHeader, routeHeader = 8, 12

	ifaAddress, ifaLocal, ifaFlags       = 1, 2, 8
	flagPermanent, flagNoPrefixRoute     = 0x80, 0x200
	rtaDst, rtaOIF, rtaGateway           = 1, 4, 5
	rtaPriority, rtaTable, attributeBits = 6, 15, 0x3fff
	scopeUniverse, scopeLink             = 0, 253
	typeUnicast                          = 1
)

func lower(mac string) string { return strings.ToLower(mac) }

func attribute(kind uint16, value []byte) []byte {
	packet := binary.NativeEndian.AppendUint16(nil, uint16(4+len(value)))
	packet = binary.NativeEndian.AppendUint16(packet, kind)
	packet = append(packet, value...)
	for len(packet)%4 != 0 {
		packet = append(packet, 0)
	}
	return packet
}

func word(n int) []byte { return binary.NativeEndian.AppendUint32(nil, uint32(n)) }

func family(address netip.Addr) byte {
	if address.Is4() {
		return familyIPv4
	}
	return familyIPv6
}

// writeAddress is the body of RTM_NEWADDR.
func writeAddress(index int, a Address) foreign.Address {
	ip := a.Prefix.Addr()
	message := []byte{family(ip), byte(a.Prefix.Bits()), 0, scopeUniverse}
	message = append(message, word(index)...)
	message = append(message, attribute(ifaAddress, ip.AsSlice())...)
	if ip.Is4() {
		message = append(message, attribute(ifaLocal, ip.AsSlice())...)
	}
	flags := 0
	if !a.Dynamic {
		flags |= flagPermanent
	}
	if a.Managed {
		flags |= flagNoPrefixRoute
	}
	return append(message, attribute(ifaFlags, word(flags))...)
}

func readAddress(raw foreign.Address) (index int, a Address, err error) {
	if len(raw) < addressHeader {
		return 0, a, errors.New("invalid argument")
	}
	index = int(binary.NativeEndian.Uint32(raw[4:]))
	bits, flags := int(raw[1]), 0
	err = eachAttribute(raw[addressHeader:], func(kind uint16, value []byte) error {
		switch kind {
		case ifaAddress, ifaLocal:
			ip, _ := netip.AddrFromSlice(value)
			a.Prefix = netip.PrefixFrom(ip, bits)
		case ifaFlags:
			flags = int(binary.NativeEndian.Uint32(value))
		default:
			return fmt.Errorf("the simulator has no attribute %d of an address", kind)
		}
		return nil
	})
	a.Dynamic, a.Managed = flags&flagPermanent == 0, flags&flagNoPrefixRoute != 0
	return index, a, err
}

// writeRoute is the body of RTM_NEWROUTE.
func writeRoute(index int, r Route) foreign.Route {
	scope := byte(scopeUniverse)
	if !r.Via.IsValid() && r.To.Addr().Is4() {
		scope = scopeLink
	}
	message := []byte{family(r.To.Addr()), byte(r.To.Bits()), 0, 0, byte(min(r.Table, 252)), byte(r.Protocol), scope, typeUnicast, 0, 0, 0, 0}
	if r.Table == MainTable {
		message[4] = MainTable
	}
	message = append(message, attribute(rtaTable, word(r.Table))...)
	if r.To.Bits() > 0 {
		message = append(message, attribute(rtaDst, r.To.Addr().AsSlice())...)
	}
	if r.Metric != 0 {
		message = append(message, attribute(rtaPriority, word(r.Metric))...)
	}
	if r.Via.IsValid() {
		message = append(message, attribute(rtaGateway, r.Via.AsSlice())...)
	}
	return append(message, attribute(rtaOIF, word(index))...)
}

func readRoute(raw foreign.Route) (index int, r Route, err error) {
	if len(raw) < routeHeader {
		return 0, r, errors.New("invalid argument")
	}
	to := netip.IPv4Unspecified()
	if raw[0] == familyIPv6 {
		to = netip.IPv6Unspecified()
	}
	r.Table, r.Protocol = int(raw[4]), int(raw[5])
	err = eachAttribute(raw[routeHeader:], func(kind uint16, value []byte) error {
		switch kind {
		case rtaTable:
			r.Table = int(binary.NativeEndian.Uint32(value))
		case rtaDst:
			to, _ = netip.AddrFromSlice(value)
		case rtaPriority:
			r.Metric = int(binary.NativeEndian.Uint32(value))
		case rtaGateway:
			r.Via, _ = netip.AddrFromSlice(value)
		case rtaOIF:
			index = int(binary.NativeEndian.Uint32(value))
		default:
			return fmt.Errorf("the simulator has no attribute %d of a route", kind)
		}
		return nil
	})
	r.To = netip.PrefixFrom(to, int(raw[1]))
	return index, r, err
}

func eachAttribute(raw []byte, call func(kind uint16, value []byte) error) error {
	for len(raw) >= 4 {
		length := int(binary.NativeEndian.Uint16(raw))
		if length < 4 || length > len(raw) {
			return errors.New("invalid argument")
		}
		if err := call(binary.NativeEndian.Uint16(raw[2:])&attributeBits, raw[4:length]); err != nil {
			return err
		}
		raw = raw[min((length+3)&^3, len(raw)):]
	}
	return nil
}
