package foreign

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/vishvananda/netlink"
	"github.com/vishvananda/netlink/nl"
	"golang.org/x/sys/unix"

	"github.com/nmstate/kubernetes-nmstate/handler/dump"
)

// Kernel is the Keeper of the network namespace that this process is in.
type Kernel struct{}

var _ Keeper = Kernel{}

// Note implements Keeper. Links are read first: what is on one that comes
// later is somebody's work in progress.
func (Kernel) Note(ctx context.Context) (Snapshot, error) {
	if err := ctx.Err(); err != nil {
		return Snapshot{}, err
	}
	noted, err := dump.Whole(note)
	if errors.Is(err, netlink.ErrDumpInterrupted) {
		// The lists are those of a moment in which somebody works; what is
		// not in them is not kept, and the next note is compared as usual.
		return noted, nil
	}
	return noted, err
}

// note reads once. With netlink.ErrDumpInterrupted the lists may lack
// something that somebody changed meanwhile.
func note() (Snapshot, error) {
	links, interrupted := netlink.LinkList()
	if interrupted != nil && !errors.Is(interrupted, netlink.ErrDumpInterrupted) {
		return Snapshot{}, fmt.Errorf("listing links: %w", interrupted)
	}
	var noted Snapshot
	for _, link := range links {
		noted.Links = append(noted.Links, noteLink(link))
	}
	addresses, err := list(unix.RTM_GETADDR, unix.RTM_NEWADDR, nl.NewIfAddrmsg(unix.AF_UNSPEC))
	if err != nil && !errors.Is(err, netlink.ErrDumpInterrupted) {
		return Snapshot{}, fmt.Errorf("listing addresses: %w", err)
	}
	interrupted = errors.Join(interrupted, err)
	for _, message := range addresses {
		noted.Addresses = append(noted.Addresses, message)
	}
	for _, family := range []uint8{unix.AF_INET, unix.AF_INET6} {
		request := &nl.RtMsg{}
		request.Family = family
		routes, err := list(unix.RTM_GETROUTE, unix.RTM_NEWROUTE, request)
		if err != nil && !errors.Is(err, netlink.ErrDumpInterrupted) {
			return Snapshot{}, fmt.Errorf("listing routes: %w", err)
		}
		interrupted = errors.Join(interrupted, err)
		for _, message := range routes {
			if r, ok := Route(message).read(); ok && r.lasting() {
				noted.Routes = append(noted.Routes, message)
			}
		}
	}
	return noted, interrupted
}

func list(kind int, answer uint16, request nl.NetlinkRequestData) ([][]byte, error) {
	r := nl.NewNetlinkRequest(kind, unix.NLM_F_DUMP)
	r.AddData(request)
	return r.Execute(unix.NETLINK_ROUTE, answer)
}

func noteLink(link netlink.Link) Link {
	a := link.Attrs()
	noted := Link{
		Name: a.Name, Index: a.Index, Master: a.MasterIndex, MTU: a.MTU, MAC: a.HardwareAddr.String(),
		Up: a.RawFlags&unix.IFF_UP != 0, Carrier: a.RawFlags&unix.IFF_LOWER_UP != 0, IPv6Off: ipv6Off(a.Name),
	}
	if kind := link.Type(); kind != "device" {
		noted.Kind = kind
	}
	if a.NetNsID < 0 { // Otherwise the number is one of another namespace.
		noted.Parent = a.ParentIndex
	}
	return noted
}

// disableIPv6 is the kernel's switch of a link, in the network namespace that
// reads it.
func disableIPv6(link string) string { return "/proc/sys/net/ipv6/conf/" + link + "/disable_ipv6" }

// ipv6Off is false as well where there is no switch: a kernel without IPv6, or
// a link that has just gone.
func ipv6Off(link string) bool {
	text, err := os.ReadFile(disableIPv6(link))
	return err == nil && strings.TrimSpace(string(text)) == "1"
}

// PutBack implements Keeper.
func (Kernel) PutBack(_ context.Context, loss Loss) error {
	switch {
	case loss.Link != nil:
		return putBackLink(loss)
	case loss.Address != nil:
		return add(unix.RTM_NEWADDR, 0, loss.Address)
	case loss.Route != nil:
		err := add(unix.RTM_NEWROUTE, routeFlags(loss.Route), loss.Route)
		if err != nil && loss.plain != nil {
			return add(unix.RTM_NEWROUTE, routeFlags(loss.plain), loss.plain)
		}
		return err
	}
	return nil
}

// routeFlags: a route of several ways of which some were dropped is written
// over what is left of it.
func routeFlags(raw Route) int {
	if r, ok := raw.read(); ok && len(r.hops) > 1 {
		return unix.NLM_F_REPLACE
	}
	return unix.NLM_F_APPEND
}

func add(kind, flags int, body []byte) error {
	r := nl.NewNetlinkRequest(kind, unix.NLM_F_CREATE|unix.NLM_F_ACK|flags)
	r.AddRawData(body)
	_, err := r.Execute(unix.NETLINK_ROUTE, 0)
	if errors.Is(err, os.ErrExist) {
		return nil
	}
	return err
}

func putBackLink(loss Loss) error {
	if loss.gone {
		return errors.New("an interface that is gone is its owner's to make")
	}
	want := loss.Link
	link, err := netlink.LinkByIndex(want.Index)
	if err != nil {
		return err
	}
	is := link.Attrs()
	if is.MasterIndex != want.Master && want.Master != 0 {
		if err := netlink.LinkSetMasterByIndex(link, want.Master); err != nil {
			return err
		}
	}
	if is.MTU != want.MTU {
		if err := netlink.LinkSetMTU(link, want.MTU); err != nil {
			return err
		}
	}
	if want.Up && is.RawFlags&unix.IFF_UP == 0 {
		if err := netlink.LinkSetUp(link); err != nil {
			return err
		}
	}
	if !want.IPv6Off && ipv6Off(is.Name) {
		return os.WriteFile(disableIPv6(is.Name), []byte("0"), 0)
	}
	return nil
}
