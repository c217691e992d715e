package probe

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"time"

	"k8s.io/client-go/rest"
)

const (
	dialTimeout   = 3 * time.Second
	dialKeepAlive = 30 * time.Second
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
// reach does not count.
func (l *Live) apiServer(ctx context.Context) error {
	base, _, err := rest.DefaultServerUrlFor(l.KubeConfig)
	if err != nil {
		return fmt.Errorf("reading the API server's address: %w", err)
	}
	transport, err := l.apiTransport(ctx)
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
func (l *Live) apiTransport(ctx context.Context) (*http.Transport, error) {
	tls, err := rest.TLSConfigFor(l.KubeConfig)
	if err != nil {
		return nil, err
	}
	dial := l.KubeConfig.Dial
	if dial == nil {
		dial = (&net.Dialer{}).DialContext
	}
	transport := freshTransport(ctx, dial)
	transport.Proxy, transport.TLSClientConfig = l.KubeConfig.Proxy, tls
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
