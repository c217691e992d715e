package probe

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"strings"
	"time"

	"k8s.io/client-go/rest"
	"k8s.io/utils/clock"

	v1 "github.com/nmstate/kubernetes-nmstate/api/v1"
)

// DefaultDNSHost is what name servers are asked for unless Options say
// otherwise: it exists wherever there is an internet.
const DefaultDNSHost = "root-servers.net"

// Options are what the live probes need.
type Options struct {
	// Clock measures how long an attempt took.
	Clock clock.PassiveClock
	// DNSHost is the name to resolve; empty means DefaultDNSHost.
	DNSHost string
	// BusAddress is the D-Bus address at which NetworkManager is asked for
	// name servers; empty means the system bus at its usual path.
	BusAddress string
	// ResolvConf is read when NetworkManager knows of no name server; empty
	// means /etc/resolv.conf.
	ResolvConf string
	// KubeConfig says where the API server is; without it, there is no probe
	// of the API server.
	KubeConfig *rest.Config
	// TLS is what a URL's certificate is checked with; nil means the machine's
	// own authorities.
	TLS *tls.Config
	// NodeName is the node's name, for the messages.
	NodeName string
	// Ready tells whether the Node has the condition Ready; without it, there
	// is no probe of the node's readiness.
	Ready func(ctx context.Context) (bool, error)
}

// Live probes from the machine and the network namespace it runs in. It keeps
// nothing between two attempts.
type Live struct {
	Options
}

// New makes the live probes.
func New(options Options) *Live {
	if options.DNSHost == "" {
		options.DNSHost = DefaultDNSHost
	}
	if options.BusAddress == "" {
		options.BusAddress = "unix:path=/run/dbus/system_bus_socket"
	}
	if options.ResolvConf == "" {
		options.ResolvConf = "/etc/resolv.conf"
	}
	return &Live{Options: options}
}

// Names implements Prober.
func (l *Live) Names() []string {
	names := []string{DefaultGateway, DNS}
	if l.KubeConfig != nil {
		names = append(names, APIServer)
	}
	if l.Ready != nil {
		names = append(names, NodeReady)
	}
	return names
}

// Probe implements Prober.
func (l *Live) Probe(ctx context.Context, name string) error {
	err := ctx.Err()
	if err == nil {
		err = l.probe(ctx, name)
	}
	if err != nil {
		return fmt.Errorf("%s: %w", name, oneLine{err})
	}
	return nil
}

func (l *Live) probe(ctx context.Context, name string) error {
	switch {
	case name == DefaultGateway:
		return l.defaultGateway(ctx)
	case name == DNS:
		return l.resolves(ctx, l.DNSHost, defaultKinds()...)
	case name == APIServer && l.KubeConfig != nil:
		return l.apiServer(ctx)
	case name == NodeReady && l.Ready != nil:
		return l.nodeReady(ctx)
	case !strings.Contains(name, " "):
		return fmt.Errorf("no such probe; there are %s", strings.Join(l.Names(), ", "))
	}
	p, err := v1.ParseProbe(name)
	if err != nil {
		return err
	}
	return l.target(ctx, p)
}

func (l *Live) nodeReady(ctx context.Context) error {
	ready, err := l.Ready(ctx)
	if err != nil {
		return fmt.Errorf("reading node %s: %w", l.NodeName, err)
	}
	if !ready {
		return fmt.Errorf("node %s is not ready", l.NodeName)
	}
	return nil
}

// budget says how long an attempt could take at most: " within 1s". An attempt
// without a deadline is not limited.
func (l *Live) budget(ctx context.Context) func() string {
	deadline, limited := ctx.Deadline()
	if !limited {
		return func() string { return "" }
	}
	left := deadline.Sub(l.Clock.Now())
	return func() string { return " within " + left.Round(time.Millisecond*100).String() }
}

// silent tells whether nobody answered while ctx lasted. A dialer has the same
// deadline on a timer of its own, which may go off first.
func silent(ctx context.Context, err error) bool {
	var network net.Error
	return ctx.Err() != nil || (errors.As(err, &network) && network.Timeout())
}

// firstOf runs a task for each target side by side and returns nil as soon as
// one succeeds; the others are ended and waited for. Otherwise the error holds
// what each target said.
func firstOf[T any](ctx context.Context, targets []T, task func(ctx context.Context, target T) error) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	type answer struct {
		target int
		err    error
	}
	answers := make(chan answer)
	for i, target := range targets {
		go func() { answers <- answer{i, task(ctx, target)} }()
	}
	failures, passed := make([]error, len(targets)), false
	for range targets {
		a := <-answers
		failures[a.target] = a.err
		if a.err == nil {
			passed = true
			cancel()
		}
	}
	if passed {
		return nil
	}
	return errors.Join(failures...)
}

// oneLine keeps an error readable in a condition.
type oneLine struct{ error }

func (e oneLine) Error() string {
	return strings.Join(strings.FieldsFunc(e.error.Error(), func(r rune) bool { return r == '\n' || r == '\r' }), "; ")
}

func (e oneLine) Unwrap() error { return e.error }
