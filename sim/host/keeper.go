package host

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/nmstate/kubernetes-nmstate/handler/foreign"
	"github.com/nmstate/kubernetes-nmstate/sim/world"
)

// Keeper is the port handler/foreign.Keeper of a process.
func (h *Host) Keeper(p *world.Process) foreign.Keeper { return keeperPort{h, p} }

type keeperPort struct {
	host    *Host
	process *world.Process
}

// Snapshot is what a keeper notes now, for oracles.
func (h *Host) Snapshot() foreign.Snapshot { return h.noted.get(h.revision, h.kernel.snapshot) }

// Note implements foreign.Keeper.
func (k keeperPort) Note(ctx context.Context) (noted foreign.Snapshot, err error) {
	err = k.process.Call(ctx, "foreign", "note", k.host.Name, func() error {
		noted = k.host.Snapshot()
		return nil
	})
	return noted, err
}

// PutBack implements foreign.Keeper.
func (k keeperPort) PutBack(ctx context.Context, loss foreign.Loss) error {
	return k.process.Call(ctx, "foreign", "put back", loss.String(), func() error {
		if fault := k.host.Faults.PutBack; fault != nil {
			if err := fault(); err != nil {
				return err
			}
		}
		e := k.host.kernel.edit()
		if err := e.putBack(loss); err != nil {
			return err
		}
		k.host.put(e)
		return nil
	})
}

func (e *edit) putBack(loss foreign.Loss) error {
	switch {
	case loss.Link != nil:
		return e.putBackLink(*loss.Link)
	case loss.Address != nil:
		index, address, err := readAddress(loss.Address)
		if err != nil {
			return err
		}
		l := e.byIndex(index)
		if l == nil {
			return errors.New("no such device")
		}
		if !l.has(address.Prefix) {
			e.change(l, func(l *Link) { l.Addresses = append(slices.Clone(l.Addresses), address) })
		}
		return nil
	case loss.Route != nil:
		index, route, err := readRoute(loss.Route)
		if err != nil {
			return err
		}
		l := e.byIndex(index)
		if l == nil {
			return errors.New("no such device")
		}
		route.Dev = l.Name
		return e.take(route)
	}
	return nil
}

// take adds a route as the kernel does: the link has to be up, and the
// gateway on it.
func (e *edit) take(r Route) error {
	l := e.link(r.Dev, false)
	if l == nil {
		return errors.New("no such device")
	}
	if !l.Up {
		return errors.New("network is down")
	}
	onLink := slices.ContainsFunc(l.Addresses, func(a Address) bool { return a.Prefix.Masked().Contains(r.Via) })
	if r.Via.IsValid() && !onLink && !slices.ContainsFunc(e.routes, func(o Route) bool {
		return o.Dev == r.Dev && !o.Via.IsValid() && o.To.Contains(r.Via)
	}) {
		return errors.New("network is unreachable")
	}
	if !slices.ContainsFunc(e.connected(), r.is) { // Its address has brought it already.
		e.addRoute(r)
	}
	return nil
}

func (k *kernel) byIndex(index int) *Link {
	for _, l := range k.links {
		if l.Index == index && !l.userspace() {
			return l
		}
	}
	return nil
}

func (e *edit) putBackLink(want foreign.Link) error {
	l := e.byIndex(want.Index)
	if l == nil {
		return fmt.Errorf("interface %s is gone; it is its owner's to make", want.Name)
	}
	master := ""
	if controller := e.byIndex(want.Master); controller != nil {
		master = controller.Name
	}
	e.change(l, func(l *Link) {
		if want.Master != 0 {
			l.Controller = master
		}
		l.MTU = want.MTU
		l.Up = l.Up || want.Up
		l.IPv6Off = l.IPv6Off && want.IPv6Off
	})
	return nil
}

// snapshot is what the kernel tells by netlink.
func (k *kernel) snapshot() foreign.Snapshot {
	var s foreign.Snapshot
	indexes := map[string]int{}
	for _, l := range k.links {
		if !l.userspace() {
			indexes[l.Name] = l.Index
		}
	}
	for _, l := range k.links {
		if l.userspace() {
			continue
		}
		s.Links = append(s.Links, foreign.Link{
			Name: l.Name, Index: l.Index, Kind: kernelKind(l.Type), Master: indexes[l.Controller], Parent: indexes[l.Base], MTU: l.MTU,
			MAC: lower(l.MAC), Up: l.Up, Carrier: k.carrier(l), IPv6Off: l.IPv6Off,
		})
		for _, a := range l.Addresses {
			s.Addresses = append(s.Addresses, writeAddress(l.Index, a))
		}
	}
	for _, r := range k.all() {
		s.Routes = append(s.Routes, writeRoute(indexes[r.Dev], r))
	}
	return s
}

// kernelKind is netlink's name for a type.
func kernelKind(kind string) string {
	switch kind {
	case "ethernet", "loopback":
		return ""
	case "linux-bridge":
		return "bridge"
	case "mac-vlan":
		return "macvlan"
	case "ovs-interface":
		return "openvswitch"
	}
	return kind
}
