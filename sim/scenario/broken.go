package scenario

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"strings"
	"time"

	"github.com/nmstate/kubernetes-nmstate/sim/network"
)

func doClaim(is bool) doing {
	return func(ctx context.Context, r *run, s *Step) error {
		return r.Claim(ctx, s.Args["SWITCH"], s.Args["HOST"], is)
	}
}

func doDHCP(ctx context.Context, r *run, s *Step) error {
	return r.DHCP(ctx, s.Args["SWITCH"], s.Args["silent|answers"], "")
}

func doOtherDHCP(ctx context.Context, r *run, s *Step) error {
	return r.DHCP(ctx, s.Args["SWITCH"], "other", s.Args["RANGE"])
}

func doDisk(ctx context.Context, r *run, s *Step) error {
	return r.each(s.Args["NODES"], func(node string) error {
		if err := r.struck(ctx, s.Args, node); err != nil {
			return err
		}
		return r.Disk(ctx, node, s.Args["full|read-only|writable"])
	})
}

func doClock(ctx context.Context, r *run, s *Step) error {
	if err := r.struck(ctx, s.Args, r.scenario.Topology.Nodes[0].Name); err != nil {
		return err
	}
	return r.Clock(ctx, span(s.Args["STEP"], 0))
}

// claimant is the machine that uses an address of a switch.
func claimant(on, address string) string { return "claimant of " + address + " on " + on }

// Claim plugs a machine in that has the address.
func (b *Sim) Claim(_ context.Context, on, address string, is bool) error {
	ip, err := netip.ParseAddr(address)
	if err != nil {
		return err
	}
	s := b.Network.Switch(on)
	if s == nil {
		return fmt.Errorf("there is no switch %s", on)
	}
	b.fault("address-claimed", "", is, !is)
	m := b.Network.Machine(claimant(on, address))
	if m == nil {
		m = b.Network.AddMachine(claimant(on, address), false)
		m.Attach(s, netip.PrefixFrom(ip, ip.BitLen()))
	}
	m.SetPower(is)
	return nil
}

// DHCP changes what the switch's servers do.
func (b *Sim) DHCP(_ context.Context, on, how, leases string) error {
	s := b.Network.Switch(on)
	if s == nil || len(s.DHCP()) == 0 {
		return fmt.Errorf("switch %s has no DHCP server", on)
	}
	b.fault("dhcp-gone", "", how == "silent", how != "silent")
	for _, server := range s.DHCP() {
		if how == "other" {
			if err := leaseOther(server, leases); err != nil {
				return err
			}
		}
		server.SetGone(how == "silent")
	}
	return nil
}

func leaseOther(server *network.DHCPServer, leases string) error {
	from, to, _ := strings.Cut(leases, "-")
	var err error
	if server.From, err = netip.ParseAddr(from); err != nil {
		return err
	}
	if server.To, err = netip.ParseAddr(to); err != nil {
		return err
	}
	server.Forget()
	return nil
}

// errDisk is what writing says, by how the disk is.
var errDisk = map[string]error{
	"full": errors.New("no space left on device"), "read-only": errors.New("read-only file system"),
}

// Disk has writing to the node's disk fail.
func (b *Sim) Disk(_ context.Context, node, how string) error {
	h, err := b.host(node)
	if err != nil {
		return err
	}
	err, broken := errDisk[how]
	b.fault("disk-full", node, broken, !broken)
	h.Faults.Disk = nil
	if broken {
		h.Faults.Disk = func() error { return err }
	}
	return nil
}

// Clock steps what processes on nodes take for the time.
func (b *Sim) Clock(_ context.Context, by time.Duration) error {
	for _, n := range b.Nodes() {
		b.fault("clock-jump", n.Name, true, false)
	}
	before := b.World.Skew
	b.World.Skew = func(process string) time.Duration {
		skew := time.Duration(0)
		if before != nil {
			skew = before(process)
		}
		if strings.HasPrefix(process, "handler/") {
			skew += by
		}
		return skew
	}
	return nil
}
