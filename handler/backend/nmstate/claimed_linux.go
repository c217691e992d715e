package nmstate

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/godbus/dbus/v5"
	"github.com/vishvananda/netlink"
	"golang.org/x/sys/unix"

	"github.com/nmstate/kubernetes-nmstate/handler/arp"
	"github.com/nmstate/kubernetes-nmstate/handler/dump"
	"github.com/nmstate/kubernetes-nmstate/handler/state"
)

// detectWithin is how long the kernel may take to find out whether another host has an
// IPv6 address: up to two seconds, one of them a random delay (RFC 4862, 5.4.2).
const detectWithin = 3 * time.Second

// claim is an address that the node takes, and does not have yet.
type claim struct {
	link    string
	address netip.Addr
}

// claims of a state are its static addresses that the node has on no interface.
func claims(wanted state.State) ([]claim, error) {
	var all []claim
	for _, one := range wanted.Interfaces() {
		for _, family := range []state.Family{state.IPv4, state.IPv6} {
			if enabled, _ := one.Enabled(family); !enabled || !one.WantedUp() || one.Dynamic(family) {
				continue
			}
			for _, address := range one.Addresses(family) {
				if prefix, err := netip.ParsePrefix(address); err == nil {
					all = append(all, claim{one.Name, prefix.Addr()})
				}
			}
		}
	}
	if len(all) == 0 {
		return nil, nil
	}
	has, err := net.InterfaceAddrs()
	if err != nil {
		return nil, fmt.Errorf("reading the node's addresses: %w", err)
	}
	own := map[netip.Addr]bool{}
	for _, one := range has {
		if prefix, err := netip.ParsePrefix(one.String()); err == nil {
			own[prefix.Addr().WithZone("")] = true
		}
	}
	return slices.DeleteFunc(all, func(one claim) bool { return own[one.address] }), nil
}

// refuseClaimed asks before anything is changed whether another host has an IPv4 address
// that the node is to take: from the moment it has it, it takes that host's packets. Left
// are those that could not be asked about, since their interface is still to come.
func (b *Backend) refuseClaimed(ctx context.Context, wanted state.State) (left []claim, err error) {
	all, err := claims(wanted)
	if err != nil || len(all) == 0 {
		return nil, err
	}
	byLink := map[string][]netip.Addr{}
	for _, one := range all {
		by := askedBy(wanted, one.link)
		if one.address.Is6() || len(by) == 0 {
			left = append(left, one)
			continue
		}
		for _, link := range by {
			byLink[link] = append(byLink[link], one.address)
		}
	}
	return left, b.refuseHeld(ctx, byLink)
}

// askedBy are the links by which the interface's network can be asked now: itself where it
// is there, else the ports that it is to have, or what it is to stand on without a tag. A port
// of something else is asked by nobody: its controller gets what it receives.
func askedBy(wanted state.State, name string) []string {
	if link, err := netlink.LinkByName(name); err == nil {
		if canAsk(link) {
			return []string{name}
		}
		return nil
	}
	one, _ := wanted.Interface(name)
	by := one.Ports()
	if slices.Contains([]string{"mac-vlan", "mac-vtap", "ipvlan"}, one.Type) {
		by = append(by, one.BaseInterface())
	}
	var found []string
	for _, name := range by {
		if link, err := netlink.LinkByName(name); err == nil && canAsk(link) {
			found = append(found, name)
		}
	}
	return found
}

// canAsk tells whether a link leads to a network of which ARP can be asked.
func canAsk(link netlink.Link) bool {
	has := link.Attrs()
	return has.MasterIndex == 0 && has.RawFlags&unix.IFF_RUNNING != 0 && has.RawFlags&(unix.IFF_NOARP|unix.IFF_LOOPBACK) == 0 &&
		has.RawFlags&unix.IFF_BROADCAST != 0 && len(has.HardwareAddr) == 6
}

// refuseHeld is an error when another host has one of the addresses.
func (b *Backend) refuseHeld(ctx context.Context, byLink map[string][]netip.Addr) error {
	var mu sync.Mutex
	var group sync.WaitGroup
	var held, failed []error
	for link, addresses := range byLink {
		group.Go(func() {
			found, err := arp.Holders(ctx, b.clock, link, addresses)
			mu.Lock()
			defer mu.Unlock()
			if err != nil && !isGone(err) {
				failed = append(failed, err)
			}
			for address, mac := range found {
				switch is, err := isProxy(mac, address); {
				case err != nil:
					failed = append(failed, err)
				case !is:
					held = append(held, claimed(claim{link, address}, ": "+mac.String()))
				}
			}
		})
	}
	group.Wait()
	if len(held) > 0 {
		return slices.MinFunc(held, func(a, b error) int { return strings.Compare(a.Error(), b.Error()) })
	}
	return errors.Join(failed...)
}

// isProxy tells whether the MAC address is that of a gateway, which is known at another
// address: routers of private VLANs and of clouds answer for all of a network, and so say
// nothing about one address.
func isProxy(mac net.HardwareAddr, address netip.Addr) (bool, error) {
	routes, err := dump.Whole(func() ([]netlink.Route, error) { return netlink.RouteList(nil, netlink.FAMILY_V4) })
	if err != nil {
		return false, fmt.Errorf("reading the routes: %w", err)
	}
	neighbours, err := dump.Whole(func() ([]netlink.Neigh, error) { return netlink.NeighList(0, netlink.FAMILY_V4) })
	if err != nil {
		return false, fmt.Errorf("reading the neighbours: %w", err)
	}
	return slices.ContainsFunc(neighbours, func(n netlink.Neigh) bool {
		known := slices.ContainsFunc(routes, func(r netlink.Route) bool { return r.Gw != nil && r.Gw.Equal(n.IP) })
		return known && bytes.Equal(n.HardwareAddr, mac) && !n.IP.Equal(address.AsSlice())
	}), nil
}

// isGone: a link that goes down or away while it is asked by leads nowhere.
func isGone(err error) bool {
	return errors.Is(err, unix.ENETDOWN) || errors.Is(err, unix.ENODEV) || errors.Is(err, unix.ENXIO)
}

func claimed(one claim, by string) error {
	return fmt.Errorf("another host on the network of %s has %s already%s; take one that is free", one.link, one.address, by)
}

// refuseTaken is an error when another host has one of the addresses that the node has just
// taken. IPv4 is asked about; of IPv6 the kernel's own answer is waited for.
func (b *Backend) refuseTaken(ctx context.Context, t *trial, under underCheckpoint, changes <-chan *dbus.Signal) error {
	byLink := map[string][]netip.Addr{}
	for _, one := range under.claims {
		if link, err := netlink.LinkByName(one.link); err == nil && one.address.Is4() && canAsk(link) {
			byLink[one.link] = append(byLink[one.link], one.address)
		}
	}
	if err := b.refuseHeld(ctx, byLink); err != nil {
		return err
	}
	patience, cancel := context.WithTimeout(ctx, detectWithin)
	defer cancel()
	begun := map[claim]bool{}
	for {
		waits, err := detections(under.claims, begun)
		if err == nil {
			err = t.failedClaim(ctx, under.claims)
		}
		if err != nil || !waits || patience.Err() != nil {
			return err
		}
		if err := t.nextRead(ctx, verifyPause, changes, under.holding); err != nil {
			return err
		}
	}
}

// detections tells whether the kernel is still finding out about an IPv6 address, which it
// notes in begun. It is an error when the kernel refused one; NetworkManager takes such a one away.
func detections(taken []claim, begun map[claim]bool) (waits bool, err error) {
	for _, one := range taken {
		if one.address.Is4() {
			continue
		}
		flags, has, err := flagsOf(one)
		if err != nil {
			return false, err
		}
		if has && flags&unix.IFA_F_DADFAILED != 0 || !has && begun[one] {
			return false, claimed(one, "")
		}
		if has && flags&unix.IFA_F_TENTATIVE != 0 {
			waits, begun[one] = true, true
		}
	}
	return waits, nil
}

// failedClaim is an error when NetworkManager gave a device up for an address that the
// kernel refused: it activates it again at once, and so for ever.
func (t *trial) failedClaim(ctx context.Context, taken []claim) error {
	for device, reason := range t.failedFor {
		name := t.manager.deviceName(ctx, string(device))
		i := slices.IndexFunc(taken, func(one claim) bool { return one.link == name && one.address.Is6() })
		if i >= 0 && (reason == reasonNoIPConfig || reason == reasonDuplicateAddress) {
			return claimed(taken[i], "")
		}
	}
	return nil
}

// flagsOf are the kernel's flags of an address (IFA_F_*) on a link that has carrier.
func flagsOf(one claim) (flags int, has bool, err error) {
	link, err := netlink.LinkByName(one.link)
	if errors.As(err, &netlink.LinkNotFoundError{}) || err == nil && link.Attrs().RawFlags&unix.IFF_RUNNING == 0 {
		return 0, false, nil
	}
	if err != nil {
		return 0, false, fmt.Errorf("finding %s: %w", one.link, err)
	}
	all, err := dump.Whole(func() ([]netlink.Addr, error) { return netlink.AddrList(link, netlink.FAMILY_V6) })
	if err != nil {
		return 0, false, fmt.Errorf("reading the addresses of %s: %w", one.link, err)
	}
	for _, address := range all {
		if found, ok := netip.AddrFromSlice(address.IP); ok && found == one.address {
			return address.Flags, true, nil
		}
	}
	return 0, false, nil
}
