//go:build linux

package lab

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"github.com/vishvananda/netlink"
	"github.com/vishvananda/netns"
	"golang.org/x/sync/errgroup"
	"golang.org/x/sys/unix"
)

// build makes everything in an empty folder.
func (l *Lab) build(ctx context.Context) error {
	l.rec = &record{
		Name: l.opts.Name, Topology: l.opts.Topology, Bases: map[string]string{}, Disk: l.opts.Disk,
		NMLogLevel: l.opts.NMLogLevel, Binds: l.binds(), AuditLog: l.opts.AuditLog,
	}
	l.at = here{l}
	if err := l.chooseNM(ctx); err != nil {
		return err
	}
	if l.opts.Handler != "" {
		l.rec.Handler = append([]string{l.opts.Handler}, l.opts.HandlerArgs...)
	}
	if err := l.writeRecord(); err != nil {
		return err
	}
	if l.opts.VM {
		if err := l.startVM(ctx); err != nil {
			return err
		}
	}
	if _, err := l.at.do(ctx, request{Verb: "fabric"}); err != nil {
		return err
	}
	l.opts.Progress(fmt.Sprintf("fabric up: %s", plural(len(l.rec.Topology.Switches), "switch", "switches")))
	group, groupCtx := errgroup.WithContext(ctx)
	for _, n := range l.Nodes() {
		group.Go(func() error {
			if _, err := l.at.do(groupCtx, request{Verb: "boot", Node: n.Name}); err != nil {
				return fmt.Errorf("node %s: %w", n.Name, err)
			}
			l.opts.Progress("node " + n.Name + " up")
			return nil
		})
	}
	group.Go(func() error { return l.startCluster(groupCtx) })
	if err := group.Wait(); err != nil {
		return err
	}
	if err := l.joinNodes(ctx); err != nil {
		return err
	}
	if len(l.rec.Handler) == 0 {
		return nil
	}
	for _, n := range l.Nodes() {
		if err := n.Handler(ctx, "start"); err != nil {
			return err
		}
	}
	l.opts.Progress("handlers started")
	return nil
}

func plural(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, many)
}

func (l *Lab) writeRecord() error { return writeJSON(filepath.Join(l.dir, "lab.json"), l.rec) }

// binds are what nodes need from the machine: the handler's folder, the libraries
// in the project's cache, and this program, which a test may run in a node.
func (l *Lab) binds() []string {
	all := slices.Clone(l.opts.Binds)
	if !within(l.opts.Binary, "/usr") {
		all = append(all, l.opts.Binary)
	}
	if l.opts.Handler != "" {
		all = append(all, filepath.Dir(l.opts.Handler))
	}
	if cache, err := os.UserCacheDir(); err == nil {
		all = append(all, filepath.Join(cache, "kubernetes-nmstate"))
	}
	all = slices.DeleteFunc(all, func(dir string) bool {
		_, err := os.Stat(dir)
		return err != nil
	})
	slices.Sort(all)
	return slices.Compact(all)
}

func (l *Lab) fabricDir() string { return filepath.Join(l.dir, roleFabric) }

func (l *Lab) startFabric(ctx context.Context) error {
	if err := os.MkdirAll(l.fabricDir(), 0o755); err != nil {
		return fmt.Errorf("making the fabric's folder: %w", err)
	}
	// The process's first thread never leaves its namespace, see onOwnThread.
	host, err := os.Open("/proc/self/ns/net")
	if err != nil {
		return fmt.Errorf("opening this network namespace: %w", err)
	}
	defer func() { _ = host.Close() }()
	namespaces := uintptr(unix.CLONE_NEWNET | unix.CLONE_NEWNS | unix.CLONE_NEWPID)
	fabric, err := l.spawn(ctx, roleFabric, l.fabricDir(), namespaces, host)
	if err != nil {
		return err
	}
	return fabric.awaitReady(ctx)
}

// withFabric runs f with netlink in the fabric's network namespace.
func (l *Lab) withFabric(f func(*netlink.Handle) error) error {
	p, err := findOne(roleFabric, l.fabricDir())
	if err != nil {
		return err
	}
	h, err := netlinkOf(p.pid)
	if err != nil {
		return err
	}
	defer h.Close()
	return f(h)
}

// boot starts a node's pid 1 and plugs in its NICs.
func (n *Node) boot(ctx context.Context) error {
	if err := os.MkdirAll(n.dir(), 0o755); err != nil {
		return fmt.Errorf("making the node's folder: %w", err)
	}
	first, err := n.makeDisk(ctx)
	if err != nil {
		return err
	}
	spec := nodeSpec{
		Name: n.Name, Base: n.lab.rec.Bases[n.nm()], Binds: n.lab.rec.Binds,
		Handler: n.lab.rec.Handler, NMLogLevel: n.lab.rec.NMLogLevel, Profiles: n.spec.Profiles, OpenVSwitch: n.spec.OpenVSwitch,
	}
	for _, nic := range n.spec.NICs {
		spec.NICs = append(spec.NICs, n.lab.plan(n.spec, nic))
	}
	for _, l := range n.spec.made() {
		p := n.lab.plan(n.spec, l.NICSpec)
		p.Link = &l
		spec.Links = append(spec.Links, p)
	}
	if err := writeJSON(filepath.Join(n.dir(), "node.json"), spec); err != nil {
		return err
	}
	namespaces := uintptr(unix.CLONE_NEWNET | unix.CLONE_NEWNS | unix.CLONE_NEWUTS | unix.CLONE_NEWPID)
	started, err := n.lab.spawn(ctx, roleNode, n.dir(), namespaces)
	if err != nil {
		return err
	}
	// The clone has come back, but for an instant its argv is still ours.
	err = n.lab.until(ctx, "the node's process", func() (bool, error) {
		_, err := findOne(roleNode, n.dir())
		return err == nil, err
	})
	if err != nil {
		return err
	}
	for _, nic := range spec.NICs {
		if err := n.plug(ctx, nic); err != nil {
			return err
		}
	}
	if err := started.awaitReady(ctx); err != nil || !first {
		return err
	}
	return n.Sync() // its installation is over
}

// plan completes a NIC or a link with what its switch offers, and with the link
// that it is a port of.
func (l *Lab) plan(node NodeSpec, nic NICSpec) nicPlan {
	s := l.rec.Topology.switchOf(nic.Switch)
	p := nicPlan{NICSpec: nic, MAC: macOf(node.Name, nic.Name).String(), Gateway: gatewayOf(s.Gateway), Gateway6: gatewayOf(s.Gateway6)}
	if s.DNS {
		p.DNS = p.Gateway
		if nic.onlyIPv6() {
			p.DNS = p.Gateway6
		}
	}
	if p.Address6 == "" && s.RA && nic.addressed() {
		p.Address6 = "auto"
	}
	if c, is := node.controller(nic.Name); is {
		p.Controller, p.ControllerType, p.Trunk = c.Name, linkTypes()[c.Type].profile, c.tagged()
	}
	return p
}

// plug makes the pair of a NIC, one end in the node and one in its switch. It
// never exists in the host's namespace, and it dies with either of the two.
func (n *Node) plug(ctx context.Context, nic nicPlan) error {
	if nic.SRIOV {
		return n.plugCard(ctx, nic)
	}
	p, err := n.process()
	if err != nil {
		return err
	}
	node, err := netns.GetFromPid(p.pid)
	if err != nil {
		return fmt.Errorf("opening the node's network namespace: %w", err)
	}
	defer func() { _ = node.Close() }()
	return n.lab.withFabric(func(h *netlink.Handle) error {
		far := peerName(n.Name, nic.Name)
		if old, err := h.LinkByName(far); err == nil {
			// The old node's namespace may be taking it away in this moment.
			if err := h.LinkDel(old); err != nil && !errors.Is(err, unix.ENODEV) {
				return fmt.Errorf("removing the old pair of %s: %w", nic.Name, err)
			}
		}
		bridge, err := n.socket(h, nic.Switch)
		if err != nil {
			return err
		}
		pair := &netlink.Veth{
			LinkAttrs:        netlink.LinkAttrs{Name: far, MasterIndex: bridge.Attrs().Index, HardwareAddr: macOf("far", n.Name, nic.Name)},
			PeerName:         nic.Name,
			PeerHardwareAddr: macOf(n.Name, nic.Name),
			PeerNamespace:    netlink.NsFd(int(node)),
		}
		if err := h.LinkAdd(pair); err != nil {
			return fmt.Errorf("plugging in %s: %w", nic.Name, err)
		}
		if err := segmented(node, nic.Name); err != nil {
			return err
		}
		if err := h.LinkSetUp(pair); err != nil {
			return fmt.Errorf("setting the far end of %s up: %w", nic.Name, err)
		}
		return nil
	})
}

// segmented has a NIC send packets that fit a wire, as a card does: those of many segments
// that a veth hands over would pass a switch that drops each segment.
func segmented(node netns.NsHandle, name string) error {
	h, err := netlink.NewHandleAt(node)
	if err != nil {
		return fmt.Errorf("joining the node's network namespace: %w", err)
	}
	defer h.Close()
	nic, err := h.LinkByName(name)
	if err == nil {
		err = h.LinkSetGSOMaxSegs(nic, 1)
	}
	if err != nil {
		return fmt.Errorf("having %s send one packet at a time: %w", name, err)
	}
	return nil
}

// socket is what the NICs of the node are plugged into: the switch, or the
// aggregate that the switch makes of them.
func (n *Node) socket(h *netlink.Handle, name string) (netlink.Link, error) {
	bridge, err := h.LinkByName(bridgeName(name))
	if err != nil {
		return nil, fmt.Errorf("finding switch %s: %w", name, err)
	}
	if !n.lab.rec.Topology.switchOf(name).LACP {
		return bridge, nil
	}
	aggregate := peerName(n.Name+"."+name, "lacp")
	if there, err := h.LinkByName(aggregate); err == nil {
		return there, nil
	}
	bond := netlink.NewLinkBond(netlink.LinkAttrs{Name: aggregate, MasterIndex: bridge.Attrs().Index})
	bond.Mode, bond.Miimon, bond.LacpRate = netlink.BOND_MODE_802_3AD, 100, netlink.BOND_LACP_RATE_FAST
	bond.AdActorSystem = macOf("lacp", n.Name, name) // else it changes when the last NIC goes
	if err := h.LinkAdd(bond); err != nil {
		return nil, fmt.Errorf("making the aggregate of %s in switch %s: %w (a kernel without bonds? lab up --vm has one with)", n.Name, name, err)
	}
	if err := h.LinkSetUp(bond); err != nil {
		return nil, fmt.Errorf("setting the aggregate of %s in switch %s up: %w", n.Name, name, err)
	}
	return bond, nil
}
