//go:build linux

package lab

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/vishvananda/netlink"
)

// Node is one emulated node.
type Node struct {
	Name string

	lab  *Lab
	spec NodeSpec
}

// Nodes are the nodes of the topology, in its order.
func (l *Lab) Nodes() []*Node {
	var all []*Node
	for _, spec := range l.rec.Topology.Nodes {
		all = append(all, &Node{Name: spec.Name, lab: l, spec: spec})
	}
	return all
}

// Node finds a node by name.
func (l *Lab) Node(name string) (*Node, error) {
	var names []string
	for _, n := range l.Nodes() {
		if n.Name == name {
			return n, nil
		}
		names = append(names, n.Name)
	}
	return nil, fmt.Errorf("no node %q (there are: %s)", name, strings.Join(names, ", "))
}

func (n *Node) dir() string { return filepath.Join(n.lab.dir, "nodes", n.Name) }

func (n *Node) process() (process, error) { return findOne(roleNode, n.dir()) }

// PID is the node's pid 1, as the machine sees it that the node runs on.
func (n *Node) PID(ctx context.Context) (int, error) { return n.lab.pid(ctx, roleNode, n.dir()) }

func (l *Lab) pid(ctx context.Context, role, dir string) (int, error) {
	res, err := l.at.do(ctx, request{Verb: "pid", Target: role, Dir: dir})
	return res.PID, err
}

// ask sends a request to a process that runs where the nodes do.
func (l *Lab) ask(ctx context.Context, dir string, req request) (response, error) {
	return l.at.do(ctx, request{Verb: "ask", Dir: dir, Ask: &req})
}

// LogPath is where the log of a unit (dbus, nm, handler, node-init) is on the
// machine.
func (n *Node) LogPath(unit string) string { return filepath.Join(n.dir(), unit+".log") }

// Command is a program to run in a node.
type Command struct {
	Args   []string
	Env    []string // added to PATH, HOME, NODE_NAME and KUBECONFIG
	Dir    string   // "/" if empty
	Stdin  io.Reader
	Stdout io.Writer
	Stderr io.Writer
}

// Run runs a program in all of the node's namespaces and waits for it. The error
// of a program that ran is an Exit. When ctx ends it is killed.
func (n *Node) Run(ctx context.Context, c Command) error {
	if len(c.Args) == 0 {
		return errors.New("no program to run is given")
	}
	return n.lab.at.run(ctx, n.Name, c)
}

func (p here) run(ctx context.Context, node string, c Command) error {
	found, err := p.process(node)
	if err != nil {
		return err
	}
	return inside(found.pid, nodeAll, func() error {
		// The thread is in the node's mount namespace: the program is looked up there.
		path := c.Args[0]
		if !strings.Contains(path, "/") {
			path = lookPath(path)
		}
		cmd := exec.CommandContext(ctx, path, c.Args[1:]...)
		cmd.Args[0] = c.Args[0]
		cmd.Env = append([]string{"PATH=" + systemPath, "HOME=/root", "LANG=C.UTF-8",
			"NODE_NAME=" + node, "KUBECONFIG=" + nodeShare + "/kubeconfig"}, c.Env...)
		cmd.Dir = c.Dir
		if cmd.Dir == "" {
			cmd.Dir = "/"
		}
		cmd.Stdin, cmd.Stdout, cmd.Stderr = c.Stdin, c.Stdout, c.Stderr
		cmd.WaitDelay = time.Second // for what it leaves behind with our pipes
		return cmd.Run()
	})
}

// lookPath finds a program in systemPath, not in this process's PATH.
func lookPath(name string) string {
	for _, dir := range filepath.SplitList(systemPath) {
		path := filepath.Join(dir, name)
		if info, err := os.Stat(path); err == nil && !info.IsDir() && info.Mode()&0o111 != 0 {
			return path
		}
	}
	return filepath.Join("/usr/bin", name) // its absence is the error
}

// Exec runs a program in the node and returns its standard output. The error has
// its standard error.
func (n *Node) Exec(ctx context.Context, args ...string) ([]byte, error) {
	var out, errs bytes.Buffer
	err := n.Run(ctx, Command{Args: args, Stdout: &out, Stderr: &errs})
	if err != nil {
		return out.Bytes(), fmt.Errorf("%s: %s: %w: %s", n.Name, strings.Join(args, " "), err, strings.TrimSpace(errs.String()))
	}
	return out.Bytes(), nil
}

// Dial opens a connection from the node's network namespace. The address has an
// IP, not a name.
func (n *Node) Dial(ctx context.Context, network, address string) (net.Conn, error) {
	return n.lab.at.dial(ctx, n.Name, network, address)
}

// NM carries out start, stop, restart or kill (-9) of the node's NetworkManager.
// Start and restart return when it has finished its start-up. One that is paused
// (SIGSTOP) is there and does nothing until it is resumed.
func (n *Node) NM(ctx context.Context, verb string) error { return n.unit(ctx, verb, "nm") }

// OVSDB does the same with the database of Open vSwitch, where the node has one.
func (n *Node) OVSDB(ctx context.Context, verb string) error {
	if !n.spec.OpenVSwitch {
		return errors.New("this node has no Open vSwitch (openvswitch: true in the topology)")
	}
	return n.unit(ctx, verb, "ovsdb")
}

// Handler carries out start, stop, restart, kill or halt (both -9) of the node's handler.
// A killed one is started again after a second, as a DaemonSet would; one that was
// halted stays away. One that is stopped ends its transaction first.
func (n *Node) Handler(ctx context.Context, verb string) error {
	if len(n.lab.rec.Handler) == 0 {
		return errors.New("this lab was built without a handler (lab up --handler PATH)")
	}
	return n.unit(ctx, verb, "handler")
}

// SetHandlerArgs gives the node's handler other arguments from its next start
// on, until the node reboots.
func (n *Node) SetHandlerArgs(args ...string) error {
	spec, err := readNodeSpec(n.dir())
	if err != nil {
		return err
	}
	if len(spec.Handler) == 0 {
		return errors.New("this lab was built without a handler (lab up --handler PATH)")
	}
	spec.Handler = append(spec.Handler[:1:1], args...)
	return writeJSON(filepath.Join(n.dir(), "node.json"), spec)
}

func (n *Node) unit(ctx context.Context, verb, unit string) error {
	switch verb {
	case "start", "stop", "restart", "kill", "halt", "pause", "resume":
	default:
		return fmt.Errorf("%q is none of start, stop, restart, kill, halt, pause, resume", verb)
	}
	if _, err := n.lab.ask(ctx, n.dir(), request{Verb: verb, Target: unit}); err != nil {
		return fmt.Errorf("%s: %s of %s: %w", n.Name, verb, unit, err)
	}
	return nil
}

// Units tells what runs in the node.
func (n *Node) Units(ctx context.Context) ([]UnitStatus, error) {
	res, err := n.lab.ask(ctx, n.dir(), request{Verb: "status"})
	return res.Units, err
}

func (n *Node) nic(name string) (NICSpec, error) {
	var names []string
	for _, nic := range n.spec.NICs {
		if nic.Name == name {
			return nic, nil
		}
		names = append(names, nic.Name)
	}
	return NICSpec{}, fmt.Errorf("node %s has no NIC %q (it has: %s)", n.Name, name, strings.Join(names, ", "))
}

// farEnd runs f on the switch's end of a NIC.
func (n *Node) farEnd(nic string, f func(*netlink.Handle, netlink.Link) error) error {
	if _, err := n.nic(nic); err != nil {
		return err
	}
	return n.lab.withFabric(func(h *netlink.Handle) error {
		link, err := h.LinkByName(peerName(n.Name, nic))
		if err != nil {
			return fmt.Errorf("NIC %s of %s is not plugged in: %w", nic, n.Name, err)
		}
		return f(h, link)
	})
}

// Carrier takes the link of a NIC away, by setting its far end down, or gives it
// back.
func (n *Node) Carrier(ctx context.Context, nic string, up bool) error {
	if up {
		return n.order(ctx, "up", nic)
	}
	return n.order(ctx, "down", nic)
}

// Unplug removes a NIC from the node, as if it were pulled out.
func (n *Node) Unplug(ctx context.Context, nic string) error { return n.order(ctx, "unplug", nic) }

// Plug puts a NIC that was unplugged back in.
func (n *Node) Plug(ctx context.Context, nic string) error { return n.order(ctx, "plug", nic) }

func (n *Node) order(ctx context.Context, verb, nic string) error {
	_, err := n.lab.at.do(ctx, request{Verb: verb, Node: n.Name, Target: nic})
	return err
}

// Address is the static IPv4 address of the interface that carries the API
// server, empty with DHCP; the IPv6 one where it has no other.
func (n *Node) Address() string {
	if way := n.spec.way(); way.onlyIPv6() {
		return gatewayOf(way.Address6)
	}
	return gatewayOf(n.spec.way().Address)
}

// Gateway is the address, of the same family, of the gateway behind that interface.
func (n *Node) Gateway() string {
	way := n.spec.way()
	s := n.lab.rec.Topology.switchOf(way.Switch)
	if way.onlyIPv6() {
		return gatewayOf(s.Gateway6)
	}
	return gatewayOf(s.Gateway)
}
