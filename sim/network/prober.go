package network

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/netip"
	"strings"
	"time"

	v1 "github.com/nmstate/kubernetes-nmstate/api/v1"
	"github.com/nmstate/kubernetes-nmstate/handler/guard"
	"github.com/nmstate/kubernetes-nmstate/handler/probe"
	"github.com/nmstate/kubernetes-nmstate/sim/world"
)

// ProberOptions are what a node's probes need, as handler/probe's Options.
type ProberOptions struct {
	// API is where the API server is; without it, there is no such probe.
	API netip.AddrPort
	// Node is the node's name, for the messages.
	Node string
	// Ready tells whether the Node has the condition Ready; without it, there is no such probe.
	Ready func(ctx context.Context) (bool, error)
}

// Prober probes from a station on behalf of a process.
type Prober struct {
	ProberOptions

	network *Network
	station Station
	process *world.Process
}

// Prober makes the probes of a process; a new process needs a new one.
func (n *Network) Prober(p *world.Process, s Station, options ProberOptions) *Prober {
	n.Add(s)
	return &Prober{options, n, s, p}
}

// What is sent again, and how often: as the real probes and the kernel do.
const (
	pingAgain = 250 * time.Millisecond
	dnsAgain  = 500 * time.Millisecond
	synAgain  = time.Second
)

// Names implements probe.Prober.
func (p *Prober) Names() []string {
	names := []string{probe.DefaultGateway, probe.DNS}
	if p.API.IsValid() {
		names = append(names, probe.APIServer)
	}
	if p.Ready != nil {
		names = append(names, probe.NodeReady)
	}
	return names
}

// Probe implements probe.Prober.
func (p *Prober) Probe(ctx context.Context, name string) error {
	return p.call(ctx, name, func() error { return p.honest(ctx, name) })
}

func (p *Prober) call(ctx context.Context, name string, honest func() error) error {
	err := ctx.Err()
	if err == nil {
		var said error
		err = p.process.Call(ctx, "probe", "probe", name, func() error {
			said = p.deceive(ctx, name, honest)
			return said
		})
		if said != nil && ctx.Err() != nil {
			err = said // It took all the time there was, and says why.
		}
	}
	if err != nil {
		return fmt.Errorf("%s: %w", name, oneLine{err})
	}
	return nil
}

// errDeceived is what a probe says that lies.
var errDeceived = errors.New("no answer, says a probe that lies")

func (p *Prober) deceive(ctx context.Context, name string, honest func() error) error {
	deceit := p.network.deceit(p.station.Name(), name)
	if deceit.Slow > 0 && !p.process.Clock().Wait(ctx, nil, deceit.Slow) {
		return ctx.Err()
	}
	if deceit.fails(p.process.World().Elapsed()) {
		return errDeceived
	}
	return honest()
}

func (p *Prober) honest(ctx context.Context, name string) error {
	switch {
	case name == probe.DefaultGateway:
		return p.defaultGateway(ctx)
	case name == probe.DNS:
		return p.resolves(ctx, probe.DefaultDNSHost)
	case name == probe.APIServer && p.API.IsValid():
		return p.apiServer(ctx)
	case name == probe.NodeReady && p.Ready != nil:
		return p.nodeReady(ctx)
	case !strings.Contains(name, " "):
		return fmt.Errorf("no such probe; there are %s", strings.Join(p.Names(), ", "))
	}
	target, err := v1.ParseProbe(name)
	if err != nil {
		return err
	}
	return p.target(ctx, target)
}

func (p *Prober) nodeReady(ctx context.Context) error {
	ready, err := p.Ready(ctx)
	if err != nil {
		return fmt.Errorf("reading node %s: %w", p.Node, err)
	}
	if !ready {
		return fmt.Errorf("node %s is not ready", p.Node)
	}
	return nil
}

func (p *Prober) defaultGateway(ctx context.Context) error {
	gateways := p.gateways()
	if len(gateways) == 0 {
		return errors.New("the main routing table has no default gateway")
	}
	return p.pings(ctx, guard.Addresses(gateways))
}

func (p *Prober) pings(ctx context.Context, gateways []netip.Addr) error {
	budget := p.budget(ctx)
	return p.firstOf(ctx, pingAgain, gateways, func(gateway netip.Addr) *Cut { return p.ping(gateway) },
		func(gateway netip.Addr, cut *Cut) error {
			if cut.Said == "" {
				return fmt.Errorf("%s did not answer a ping%s", gateway, budget)
			}
			return fmt.Errorf("%s cannot be pinged: %s", gateway, cut.Said)
		})
}

// gateways are those of the default routes of the main table.
func (p *Prober) gateways() []guard.Target {
	var found []guard.Target
	for _, r := range p.station.Stack().Routes {
		if r.table() != Main || r.Destination.Bits() != 0 || !r.Gateway.IsValid() || r.Rejects {
			continue
		}
		gateway := r.Gateway
		if gateway.Is6() && gateway.IsLinkLocalUnicast() {
			gateway = gateway.WithZone(r.Link)
		}
		found = append(found, guard.Target{Address: gateway, Interface: r.Link, Metric: r.Metric})
	}
	return found
}

// Targets implements probe.Prober.
func (p *Prober) Targets(_ context.Context, name string) ([]guard.Target, error) {
	switch name {
	case probe.DefaultGateway:
		return p.gateways(), nil
	case probe.DNS:
		var found []guard.Target
		for _, server := range p.nameServers() {
			found = append(found, guard.Target{Address: server})
		}
		return found, nil
	}
	return nil, nil
}

// Ask implements probe.Prober.
func (p *Prober) Ask(ctx context.Context, name string, groups [][]netip.Addr) error {
	return p.call(ctx, name, func() error { return p.askGroups(ctx, name, groups) })
}

// askGroups asks one group after the other: time stands still while a target is asked that answers, and those
// that do not answer have all what is left.
func (p *Prober) askGroups(ctx context.Context, name string, groups [][]netip.Addr) error {
	var failures []error
	for _, group := range groups {
		switch name {
		case probe.DefaultGateway:
			failures = append(failures, p.pings(ctx, group))
		case probe.DNS:
			_, err := p.lookUpAt(ctx, group, probe.DefaultDNSHost)
			failures = append(failures, err)
		default:
			return errors.New("it has no targets")
		}
	}
	return errors.Join(failures...)
}

// ping tries once.
func (p *Prober) ping(target netip.Addr) *Cut {
	m := p.network.member(p.station)
	a := p.network.ask(m, target)
	if cut := a.cut(); cut != nil {
		if cut.Said == NoHost {
			return &Cut{Why: cut.Why} // A ping does not listen to routers.
		}
		return cut
	}
	return p.network.lost(m.name(), Pings+a.at.name())
}

func (p *Prober) apiServer(ctx context.Context) error {
	budget := p.budget(ctx)
	return p.firstOf(ctx, synAgain, []netip.Addr{p.API.Addr()}, func(netip.Addr) *Cut { return p.api() },
		func(_ netip.Addr, cut *Cut) error {
			switch {
			case cut.Said == "":
				return fmt.Errorf("%s did not answer%s", p.API, budget)
			case strings.HasPrefix(cut.Said, "5"):
				return fmt.Errorf("something in front of %s answered %q", p.API, cut.Said)
			}
			return fmt.Errorf("%s cannot be reached: %s", p.API, cut.Said)
		})
}

// api asks the API server once.
func (p *Prober) api() *Cut {
	service, cut := p.connect(p.API)
	if cut != nil {
		return cut
	}
	switch code, _, _ := strings.Cut(service.Status, " "); code {
	case "502", "503", "504":
		return &Cut{Why: APIServer + " is behind a proxy that cannot reach it", Said: service.Status}
	}
	return nil
}

func (p *Prober) connect(to netip.AddrPort) (*Service, *Cut) {
	service, err := p.network.Connect(p.station, to)
	if err != nil {
		cut := &Cut{}
		if !errors.As(err, &cut) {
			panic(err)
		}
		return nil, cut
	}
	return service, nil
}

// firstOf tries targets side by side until one passes, ctx ends, or all have
// failed at once. What nothing came back from is tried again each time again.
func (p *Prober) firstOf(
	ctx context.Context, again time.Duration, targets []netip.Addr, try func(netip.Addr) *Cut, say func(netip.Addr, *Cut) error,
) error {
	cuts := make([]*Cut, len(targets))
	for {
		silent := false
		for i, target := range targets {
			if cuts[i] != nil && cuts[i].Said != "" {
				continue
			}
			if cuts[i] = try(target); cuts[i] == nil {
				return nil
			}
			silent = silent || cuts[i].Said == ""
		}
		if !silent || !p.process.Clock().Wait(ctx, nil, again) {
			break
		}
	}
	failures := make([]error, len(targets))
	for i, cut := range cuts {
		failures[i] = say(targets[i], cut)
	}
	return errors.Join(failures...)
}

// budget says how long an attempt can take at most: " within 1s".
func (p *Prober) budget(ctx context.Context) string {
	deadline, limited := ctx.Deadline()
	if !limited {
		return ""
	}
	return " within " + deadline.Sub(p.process.Clock().Now()).Round(100*time.Millisecond).String()
}

// oneLine keeps an error readable in a condition.
type oneLine struct{ error }

func (e oneLine) Error() string {
	return strings.Join(strings.FieldsFunc(e.error.Error(), func(r rune) bool { return r == '\n' || r == '\r' }), "; ")
}

func (e oneLine) Unwrap() error { return e.error }

// statusFails tells whether an HTTP status is a failure.
func statusFails(status string) bool { return cmp.Compare(status, "4") >= 0 }
