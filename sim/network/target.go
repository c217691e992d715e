package network

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"net/url"
	"slices"
	"strconv"
	"time"

	v1 "github.com/nmstate/kubernetes-nmstate/api/v1"
)

// target runs a probe of a target that somebody named, as "tcp db:5432".
func (p *Prober) target(ctx context.Context, named v1.Probe) error {
	switch named.Type {
	case v1.ProbePing:
		return p.reach(ctx, pingAgain, named.Target, p.ping)
	case v1.ProbeDNS:
		return p.resolves(ctx, named.Target)
	case v1.ProbeTCP:
		host, port, err := v1.SplitTarget(named.Target)
		if err != nil {
			return err
		}
		return p.reach(ctx, synAgain, host, func(address netip.Addr) *Cut {
			_, cut := p.connect(netip.AddrPortFrom(address, port))
			return cut
		})
	case v1.ProbeHTTP:
		return p.http(ctx, named.Target)
	}
	return fmt.Errorf("%s cannot be run by a node", named.Type)
}

func (p *Prober) http(ctx context.Context, target string) error {
	u, err := url.Parse(target)
	if err != nil {
		return err
	}
	port := uint64(80)
	if u.Scheme == "https" {
		port = 443
	}
	if u.Port() != "" {
		if port, err = strconv.ParseUint(u.Port(), 10, 16); err != nil {
			return err
		}
	}
	return p.reach(ctx, synAgain, u.Hostname(), func(address netip.Addr) *Cut {
		service, cut := p.connect(netip.AddrPortFrom(address, uint16(port)))
		switch {
		case cut != nil:
			return cut
		case service.Status == "":
			return &Cut{Why: service.Name + " speaks no HTTP", Said: "EOF"} // It hangs up.
		case statusFails(service.Status):
			return &Cut{Why: service.Name + " fails", Said: fmt.Sprintf("answered %q", service.Status)}
		}
		return nil
	})
}

// reach tries each address of a host, side by side, and passes as soon as one of them does.
func (p *Prober) reach(ctx context.Context, again time.Duration, host string, try func(netip.Addr) *Cut) error {
	budget := p.budget(ctx)
	said := func(cut *Cut) string {
		if cut.Said == "" {
			return "no answer" + budget
		}
		return cut.Said
	}
	if address, err := netip.ParseAddr(host); err == nil {
		return p.firstOf(ctx, again, []netip.Addr{address.Unmap()}, try, func(_ netip.Addr, cut *Cut) error {
			return errors.New(said(cut))
		})
	}
	addresses, err := p.lookUp(ctx, host)
	if err != nil {
		return err
	}
	return p.firstOf(ctx, again, addresses, try, func(address netip.Addr, cut *Cut) error {
		return fmt.Errorf("%s: %s", address, said(cut))
	})
}

// resolves passes as soon as one name server answers with a record.
func (p *Prober) resolves(ctx context.Context, host string) error {
	_, err := p.lookUp(ctx, host)
	return err
}

// lookUp asks the station's name servers for a name until one of them has it.
func (p *Prober) lookUp(ctx context.Context, host string) ([]netip.Addr, error) {
	servers := p.nameServers()
	if len(servers) == 0 {
		return nil, errors.New("the host has no name server")
	}
	return p.lookUpAt(ctx, servers, host)
}

// nameServers of the station, each once.
func (p *Prober) nameServers() []netip.Addr {
	var servers []netip.Addr
	for _, s := range p.station.Stack().NameServers {
		if s = s.Unmap(); !slices.Contains(servers, s) {
			servers = append(servers, s)
		}
	}
	return servers
}

func (p *Prober) lookUpAt(ctx context.Context, servers []netip.Addr, host string) ([]netip.Addr, error) {
	var found []netip.Addr
	budget := p.budget(ctx)
	err := p.firstOf(ctx, dnsAgain, servers, func(server netip.Addr) (cut *Cut) {
		found, cut = p.query(server, host)
		return cut
	}, func(server netip.Addr, cut *Cut) error {
		if cut.Said == "" {
			return fmt.Errorf("%s did not answer for %s%s", server, host, budget)
		}
		return fmt.Errorf("%s: %s", server, cut.Said)
	})
	return found, err
}

// query asks a name server once.
func (p *Prober) query(server netip.Addr, host string) ([]netip.Addr, *Cut) {
	service, cut := p.connect(netip.AddrPortFrom(server, dnsPort))
	switch {
	case cut != nil:
		return nil, cut
	case service.Zone == nil:
		return nil, &Cut{Why: service.Name + " is no name server"}
	case service.Zone.Code != "":
		return nil, &Cut{Why: service.Name + " does not resolve", Said: fmt.Sprintf("answered %s for %s.", service.Zone.Code, host)}
	}
	if found := service.Zone.look(host); len(found) > 0 {
		return found, nil
	}
	return nil, &Cut{Why: service.Name + " does not know " + host, Said: fmt.Sprintf("answered NXDOMAIN for %s.", host)}
}
