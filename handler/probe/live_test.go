package probe

import (
	"context"
	"errors"
	"net"
	"net/netip"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/godbus/dbus/v5"
	"github.com/google/go-cmp/cmp"
	"golang.org/x/net/dns/dnsmessage"
	"k8s.io/client-go/rest"
	"k8s.io/utils/clock"
)

func TestNamesFollowWhatThereIsToProbe(t *testing.T) {
	ready := func(context.Context) (bool, error) { return true, nil }
	tests := map[string]struct {
		options Options
		want    []string
	}{
		"a bare machine": {Options{}, []string{DefaultGateway, DNS}},
		"a node":         {Options{KubeConfig: &rest.Config{}, Ready: ready}, []string{DefaultGateway, DNS, APIServer, NodeReady}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			test.options.Clock = clock.RealClock{}
			if diff := cmp.Diff(test.want, New(test.options).Names()); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestNodeReady(t *testing.T) {
	tests := map[string]struct {
		ready bool
		err   error
		want  string
	}{
		"a ready node passes":         {ready: true},
		"a node that is not does not": {want: "node-ready: node n1 is not ready"},
		"a node that cannot be read":  {err: errors.New("one\ntwo"), want: "node-ready: reading node n1: one; two"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			l := New(Options{
				Clock: clock.RealClock{}, NodeName: "n1",
				Ready: func(context.Context) (bool, error) { return test.ready, test.err },
			})
			got := ""
			if err := l.Probe(t.Context(), NodeReady); err != nil {
				got = err.Error()
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestUnknownProbeNamesTheKnown(t *testing.T) {
	err := New(Options{Clock: clock.RealClock{}}).Probe(t.Context(), "dsn")
	if err == nil || err.Error() != "dsn: no such probe; there are default-gateway, dns" {
		t.Error(err)
	}
}

func TestFirstOf(t *testing.T) {
	t.Run("one that passes ends the others", func(t *testing.T) {
		err := firstOf(t.Context(), []int{1, 2, 3}, func(ctx context.Context, i int) error {
			if i == 2 {
				return nil
			}
			<-ctx.Done()
			return ctx.Err()
		})
		if err != nil {
			t.Error(err)
		}
	})
	t.Run("when none passes, all are named in their order", func(t *testing.T) {
		err := firstOf(t.Context(), []string{"a", "b"}, func(_ context.Context, s string) error { return errors.New(s) })
		if err == nil || (oneLine{err}).Error() != "a; b" {
			t.Error(err)
		}
	})
}

func TestParseNameServers(t *testing.T) {
	got := parseNameServers([]string{
		"192.0.2.1", "192.0.2.1", "2001:db8::1", "fe80::1%eth0", "dns+udp://192.0.2.2", "dns+udp://[2001:db8::2]:53",
		"192.0.2.3#dns.example", "dns+tls://192.0.2.4", "nonsense", "", "::ffff:192.0.2.5",
	})
	var want []netip.Addr
	for _, text := range []string{"192.0.2.1", "2001:db8::1", "fe80::1%eth0", "192.0.2.2", "2001:db8::2", "192.0.2.3", "192.0.2.5"} {
		want = append(want, netip.MustParseAddr(text))
	}
	if diff := cmp.Diff(want, got, cmp.Comparer(func(a, b netip.Addr) bool { return a == b })); diff != "" {
		t.Error(diff)
	}
}

func TestNetworkManagersEntries(t *testing.T) {
	link := map[string]dbus.Variant{"nameservers": dbus.MakeVariant([]string{"192.0.2.1", "fe80::1"}), "interface": dbus.MakeVariant("eth0")}
	tests := map[string]struct {
		entries []map[string]dbus.Variant
		want    []string
	}{
		"those of every interface count, a link-local one with its link": {
			[]map[string]dbus.Variant{
				link, {"domains": dbus.MakeVariant([]string{"example.com"})}, {"nameservers": dbus.MakeVariant(7)},
				{"nameservers": dbus.MakeVariant([]string{"192.0.2.2"}), "domains": dbus.MakeVariant([]string{"example.com"})},
			},
			[]string{"192.0.2.1", "fe80::1%eth0", "192.0.2.2"},
		},
		"global ones are the only ones": {
			[]map[string]dbus.Variant{link, {"nameservers": dbus.MakeVariant([]string{"192.0.2.2"})}},
			[]string{"192.0.2.2"},
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(test.want, entryServers(test.entries)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestResolvConf(t *testing.T) {
	got := resolvConfServers("# nameserver 192.0.2.9\nsearch example.com\nnameserver 192.0.2.1\n\tnameserver\t::1 # local\nnameserver\n")
	if diff := cmp.Diff([]string{"192.0.2.1", "::1"}, got); diff != "" {
		t.Error(diff)
	}
}

func answerTo(t *testing.T, q question, change func(*dnsmessage.Message)) []byte {
	t.Helper()
	message := dnsmessage.Message{
		Header:    dnsmessage.Header{ID: q.id, Response: true},
		Questions: []dnsmessage.Question{q.ask},
		Answers: []dnsmessage.Resource{{
			Header: dnsmessage.ResourceHeader{Name: q.ask.Name, Type: q.ask.Type, Class: q.ask.Class},
			Body:   &dnsmessage.AResource{A: [4]byte{192, 0, 2, 1}},
		}},
	}
	change(&message)
	packet, err := message.Pack()
	if err != nil {
		t.Fatal(err)
	}
	return packet
}

func TestJudge(t *testing.T) {
	q, err := newQuestion("root-servers.net", dnsmessage.TypeA)
	if err != nil {
		t.Fatal(err)
	}
	other := dnsmessage.MustNewName("example.com.")
	tests := map[string]struct {
		change func(*dnsmessage.Message)
		ours   bool
		want   string
	}{
		"a record passes":             {func(*dnsmessage.Message) {}, true, ""},
		"another id is not ours":      {func(m *dnsmessage.Message) { m.ID++ }, false, ""},
		"a query is not ours":         {func(m *dnsmessage.Message) { m.Response = false }, false, ""},
		"another name is not ours":    {func(m *dnsmessage.Message) { m.Questions[0].Name = other }, false, ""},
		"a server without a way out":  {func(m *dnsmessage.Message) { m.RCode = 2 }, true, "answered SERVFAIL for root-servers.net."},
		"a server that refuses":       {func(m *dnsmessage.Message) { m.RCode = 5 }, true, "answered REFUSED for root-servers.net."},
		"a server that knows nothing": {func(m *dnsmessage.Message) { m.RCode = 3 }, true, "answered NXDOMAIN for root-servers.net."},
		"a code without a name":       {func(m *dnsmessage.Message) { m.RCode = 9 }, true, "answered code 9 for root-servers.net."},
		"a referral":                  {func(m *dnsmessage.Message) { m.Answers = nil }, true, "has no record of root-servers.net."},
		"an answer that was cut off":  {func(m *dnsmessage.Message) { m.Truncated = true }, true, errTruncated.Error()},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			ours, err := q.judge(answerTo(t, q, test.change))
			got := ""
			if err != nil {
				got = err.Error()
			}
			if ours != test.ours || got != test.want {
				t.Errorf("ours %v, %q", ours, got)
			}
		})
	}
}

func TestHostNameThatIsNone(t *testing.T) {
	path := t.TempDir() + "/resolv.conf"
	if err := os.WriteFile(path, []byte("nameserver 127.0.0.1\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	l := New(Options{Clock: clock.RealClock{}, DNSHost: strings.Repeat("x", 300), ResolvConf: path, BusAddress: "unix:path=" + path})
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	if err := l.Probe(ctx, DNS); err == nil || !strings.Contains(err.Error(), "is not a host name") {
		t.Error(err)
	}
}

func TestADialThatEndsBeforeItsContextIsNoAnswer(t *testing.T) {
	timedOut := func(context.Context, string, string) (net.Conn, error) {
		return nil, &net.OpError{Op: "dial", Net: "tcp", Err: os.ErrDeadlineExceeded}
	}
	l := New(Options{Clock: clock.RealClock{}, KubeConfig: &rest.Config{Host: "http://192.0.2.1:6443", Dial: timedOut}})
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	if err := l.Probe(ctx, APIServer); err == nil || err.Error() != "api-server: 192.0.2.1:6443 did not answer within 10s" {
		t.Error(err)
	}
}

func TestNoNameServerAnywhere(t *testing.T) {
	none := t.TempDir() + "/none"
	err := New(Options{Clock: clock.RealClock{}, ResolvConf: none, BusAddress: "unix:path=" + none}).Probe(t.Context(), DNS)
	if err == nil || !strings.Contains(err.Error(), "neither NetworkManager") || strings.Contains(err.Error(), "\n") {
		t.Error(err)
	}
}
