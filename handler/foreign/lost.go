package foreign

import (
	"net/netip"
	"slices"
)

// Lost is what was there before the change, is not there now, and should be:
// on links that the change does not name all of it, on links that it names
// what it leaves alone. The order is that in which things can be put back:
// links, addresses, routes on a link, routes through a gateway.
func Lost(before, now Snapshot, named Named) []Loss {
	c := compared(before, now, named)
	lost := c.links(before.Links)
	lost = append(lost, c.addresses(before.Addresses, now.Addresses)...)
	return append(lost, c.routes(before.Routes, now.Routes)...)
}

// AtStake tells whether there is anything of somebody else's on a link that
// the change names: only then is it likely that something gets lost.
func AtStake(before Snapshot, named Named) bool {
	c := compared(before, Snapshot{Links: before.Links}, named)
	lost := append(c.addresses(before.Addresses, nil), c.routes(before.Routes, nil)...)
	return slices.ContainsFunc(lost, func(l Loss) bool {
		return slices.ContainsFunc(l.on, func(name string) bool { return named.mayRemake(c.was.byName[name]) })
	})
}

type comparison struct {
	named   Named
	was, is index
	// devices are the links of before that have another number now: made anew
	// by the change, or, for routes, ports whose controller has their address.
	devices map[int]int
	moved   map[int]int
	// replaced are the routes in whose place their owners put others.
	replaced []Route
}

// compared finds out where the links of before are now.
func compared(before, now Snapshot, named Named) *comparison {
	c := &comparison{
		named: named, was: indexed(before.Links), is: indexed(now.Links), devices: map[int]int{}, moved: map[int]int{},
	}
	for _, was := range before.Links {
		is, there := c.is.byName[was.Name]
		if !there {
			continue
		}
		if is.Index != was.Index && c.named.mayRemake(was) {
			c.devices[was.Index], c.moved[was.Index] = is.Index, is.Index
		}
		if _, touched := c.named.touches(was); touched && is.Master != 0 && was.Master == 0 {
			c.moved[was.Index] = is.Master
		}
	}
	return c
}

// present is the link now, if it is the same one or was made anew by us.
func (c *comparison) present(number int) (was, is Link, ok bool) {
	was, known := c.was.byIndex[number]
	if !known {
		return was, Link{}, false
	}
	is, there := c.is.byName[was.Name]
	return was, is, there && (is.Index == was.Index || c.named.mayRemake(was))
}

// comparable tells whether things on the link can be compared: somebody else's
// unplugging takes addresses and routes with it.
func (c *comparison) comparable(number int) bool {
	was, is, ok := c.present(number)
	if !ok {
		return false
	}
	_, touched := c.named.touches(was)
	return touched || is.Carrier || !was.Carrier
}

func (c *comparison) links(before []Link) []Loss {
	var lost []Loss
	for _, was := range before {
		if c.named.mayRemake(was) {
			// nmstate and NetworkManager see to the rest, and it is read back.
			if loss := c.ipv6(was); loss != nil {
				lost = append(lost, *loss)
			}
			continue
		}
		is, there := c.is.byName[was.Name]
		if !there {
			if c.stoodOnOurs(was) {
				lost = append(lost, Loss{Link: &was, what: "the interface " + was.Name, on: []string{was.Name}, gone: true})
			}
			continue
		}
		if is.Index == was.Index {
			if want := c.changed(was, is); want != nil {
				lost = append(lost, *want)
			}
		}
	}
	return lost
}

// ipv6 is what nmstate cannot tell of a link: without an address, IPv6 that is
// on looks to it as if it were off. So it is compared once the change was taken
// back.
func (c *comparison) ipv6(was Link) *Loss {
	is, there := c.is.byName[was.Name]
	if !c.named.back || !there || is.Index != was.Index || was.IPv6Off || !is.IPv6Off {
		return nil
	}
	want := is
	want.IPv6Off = false
	return &Loss{Link: &want, what: described(want, is, c.is), on: []string{was.Name}}
}

// stoodOnOurs tells whether a link vanished with one that the change names;
// others vanish because their owners take them away.
func (c *comparison) stoodOnOurs(was Link) bool {
	parent, known := c.was.byIndex[was.Parent]
	if !known || was.Kind == kindVeth || !c.named.mayRemake(parent) {
		return false
	}
	is, there := c.is.byName[parent.Name]
	return !there || is.Index != parent.Index
}

const (
	kindBridge = "bridge"
	kindVeth   = "veth"
	kindTun    = "tuntap" // netlink's name for taps too
)

// changed compares what NetworkManager might change of a link that nobody
// named. A veth's or a tap's own attributes belong to a pod or a VM that may
// just be coming or going.
func (c *comparison) changed(was, is Link) *Loss {
	want := is
	if master, known := c.was.byIndex[was.Master]; known && is.Master != was.Master {
		now, there := c.is.byName[master.Name]
		if how, touched := c.named.touches(master); touched && how.ports {
			return nil // It was a port, and the policy lists the ports without it.
		}
		if there && (now.Index == master.Index || c.named.mayRemake(master)) && is.Master != now.Index {
			want.Master = now.Index
		}
	}
	if was.Kind != kindVeth && was.Kind != kindTun {
		want.Up = is.Up || was.Up
		want.IPv6Off = is.IPv6Off && was.IPv6Off
		if !c.followsPorts(was) {
			want.MTU = was.MTU
		}
	}
	if want == is {
		return nil
	}
	loss := Loss{Link: &want, what: described(want, is, c.is), on: []string{was.Name}}
	return &loss
}

// followsPorts tells of a bridge that the kernel gives the least MTU of its
// ports, of which the change names one.
func (c *comparison) followsPorts(was Link) bool {
	if was.Kind != kindBridge {
		return false
	}
	for _, port := range c.is.byIndex {
		if _, touched := c.named.touches(port); touched && port.Master == was.Index {
			return true
		}
	}
	for _, port := range c.was.byIndex {
		if _, touched := c.named.touches(port); touched && port.Master == was.Index {
			return true
		}
	}
	return false
}

type addressKey struct {
	device int
	local  netip.Addr
	bits   int
}

func (c *comparison) addresses(before, now []Address) []Loss {
	have := map[addressKey]bool{}
	leased := map[int]bool{}
	for _, raw := range now {
		if a, ok := raw.read(); ok {
			have[addressKey{a.device, a.local, a.peer.Bits()}] = true
			leased[a.device] = leased[a.device] || a.dynamic && !a.ipv6
		}
	}
	var lost []Loss
	for _, raw := range before {
		a, ok := raw.read()
		if !ok || !c.comparable(a.device) || a.ipv6 && (a.link || a.dynamic) {
			continue
		}
		was, is, _ := c.present(a.device)
		how, touched := c.named.touches(was)
		switch {
		case touched && (a.ipv6 && how.ipv6 || !a.ipv6 && how.ipv4):
		case have[addressKey{is.Index, a.local, a.peer.Bits()}]:
		case a.dynamic && leased[is.Index]: // Another lease.
		case c.named.back && is.Master != 0 && was.Master == 0:
			// Still a port of the trial: it first has to be taken out.
		default:
			lost = append(lost, Loss{
				Address: raw.restorable(c.devices), Managed: a.managed, noted: raw, what: spelledAddress(a, was.Name), on: []string{was.Name},
			})
		}
	}
	return lost
}
