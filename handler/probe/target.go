package probe

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"strconv"

	"golang.org/x/net/dns/dnsmessage"

	v1 "github.com/nmstate/kubernetes-nmstate/api/v1"
)

// target runs a probe of a target that somebody named, as "tcp db:5432".
func (l *Live) target(ctx context.Context, p v1.Probe) error {
	switch p.Type {
	case v1.ProbePing:
		return l.reach(ctx, p.Target, l.pingTarget)
	case v1.ProbeDNS:
		return l.resolves(ctx, p.Target, dnsmessage.TypeA, dnsmessage.TypeAAAA, dnsmessage.TypeNS)
	case v1.ProbeTCP:
		host, port, err := v1.SplitTarget(p.Target)
		if err != nil {
			return err
		}
		return l.reach(ctx, host, func(ctx context.Context, address netip.Addr) error {
			return l.connect(ctx, address, port)
		})
	case v1.ProbeHTTP:
		return l.http(ctx, p.Target)
	}
	return fmt.Errorf("%s cannot be run by a node", p.Type) // confirm: a person's.
}

func (l *Live) pingTarget(ctx context.Context, address netip.Addr) error {
	return l.late(ctx, func() error { return ping(ctx, l.Clock, address) })
}

func (l *Live) connect(ctx context.Context, address netip.Addr, port uint16) error {
	return l.late(ctx, func() error {
		conn, err := dialAddress(ctx, address, port)
		if err != nil {
			return err
		}
		return conn.Close()
	})
}

// late runs a task and tells one that ctx ended from one that failed.
func (l *Live) late(ctx context.Context, task func() error) error {
	budget := l.budget(ctx)
	err := task()
	timeout := net.Error(nil) // A dialer may notice the deadline before ctx does.
	if err != nil && (ctx.Err() != nil || errors.As(err, &timeout) && timeout.Timeout()) {
		return fmt.Errorf("no answer%s", budget())
	}
	if err != nil {
		return readable(err)
	}
	return nil
}

func dialAddress(ctx context.Context, address netip.Addr, port uint16) (net.Conn, error) {
	to, err := onLink(address)
	if err != nil {
		return nil, err
	}
	// A port scan of one: nothing is sent, so there is nothing to keep alive.
	return (&net.Dialer{KeepAlive: -1}).DialContext(ctx, "tcp", netip.AddrPortFrom(to, port).String())
}

// http passes when the URL answers a GET with a status below 400. Redirects
// are not followed: that there is an answer is the proof, and where it leads is
// not what was named. Each of the host's addresses is asked on a connection of
// its own, past every proxy; a certificate that does not hold is a failure.
func (l *Live) http(ctx context.Context, target string) error {
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
	return l.reach(ctx, u.Hostname(), func(ctx context.Context, address netip.Addr) error {
		return l.late(ctx, func() error { return l.get(ctx, u, address, uint16(port)) })
	})
}

func (l *Live) get(ctx context.Context, u *url.URL, address netip.Addr, port uint16) error {
	transport := freshTransport(ctx, func(ctx context.Context, _, _ string) (net.Conn, error) {
		return dialAddress(ctx, address, port)
	})
	transport.TLSClientConfig = l.TLS.Clone()
	defer transport.CloseIdleConnections()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, u.String(), nil)
	if err != nil {
		return err
	}
	request.Header.Set("User-Agent", "kubernetes-nmstate")
	response, err := transport.RoundTrip(request)
	if err != nil {
		return err
	}
	defer func() { _ = response.Body.Close() }()
	if response.StatusCode >= http.StatusBadRequest {
		return fmt.Errorf("answered %q", response.Status)
	}
	return nil
}
