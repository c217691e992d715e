package observe

import (
	"encoding/binary"
	"hash/fnv"
	"io"

	"golang.org/x/sys/unix"
)

const (
	// filterLimit bounds what is remembered; beyond it, it is forgotten and
	// each object triggers once more.
	filterLimit = 1 << 16
	// attributeType takes the flags off an attribute's type.
	attributeType = 0x3fff
)

// volatile is a tree of attribute types that come and go, or count, without
// anything happening that a report contains. A nil branch drops the attribute.
type volatile map[uint16]volatile

// linkVolatile are the attributes of a link: counters, wireless events, timers
// and states of a bridge's spanning tree, lifetimes of IPv6.
var linkVolatile = volatile{
	unix.IFLA_STATS: nil, unix.IFLA_STATS64: nil, unix.IFLA_WIRELESS: nil, unix.IFLA_PROTINFO: nil,
	unix.IFLA_EVENT: nil,
	unix.IFLA_LINKINFO: {
		unix.IFLA_INFO_XSTATS: nil,
	},
	unix.IFLA_AF_SPEC: {
		unix.AF_INET6: {unix.IFLA_INET6_STATS: nil, unix.IFLA_INET6_ICMP6STATS: nil, unix.IFLA_INET6_CACHEINFO: nil},
	},
}

// addressVolatile are those of an address: lifetimes, which every router
// advertisement renews.
var addressVolatile = volatile{unix.IFA_CACHEINFO: nil}

// object names a link or an address.
type object struct {
	address bool
	family  uint8
	index   uint32
	id      uint64
}

// filter tells messages that something changed from those that repeat what is
// known. It remembers a digest of each link and address, no state.
type filter struct {
	seen map[object]uint64
}

func newFilter() *filter { return &filter{seen: map[object]uint64{}} }

// matters judges one message of the routing netlink family.
func (f *filter) matters(kind uint16, data []byte) bool {
	switch kind {
	case unix.RTM_NEWLINK, unix.RTM_DELLINK:
		return f.link(kind == unix.RTM_DELLINK, data)
	case unix.RTM_NEWADDR, unix.RTM_DELADDR:
		return f.address(kind == unix.RTM_DELADDR, data)
	case unix.RTM_NEWROUTE, unix.RTM_DELROUTE:
		return routeMatters(data)
	case unix.RTM_NEWRULE, unix.RTM_DELRULE:
		return true
	}
	return false
}

func (f *filter) link(gone bool, data []byte) bool {
	if len(data) < unix.SizeofIfInfomsg {
		return true
	}
	link := object{family: data[0], index: binary.NativeEndian.Uint32(data[4:])}
	sum := fnv.New64a()
	_, _ = sum.Write(data[:12]) // Family, type, index and flags, not the mask of what changed.
	drop := linkVolatile
	if link.family == unix.AF_BRIDGE {
		drop = volatile{unix.IFLA_PROTINFO: nil} // The VLANs of a port are in IFLA_AF_SPEC.
	}
	digest(sum, data[unix.SizeofIfInfomsg:], drop)
	return f.note(link, gone, sum.Sum64())
}

func (f *filter) address(gone bool, data []byte) bool {
	if len(data) < unix.SizeofIfAddrmsg {
		return true
	}
	id := fnv.New64a()
	_, _ = id.Write(data[1:2]) // The length of the prefix.
	for kind, value := range attributes(data[unix.SizeofIfAddrmsg:]) {
		if kind == unix.IFA_ADDRESS || kind == unix.IFA_LOCAL {
			_, _ = id.Write(value)
		}
	}
	sum := fnv.New64a()
	_, _ = sum.Write(data[:unix.SizeofIfAddrmsg])
	digest(sum, data[unix.SizeofIfAddrmsg:], addressVolatile)
	address := object{address: true, family: data[0], index: binary.NativeEndian.Uint32(data[4:]), id: id.Sum64()}
	return f.note(address, gone, sum.Sum64())
}

func (f *filter) note(what object, gone bool, sum uint64) bool {
	if gone {
		delete(f.seen, what)
		return true
	}
	before, known := f.seen[what]
	if len(f.seen) >= filterLimit {
		clear(f.seen)
	}
	f.seen[what] = sum
	return !known || before != sum
}

// routeMatters leaves out what follows from addresses (the local table) and
// what the kernel caches.
func routeMatters(data []byte) bool {
	if len(data) < unix.SizeofRtMsg {
		return true
	}
	table, flags := data[4], binary.NativeEndian.Uint32(data[8:])
	return table != unix.RT_TABLE_LOCAL && flags&unix.RTM_F_CLONED == 0
}

// digest writes what is not volatile.
func digest(sum io.Writer, data []byte, drop volatile) {
	for kind, value := range attributes(data) {
		inner, found := drop[kind]
		if found && inner == nil {
			continue
		}
		var header [4]byte
		binary.NativeEndian.PutUint16(header[:], kind)
		_, _ = sum.Write(header[:])
		if found {
			digest(sum, value, inner)
			continue
		}
		binary.NativeEndian.PutUint16(header[2:], uint16(len(value)))
		_, _ = sum.Write(header[:])
		_, _ = sum.Write(value)
	}
}

// attributes walks over netlink attributes; it stops at what is malformed.
func attributes(data []byte) func(yield func(kind uint16, value []byte) bool) {
	return func(yield func(uint16, []byte) bool) {
		for len(data) >= unix.SizeofNlAttr {
			length := int(binary.NativeEndian.Uint16(data))
			kind := binary.NativeEndian.Uint16(data[2:]) & attributeType
			if length < unix.SizeofNlAttr || length > len(data) {
				return
			}
			if !yield(kind, data[unix.SizeofNlAttr:length]) {
				return
			}
			data = data[min((length+3)&^3, len(data)):]
		}
	}
}
