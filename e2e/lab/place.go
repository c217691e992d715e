//go:build linux

package lab

import (
	"context"
	"fmt"
	"net"
	"os/exec"
	"path/filepath"
	"slices"

	"github.com/vishvananda/netlink"
)

// place is where the fabric and the nodes of a lab run: on this machine (here),
// or in a virtual one on it (inVM). Their files are in the lab's folder of this
// machine either way; all that needs their processes and namespaces goes through
// the place.
type place interface {
	// do carries out one order; their verbs are those of here.do.
	do(ctx context.Context, order request) (response, error)
	// run is Node.Run.
	run(ctx context.Context, node string, c Command) error
	// dial is Node.Dial.
	dial(ctx context.Context, node, network, address string) (net.Conn, error)
	// root is where this machine sees the root of a node.
	root(node string) (string, error)
}

// Exit is the error of a program that ran in a node and ended with another exit
// code than 0; an *exec.ExitError is one.
type Exit interface {
	error
	ExitCode() int
}

// here is this machine.
type here struct{ lab *Lab }

func (p here) do(ctx context.Context, order request) (response, error) {
	switch order.Verb {
	case "ask": // a process of the lab, whose folder is Dir
		return ask(ctx, order.Dir, *order.Ask)
	case "pid": // of a process whose role is Target
		found, err := findOne(order.Target, order.Dir)
		return response{PID: found.pid}, err
	case "fabric":
		return response{}, p.lab.startFabric(ctx)
	}
	n, err := p.lab.Node(order.Node)
	if err != nil {
		return response{}, err
	}
	switch order.Verb {
	case "boot":
		return response{}, n.boot(ctx)
	case "power":
		return response{}, n.power(ctx, order.Target)
	case "up", "down", "plug", "unplug": // a NIC
		return response{}, n.link(ctx, order.Target, order.Verb)
	case "kernel":
		text, err := n.kernel(ctx)
		return response{Text: text}, err
	case "addresses":
		out, err := n.ip(ctx, "-json", "address", "show", "scope", "global")
		return response{Text: string(out)}, err
	}
	return response{}, fmt.Errorf("unknown order %q", order.Verb)
}

func (p here) process(node string) (process, error) {
	n, err := p.lab.Node(node)
	if err != nil {
		return process{}, err
	}
	return n.process()
}

func (p here) dial(ctx context.Context, node, network, address string) (net.Conn, error) {
	found, err := p.process(node)
	if err != nil {
		return nil, err
	}
	var conn net.Conn
	err = inside(found.pid, netOnly, func() error {
		var dialer net.Dialer
		var err error
		conn, err = dialer.DialContext(ctx, network, address)
		return err
	})
	return conn, err
}

func (p here) root(node string) (string, error) {
	found, err := p.process(node)
	if err != nil {
		return "", err
	}
	return filepath.Join("/proc", fmt.Sprint(found.pid), "root"), nil
}

// ip runs the machine's ip in the node's network namespace.
func (n *Node) ip(ctx context.Context, args ...string) ([]byte, error) {
	p, err := n.process()
	if err != nil {
		return nil, err
	}
	var out []byte
	err = inside(p.pid, netOnly, func() error {
		var err error
		out, err = exec.CommandContext(ctx, "ip", args...).Output()
		return err
	})
	return out, err
}

// link changes a NIC at its far end, on this machine.
func (n *Node) link(ctx context.Context, nic, verb string) error {
	if slices.Contains(n.lab.rec.Topology.cards(), card{n.Name, nic}) {
		return fmt.Errorf("%s: QEMU's card keeps its carrier, and stays in", nic)
	}
	switch verb {
	case "plug":
		spec, err := n.nic(nic)
		if err != nil {
			return err
		}
		return n.plug(ctx, n.lab.plan(n.spec, spec))
	case "unplug":
		return n.farEnd(nic, func(h *netlink.Handle, far netlink.Link) error { return h.LinkDel(far) })
	case "up":
		return n.farEnd(nic, func(h *netlink.Handle, far netlink.Link) error { return h.LinkSetUp(far) })
	}
	return n.farEnd(nic, func(h *netlink.Handle, far netlink.Link) error { return h.LinkSetDown(far) })
}
