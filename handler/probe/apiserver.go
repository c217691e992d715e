package probe

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"strings"
	"time"

	"k8s.io/client-go/rest"

	"github.com/nmstate/kubernetes-nmstate/handler/guard"
)

const (
	dialTimeout   = 3 * time.Second
	dialKeepAlive = 30 * time.Second
	// The request is longer than the longest Ethernet packet (9,216 bytes), and each of its
	// headers shorter than what proxies take of one (8 KiB).
	paddings, padding = 3, 3500
)

// Dial is how the handler's client dials the API server. A connection that was
// begun from an address that was then taken back never comes about, and the
// usual 30 s would be added to each outage.
func Dial(ctx context.Context, network, address string) (net.Conn, error) {
	dialer := net.Dialer{Timeout: dialTimeout, KeepAlive: dialKeepAlive}
	return dialer.DialContext(ctx, network, address)
}

// apiServer passes when the API server answers over TLS, whatever it says: the
// probe is about the path, so a refusal or a server that is not ready proves as
// much as an "ok". Only what a proxy says on behalf of a server that it cannot
// reach does not count. The request fills packets of the largest size that the path
// is said to carry: a switch that carries less drops them without a word, and lets
// everything that is short through.
func (l *Live) apiServer(ctx context.Context) error {
	return l.apiServerBy(ctx, l.apiDial())
}

// apiServerAt asks one address of the API server.
func (l *Live) apiServerAt(ctx context.Context, address netip.Addr) error {
	dial := l.apiDial()
	err := l.apiServerBy(ctx, func(ctx context.Context, network, target string) (net.Conn, error) {
		_, port, err := net.SplitHostPort(target)
		if err != nil {
			return nil, err
		}
		return dial(ctx, network, net.JoinHostPort(address.String(), port))
	})
	if err != nil {
		return fmt.Errorf("%s: %w", address, err)
	}
	return nil
}

// apiServers are the addresses of the API server's host; nil where it is an
// address itself, and where a proxy is asked, who looks names up.
func (l *Live) apiServers(ctx context.Context) ([]guard.Target, error) {
	base, _, err := rest.DefaultServerUrlFor(l.KubeConfig)
	if err != nil {
		return nil, fmt.Errorf("reading the API server's address: %w", err)
	}
	if _, err := netip.ParseAddr(base.Hostname()); err == nil {
		return nil, nil
	}
	if l.KubeConfig.Proxy != nil {
		if proxy, err := l.KubeConfig.Proxy(&http.Request{URL: base}); err != nil || proxy != nil {
			return nil, err
		}
	}
	// As the client does, by the hosts file too.
	addresses, err := net.DefaultResolver.LookupNetIP(ctx, "ip", base.Hostname())
	if err != nil {
		return nil, fmt.Errorf("looking up %s: %w", base.Hostname(), err)
	}
	var found []guard.Target
	for _, address := range addresses[:min(len(addresses), maxAddresses)] {
		found = append(found, guard.Target{Address: address.Unmap()})
	}
	return found, nil
}

type dialer func(ctx context.Context, network, address string) (net.Conn, error)

func (l *Live) apiDial() dialer {
	if l.KubeConfig.Dial != nil {
		return l.KubeConfig.Dial
	}
	return (&net.Dialer{}).DialContext
}

func (l *Live) apiServerBy(ctx context.Context, dial dialer) error {
	base, _, err := rest.DefaultServerUrlFor(l.KubeConfig)
	if err != nil {
		return fmt.Errorf("reading the API server's address: %w", err)
	}
	transport, err := l.apiTransport(ctx, dial)
	if err != nil {
		return fmt.Errorf("preparing the connection to %s: %w", base.Host, err)
	}
	defer transport.CloseIdleConnections()
	authenticated, err := rest.HTTPWrappersForConfig(l.KubeConfig, transport)
	if err != nil {
		return fmt.Errorf("preparing the credentials for %s: %w", base.Host, err)
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, base.JoinPath("readyz").String(), nil)
	if err != nil {
		return err
	}
	for i := range paddings {
		request.Header.Set(fmt.Sprintf("X-Padding-%d", i+1), strings.Repeat("0", padding))
	}
	budget := l.budget(ctx)
	response, err := authenticated.RoundTrip(request)
	if err != nil {
		if silent(ctx, err) {
			return fmt.Errorf("%s did not answer%s", base.Host, budget())
		}
		return fmt.Errorf("%s cannot be reached: %w", base.Host, readable(err))
	}
	defer func() { _ = response.Body.Close() }()
	switch response.StatusCode {
	case http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout:
		return fmt.Errorf("something in front of %s answered %q", base.Host, response.Status)
	}
	return nil
}

// apiTransport makes a transport that shares nothing with client-go's cached
// ones: a connection from before a change can outlive the path it used.
func (l *Live) apiTransport(ctx context.Context, dial dialer) (*http.Transport, error) {
	tls, err := rest.TLSConfigFor(l.KubeConfig)
	if err != nil {
		return nil, err
	}
	transport := freshTransport(ctx, dial)
	transport.Proxy, transport.TLSClientConfig = l.KubeConfig.Proxy, tls
	// The request goes in one piece, which TCP cuts as the path is said to carry it.
	transport.WriteBufferSize = 2 * paddings * padding
	if tls != nil {
		tls.DynamicRecordSizingDisabled = true
	}
	return transport, nil
}

// freshTransport is for one request. What it opens ends with ctx, since
// net/http would finish a dial in the background. It knows no proxy.
func freshTransport(ctx context.Context, dial func(ctx context.Context, network, address string) (net.Conn, error)) *http.Transport {
	return &http.Transport{
		DisableKeepAlives: true,
		DialContext: func(_ context.Context, network, address string) (net.Conn, error) {
			conn, err := dial(ctx, network, address)
			if err != nil {
				return nil, err
			}
			if ctx.Err() != nil {
				return nil, errors.Join(ctx.Err(), conn.Close())
			}
			return &bound{Conn: conn, release: context.AfterFunc(ctx, func() { _ = conn.Close() })}, nil
		},
	}
}

// bound is a connection that is closed at the latest when its context ends.
type bound struct {
	net.Conn
	release func() bool
}

func (b *bound) Close() error {
	b.release()
	return b.Conn.Close()
}
