package scenario

import (
	"context"
	"fmt"
	"net/netip"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/nmstate/kubernetes-nmstate/sim/cluster"
	"github.com/nmstate/kubernetes-nmstate/sim/host"
	"github.com/nmstate/kubernetes-nmstate/sim/network"
	"github.com/nmstate/kubernetes-nmstate/sim/oracle"
)

// Process carries out what a person or a kubelet does.
func (b *Sim) Process(ctx context.Context, verb, part, node string) error {
	switch part {
	case "controllers":
		b.controllers(verb)
		return nil
	case "apiserver":
		return b.apiServer(verb)
	}
	n, err := b.node(node)
	if err != nil {
		return err
	}
	if part == "networkmanager" {
		return b.networkManager(ctx, verb, n.Host)
	}
	b.fault("crash", node, verb == "stop", verb == "start")
	switch verb {
	case "kill":
		n.KillHandler()
	case "stop":
		n.HoldHandler()
	case "start":
		n.ReleaseHandler()
	case "restart":
		n.ReplaceHandler()
	}
	return nil
}

// controllers: those that are stopped are out of everybody's reach.
func (b *Sim) controllers(verb string) {
	b.fault("leader-change", oracle.Controllers, verb == "stop", verb == "start")
	for _, r := range b.Replicas {
		switch verb {
		case "kill", "restart":
			r.Kill()
		default:
			r.SetCut(verb == "stop")
		}
	}
}

// apiServer that is stopped reaches nobody.
func (b *Sim) apiServer(verb string) error {
	away := verb == "stop" || verb == "kill"
	b.fault("api-server-away", "", away, !away)
	for _, n := range b.Nodes() {
		network.Effects{Cluster: b.Network}.Partition(n.Name, away, away)
	}
	for _, r := range b.Replicas {
		r.SetCut(away)
	}
	return nil
}

func (b *Sim) networkManager(ctx context.Context, verb string, h *host.Host) error {
	b.fault("nm-restart", h.Name, verb == "stop" || verb == "kill", verb == "start")
	switch verb {
	case "kill", "stop":
		h.StopNetworkManager()
		return nil
	case "start":
		h.StartNetworkManager()
		return nil
	}
	h.RestartNetworkManager(nmRestartTakes)
	_, err := b.Until(ctx, time.Minute, func() (bool, error) { return h.NetworkManagerRunning(), nil })
	return err
}

// Reboot returns when the node has booted.
func (b *Sim) Reboot(ctx context.Context, node string) error {
	n, err := b.node(node)
	if err != nil {
		return err
	}
	b.fault("reboot", node, false, false)
	n.Reboot(rebootTakes)
	_, err = b.Until(ctx, time.Minute, func() (bool, error) { return n.Host.On(), nil })
	return err
}

// Mode restarts all processes.
func (b *Sim) Mode(_ context.Context, centralized bool) error {
	mode := cluster.Distributed
	if centralized {
		mode = cluster.Centralized
	}
	if mode != b.Cluster.Mode() {
		b.fault("crash", "", false, false)
		b.SwitchMode(mode)
	}
	return nil
}

// Once runs a pass to its end.
func (b *Sim) Once(ctx context.Context, node string) (int, string, error) {
	n, err := b.node(node)
	if err != nil {
		return 0, "", err
	}
	pass := n.Once(onceTimeout)
	ended, err := b.Until(ctx, simPatience, func() (bool, error) { return pass.Ended, nil })
	switch {
	case err != nil || !ended:
		return 0, "", fmt.Errorf("the pass has not ended: %w", err)
	case pass.Err != nil:
		return 1, "handler: " + pass.Err.Error(), nil
	}
	return 0, "", nil
}

// Forget empties the disk of the handler.
func (b *Sim) Forget(_ context.Context, node string) error {
	n, err := b.node(node)
	if err == nil {
		b.fault("record-lost", node, false, false)
		n.Host.ForgetJournal()
	}
	return err
}

// Cut takes something out of a node's reach, or of everybody's.
func (b *Sim) Cut(_ context.Context, what, node string) error {
	effects := network.Effects{Cluster: b.Network}
	if what == network.GatewayName && node != "" {
		return fmt.Errorf("the gateway's pings are cut for all nodes or for none")
	}
	b.fault(what+"-gone", node, true, false)
	if what == network.GatewayName {
		effects.Service(what, false)
	} else {
		service := map[string]string{"api": network.APIServer, "dns": network.DNS}[what]
		for _, n := range b.Nodes() {
			if node == "" || n.Name == node {
				effects.Cut(n.Name, service, true, true)
				b.heals = append(b.heals, func() { effects.Cut(n.Name, service, false, false) })
			}
		}
	}
	b.heals = append(b.heals, func() { b.fault(what+"-gone", node, false, true) })
	return nil
}

// Heal takes back all cuts.
func (b *Sim) Heal(context.Context) error {
	network.Effects{Cluster: b.Network}.Service(network.GatewayName, true)
	for _, heal := range b.heals {
		heal()
	}
	b.heals = nil
	return nil
}

// Carrier of a NIC, by its cable.
func (b *Sim) Carrier(_ context.Context, node, nic string, up bool) error {
	n, err := b.node(node)
	if err == nil {
		b.fault("carrier-loss", node, !up, up)
		n.SetCable(nic, up)
	}
	return err
}

// Plug puts the hardware in, or takes it out.
func (b *Sim) Plug(_ context.Context, node, nic string, in bool) error {
	h, err := b.host(node)
	if err != nil {
		return err
	}
	b.fault("carrier-loss", node, !in, in)
	if !in {
		h.Unplug(nic)
		return nil
	}
	h.Plug(host.NIC{Name: nic, MAC: network.MACOf(node, nic)})
	return nil
}

// Drift changes the kernel by hand.
func (b *Sim) Drift(_ context.Context, node string, change []string) error {
	h, err := b.host(node)
	if err != nil {
		return err
	}
	b.fault("drift", node, false, false)
	did, err := byHand(h, change)
	if err == nil && !did {
		err = fmt.Errorf("%q: there is no such thing", strings.Join(change, " "))
	}
	return err
}

func byHand(h *host.Host, change []string) (bool, error) {
	words := append(slices.Clone(change), "", "", "", "", "", "", "")
	verb := words[0] + " " + words[1]
	switch {
	case words[0] == "mtu":
		mtu, err := strconv.Atoi(words[2])
		return h.SetMTU(words[1], mtu), err
	case verb == "address add" || verb == "address del":
		prefix, err := netip.ParsePrefix(words[3])
		if err != nil {
			return false, err
		}
		if words[1] == "add" {
			return h.AddAddress(words[2], prefix), nil
		}
		return h.RemoveAddress(words[2], prefix), nil
	case verb == "route del":
		to, err := netip.ParsePrefix(words[2])
		return err == nil && h.RemoveRoute(to), err
	case verb == "route add" && words[3] == "via" && words[5] == "dev":
		to, err := netip.ParsePrefix(words[2])
		if err != nil {
			return false, err
		}
		via, err := netip.ParseAddr(words[4])
		if err != nil {
			return false, err
		}
		return true, h.AddRoute(host.Route{To: to, Via: via, Dev: words[6], Table: host.MainTable, Protocol: host.Boot})
	case verb == "link add":
		kind := map[string]string{"bridge": "linux-bridge"}[words[3]]
		if kind == "" {
			kind = words[3]
		}
		return true, h.AddLink(host.Link{Name: words[2], Type: kind, MTU: 1500})
	case verb == "link del":
		return h.RemoveLink(words[2]), nil
	case verb == "link up" || verb == "link down":
		return h.SetUp(words[2], words[1] == "up"), nil
	}
	return false, fmt.Errorf("%q is no change that is known", strings.Join(change, " "))
}

// AddNode joins the next node; they come in the order of their numbers.
func (b *Sim) AddNode(_ context.Context, number int) error {
	n := b.AddSpare()
	if n == nil || n.Name != nodeOf(number).Name {
		return fmt.Errorf("node %d is not the next one", number)
	}
	b.fault("node-added", n.Name, false, false)
	return nil
}

// RemoveNode is kubectl delete node, and the machine switched off.
func (b *Sim) RemoveNode(_ context.Context, node string) error {
	if _, err := b.node(node); err != nil {
		return err
	}
	b.fault("node-removed", node, false, false)
	b.Remove(node)
	return nil
}
