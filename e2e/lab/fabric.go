//go:build linux

package lab

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/vishvananda/netlink"
	"golang.org/x/sys/unix"
	"k8s.io/utils/clock"
)

// fabric is the process behind the switches: pid 1 of its own namespaces.
type fabric struct {
	dir   string
	topo  *Topology
	sup   *supervisor
	proxy *proxy
}

func bridgeName(s string) string { return "sw-" + s }

// peerName is the far end of a NIC's pair, in the fabric.
func peerName(node, nic string) string {
	if name := node + "." + nic; len(name) <= 15 {
		return name
	}
	sum := sha256.Sum256([]byte(node + "." + nic))
	return "nic-" + hex.EncodeToString(sum[:5])
}

// macOf makes a locally administered address that is the same in each run, so
// that a node looks the same when it is built again.
func macOf(parts ...string) net.HardwareAddr {
	sum := sha256.Sum256([]byte(strings.Join(parts, "/")))
	return net.HardwareAddr{0x02, sum[0], sum[1], sum[2], sum[3], sum[4]}
}

// runFabric is the main of the fabric process. Descriptor 3 is the network
// namespace from which the API server is dialled.
func runFabric(ctx context.Context, dir string) error {
	unix.CloseOnExec(3)
	rec, err := readRecord(filepath.Dir(dir))
	if err != nil {
		return err
	}
	if err := cutMounts(); err != nil {
		return err
	}
	for _, s := range rec.Topology.Switches {
		if err := makeSwitch(s); err != nil {
			return fmt.Errorf("making switch %s: %w", s.Name, err)
		}
	}
	f := &fabric{dir: dir, topo: rec.Topology, proxy: newProxy(os.NewFile(3, "host network namespace"))}
	var units []*unit
	for _, s := range rec.Topology.Switches {
		u, err := f.dnsmasq(s, "")
		if err != nil {
			return err
		}
		units = append(units, u)
	}
	f.sup = newSupervisor(clock.RealClock{}, units...)
	go f.sup.reap(ctx)
	for _, u := range units {
		if err := f.sup.start(ctx, u.name); err != nil {
			return err
		}
	}
	for _, s := range rec.Topology.Services {
		if err := f.service(ctx, s); err != nil {
			return fmt.Errorf("service %s: %w", s.Name, err)
		}
	}
	announcer, err := newAnnouncer(rec.Topology)
	if err != nil {
		return fmt.Errorf("announcing the switches: %w", err)
	}
	if err := serve(ctx, dir, f.answer); err != nil {
		return err
	}
	return announcer.run(ctx, clock.RealClock{})
}

// answer adds to the common requests: wait (the socket opens last, so asking is
// enough) and api, whose target is "off" or the address to dial.
func (f *fabric) answer(ctx context.Context, req request) response {
	switch req.Verb {
	case "wait":
		return response{}
	case "api":
		if err := f.proxy.set(ctx, f.gateways(), req.Target); err != nil {
			return response{Error: err.Error()}
		}
		return response{}
	case "switch":
		if err := f.faulty(ctx, req.Target, req.Args[0], req.Args[1]); err != nil {
			return response{Error: err.Error()}
		}
		return response{}
	case "gateway":
		if err := f.gateway(req.Target, slices.Equal(req.Args, []string{"on"})); err != nil {
			return response{Error: err.Error()}
		}
		return response{}
	}
	return f.sup.answer(ctx, req)
}

func (f *fabric) gateways() []string {
	var all []string
	for _, s := range f.topo.Switches {
		all = append(all, gatewayOf(s.Gateway))
		if s.Gateway6 != "" {
			all = append(all, gatewayOf(s.Gateway6))
		}
	}
	return all
}

// gatewayOf drops the prefix length of an address that was checked before.
func gatewayOf(cidr string) string {
	p, err := netip.ParsePrefix(cidr)
	if err != nil {
		return ""
	}
	return p.Addr().String()
}

func makeSwitch(s SwitchSpec) error {
	lo, err := netlink.LinkByName("lo")
	if err != nil {
		return fmt.Errorf("finding lo: %w", err)
	}
	if err := netlink.LinkSetUp(lo); err != nil {
		return fmt.Errorf("setting lo up: %w", err)
	}
	br, err := makeSegment(s)
	if err != nil {
		return err
	}
	if err := netlink.LinkSetUp(br); err != nil {
		return fmt.Errorf("setting it up: %w", err)
	}
	return addAddresses(s, br)
}

// addAddresses gives a switch's segment the gateway's and the peers' addresses.
func addAddresses(s SwitchSpec, br netlink.Link) error {
	gw, err := netip.ParsePrefix(s.Gateway)
	if err != nil {
		return fmt.Errorf("reading the gateway's address: %w", err)
	}
	addresses := []string{s.Gateway}
	if s.Gateway6 != "" {
		addresses = append(addresses, s.Gateway6)
	}
	for _, p := range s.Peers {
		addresses = append(addresses, fmt.Sprintf("%s/%d", p.Address, gw.Bits()))
	}
	for _, a := range addresses {
		addr, err := netlink.ParseAddr(a)
		if err != nil {
			return fmt.Errorf("reading %s: %w", a, err)
		}
		addr.Flags = unix.IFA_F_NODAD // usable at once
		if err := netlink.AddrReplace(br, addr); err != nil {
			return fmt.Errorf("adding %s: %w", a, err)
		}
	}
	return nil
}

// makeSegment makes the link that stands for a switch: a bridge, or the VLAN of
// one.
func makeSegment(s SwitchSpec) (netlink.Link, error) {
	// A bridge without an address of its own takes its ports', and changes it
	// with them: neighbours would lose the gateway for a while.
	attrs := netlink.LinkAttrs{Name: bridgeName(s.Name), HardwareAddr: macOf("switch", s.Name)}
	if s.Over == "" {
		snooping := false
		br := &netlink.Bridge{LinkAttrs: attrs, MulticastSnooping: &snooping}
		if err := netlink.LinkAdd(br); err != nil {
			return nil, fmt.Errorf("creating a bridge: %w", err)
		}
		return br, nil
	}
	base, err := netlink.LinkByName(bridgeName(s.Over))
	if err != nil {
		return nil, fmt.Errorf("finding switch %s: %w", s.Over, err)
	}
	attrs.ParentIndex = base.Attrs().Index
	vlan := &netlink.Vlan{LinkAttrs: attrs, VlanId: s.VLAN}
	if err := netlink.LinkAdd(vlan); err != nil {
		return nil, fmt.Errorf("creating VLAN %d of %s: %w (a kernel without VLANs? lab up --vm has one with)", s.VLAN, s.Over, err)
	}
	return vlan, nil
}

// dnsmasq is the gateway's DHCP, DNS and router advertisements on one switch, with more
// lines in its configuration than the topology has.
func (f *fabric) dnsmasq(s SwitchSpec, more string) (*unit, error) {
	conf := filepath.Join(f.dir, "dnsmasq-"+s.Name+".conf")
	if err := os.WriteFile(conf, []byte(dnsmasqConf(f.topo, s, f.dir)+more), 0o644); err != nil {
		return nil, fmt.Errorf("writing dnsmasq's configuration: %w", err)
	}
	return &unit{
		name:    "dnsmasq-" + s.Name,
		argv:    []string{"dnsmasq", "--conf-file=" + conf, "--keep-in-foreground"},
		logFile: filepath.Join(f.dir, "dnsmasq-"+s.Name+".log"),
		restart: true,
	}, nil
}

func dnsmasqConf(t *Topology, s SwitchSpec, dir string) string {
	gw := gatewayOf(s.Gateway)
	lines := []string{
		"user=root", "pid-file=", "log-facility=-", "no-hosts", "no-resolv", "no-poll",
		"bind-dynamic", "interface=" + bridgeName(s.Name), "except-interface=lo",
		"dhcp-leasefile=" + filepath.Join(dir, "leases-"+s.Name), "dhcp-authoritative",
	}
	if s.DHCP != nil {
		lines = append(lines, fmt.Sprintf("dhcp-range=%s,%s,1h", s.DHCP.From, s.DHCP.To), "no-ping")
	}
	if s.RA {
		lines = append(lines, "enable-ra", fmt.Sprintf("dhcp-range=::,constructor:%s,ra-only,64,1h", bridgeName(s.Name)))
	}
	if !s.DNS {
		return strings.Join(append(lines, "port=0"), "\n") + "\n"
	}
	lines = append(lines, "host-record=gateway,gateway.lab.example,"+gw, "host-record=a.root-servers.net,"+gw)
	for _, n := range t.Nodes {
		if a := gatewayOf(n.way().Address); a != "" {
			lines = append(lines, "host-record="+n.Name+","+n.Name+".lab.example,"+a)
		}
	}
	for _, p := range s.Peers {
		lines = append(lines, "host-record="+p.Name+","+p.Name+".lab.example,"+p.Address)
	}
	// The older project's DNS probe asks for these; type 2 is NS.
	ns := hex.EncodeToString([]byte("\x01a\x0croot-servers\x03net\x00"))
	lines = append(lines, "host-record=root-servers.net,"+gw,
		"dns-rr=root-servers.net,2,"+ns, "local=/#/")
	return strings.Join(lines, "\n") + "\n"
}

// readRecord reads what Up wrote about the lab in dir.
func readRecord(dir string) (*record, error) {
	raw, err := os.ReadFile(filepath.Join(dir, "lab.json"))
	if errors.Is(err, os.ErrNotExist) {
		return nil, fmt.Errorf("no lab %q is up (lab up starts one)", filepath.Base(dir))
	}
	if err != nil {
		return nil, fmt.Errorf("reading the lab's record: %w", err)
	}
	rec := &record{}
	if err := json.Unmarshal(raw, rec); err != nil {
		return nil, fmt.Errorf("reading the lab's record: %w", err)
	}
	return rec, nil
}
