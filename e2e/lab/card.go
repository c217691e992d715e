//go:build linux

package lab

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/vishvananda/netlink"
	"github.com/vishvananda/netns"
	"k8s.io/utils/clock"
)

// A NIC with sriov is not a pair of links but an emulated card (QEMU's igb) with virtual
// functions. A second card of QEMU, on the same cable, is its far end:
//
//	node ── igb ══ hub of QEMU ══ virtio ── switch
//	  └─ its functions, once somebody asks for some
//
// The kernel puts both, and each new function, into the VM's own network namespace. The
// agent moves them on, as udev would name them on a machine.

// bootOfCard is how long a driver may take for a card.
const bootOfCard = 30 * time.Second

// cards are the NICs of all nodes that are emulated cards, with their nodes.
func (t *Topology) cards() []card {
	var all []card
	for _, n := range t.Nodes {
		for _, nic := range n.NICs {
			if nic.SRIOV {
				all = append(all, card{node: n.Name, nic: nic.Name})
			}
		}
	}
	return all
}

type card struct{ node, nic string }

func (c card) mac() net.HardwareAddr    { return macOf(c.node, c.nic) }
func (c card) farMAC() net.HardwareAddr { return macOf("far", c.node, c.nic) }

// qemu are the arguments for cards. Each has a port of its own, since a card with
// functions needs one.
func qemuCards(cards []card) []string {
	var args []string
	for i, c := range cards {
		args = append(args,
			"-device", fmt.Sprintf("pcie-root-port,id=port%d,slot=%d,chassis=%d", i, i+1, i+1),
			"-netdev", fmt.Sprintf("hubport,id=card%d,hubid=%d", i, i),
			"-device", fmt.Sprintf("igb,bus=port%d,netdev=card%d,mac=%s", i, i, c.mac()),
			"-netdev", fmt.Sprintf("hubport,id=far%d,hubid=%d", i, i),
			"-device", fmt.Sprintf("virtio-net-pci,netdev=far%d,mac=%s", i, c.farMAC()),
		)
	}
	return args
}

// plugCard moves a card into the node, without functions, and its far end into the
// switch. A card whose node has gone is back in the VM's namespace.
func (n *Node) plugCard(ctx context.Context, nic nicPlan) error {
	c := card{n.Name, nic.Name}
	name, err := awaitCard(ctx, c.mac())
	if err != nil {
		return fmt.Errorf("finding the card of %s: %w", nic.Name, err)
	}
	device := filepath.Join("/sys/class/net", name, "device")
	if err := os.WriteFile(filepath.Join(device, "sriov_numvfs"), []byte("0"), 0); err != nil {
		return fmt.Errorf("taking the functions of %s away: %w", nic.Name, err)
	}
	at, err := os.Readlink(device)
	if err != nil {
		return fmt.Errorf("finding the card of %s: %w", nic.Name, err)
	}
	if err := os.MkdirAll(n.lab.cardsDir(), 0o755); err != nil {
		return fmt.Errorf("noting where %s is: %w", nic.Name, err)
	}
	if err := os.WriteFile(filepath.Join(n.lab.cardsDir(), filepath.Base(at)), []byte(n.Name+" "+nic.Name), 0o644); err != nil {
		return fmt.Errorf("noting where %s is: %w", nic.Name, err)
	}
	if err := n.moveIn(name, nic.Name); err != nil {
		return err
	}
	return n.plugFarEnd(ctx, c, nic)
}

func (l *Lab) cardsDir() string { return filepath.Join(l.vmDir(), "cards") }

// awaitCard is the name of the link with an address of the hardware, in this namespace.
func awaitCard(ctx context.Context, mac net.HardwareAddr) (name string, err error) {
	err = poll(ctx, bootOfCard, func() error {
		links, err := netlink.LinkList()
		if err != nil {
			return err
		}
		for _, l := range links {
			own := l.Attrs().PermHWAddr
			if len(own) == 0 {
				own = l.Attrs().HardwareAddr
			}
			if own.String() == mac.String() {
				name = l.Attrs().Name
				return nil
			}
		}
		return fmt.Errorf("no link has the address %s", mac)
	})
	return name, err
}

// moveIn moves a link of this namespace into the node's, and names it.
func (n *Node) moveIn(name, as string) error {
	p, err := n.process()
	if err != nil {
		return err
	}
	inside, err := netlinkOf(p.pid)
	if err != nil {
		return err
	}
	defer inside.Close()
	return moveTo(p.pid, inside, name, as)
}

// moveTo moves a link of this namespace to that of a process. What has a name there that
// is taken until it is renamed would not get in, so it is named twice.
func moveTo(pid int, there *netlink.Handle, name, as string) error {
	l, err := netlink.LinkByName(name)
	if err != nil {
		return fmt.Errorf("finding %s: %w", name, err)
	}
	passing := fmt.Sprintf("moves%d", l.Attrs().Index)
	if err := errors.Join(netlink.LinkSetDown(l), netlink.LinkSetName(l, passing)); err != nil {
		return fmt.Errorf("renaming %s: %w", name, err)
	}
	ns, err := netns.GetFromPid(pid)
	if err != nil {
		return fmt.Errorf("opening the network namespace for %s: %w", as, err)
	}
	defer func() { _ = ns.Close() }()
	if err := netlink.LinkSetNsFd(l, int(ns)); err != nil {
		return fmt.Errorf("moving %s: %w", as, err)
	}
	moved, err := there.LinkByName(passing)
	if err != nil {
		return fmt.Errorf("finding %s where it was moved: %w", as, err)
	}
	if err := there.LinkSetName(moved, as); err != nil {
		return fmt.Errorf("naming %s: %w", as, err)
	}
	return there.LinkSetUp(moved)
}

// plugFarEnd puts the other end of a card's cable into the switch, once.
func (n *Node) plugFarEnd(ctx context.Context, c card, nic nicPlan) error {
	far := peerName(n.Name, nic.Name)
	fabric, err := findOne(roleFabric, n.lab.fabricDir())
	if err != nil {
		return err
	}
	return n.lab.withFabric(func(h *netlink.Handle) error {
		if _, err := h.LinkByName(far); err != nil {
			name, err := awaitCard(ctx, c.farMAC())
			if err != nil {
				return fmt.Errorf("finding the far end of %s: %w", nic.Name, err)
			}
			if err := moveTo(fabric.pid, h, name, far); err != nil {
				return err
			}
		}
		bridge, err := n.socket(h, nic.Switch)
		if err != nil {
			return err
		}
		l, err := h.LinkByName(far)
		if err != nil {
			return fmt.Errorf("finding the far end of %s: %w", nic.Name, err)
		}
		return errors.Join(h.LinkSetMaster(l, bridge), h.LinkSetUp(l))
	})
}

// passFunctions moves each new function of a card into the card's node, for as long as the
// VM runs. They are called as udev calls them: eth1v0 is the first one of eth1.
func passFunctions(ctx context.Context, dir string) {
	tick := clock.RealClock{}.NewTicker(100 * time.Millisecond)
	defer tick.Stop()
	for {
		found, _ := filepath.Glob("/sys/class/net/*/device/physfn")
		for _, physfn := range found {
			name := filepath.Base(filepath.Dir(filepath.Dir(physfn)))
			if err := passFunction(dir, name, physfn); err != nil {
				fmt.Fprintf(os.Stderr, "function %s: %v\n", name, err) // It is tried again.
			}
		}
		select {
		case <-ctx.Done():
			return
		case <-tick.C():
		}
	}
}

func passFunction(dir, name, physfn string) error {
	own, err := filepath.EvalSymlinks(filepath.Dir(physfn))
	if err != nil {
		return err
	}
	at, err := filepath.EvalSymlinks(physfn)
	if err != nil {
		return err
	}
	lab, err := openHere(dir)
	if err != nil {
		return err
	}
	said, err := os.ReadFile(filepath.Join(lab.cardsDir(), filepath.Base(at)))
	if err != nil {
		return err
	}
	node, nic, _ := strings.Cut(string(said), " ")
	n, err := lab.Node(node)
	if err != nil {
		return err
	}
	functions, err := filepath.Glob(filepath.Join(at, "virtfn*"))
	if err != nil {
		return err
	}
	for _, function := range functions {
		if to, err := filepath.EvalSymlinks(function); err == nil && to == own {
			return n.moveIn(name, nic+"v"+strings.TrimPrefix(filepath.Base(function), "virtfn"))
		}
	}
	return fmt.Errorf("%s has no function at %s", at, own)
}
