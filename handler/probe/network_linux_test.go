package probe_test

import (
	"context"
	"crypto/tls"
	"encoding/pem"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/vishvananda/netlink"
	"github.com/vishvananda/netns"
	"golang.org/x/net/dns/dnsmessage"
	"k8s.io/client-go/rest"
	"k8s.io/utils/clock"

	"github.com/nmstate/kubernetes-nmstate/handler/deadline"
	"github.com/nmstate/kubernetes-nmstate/handler/probe"
	"github.com/nmstate/kubernetes-nmstate/handler/probe/conformance"
)

const (
	gatewayIP  = "192.0.2.1"
	gatewayIP6 = "fe80::1"
)

// gateway is another namespace at the far end of this one's only link: it
// routes nowhere, serves DNS and an API server.
type gateway struct {
	space  netns.NsHandle
	handle *netlink.Handle
	link   netlink.Link
	node   netlink.Link
}

func must[T any](t *testing.T) func(value T, err error) T {
	return func(value T, err error) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return value
	}
}

func check(t *testing.T, errs ...error) {
	t.Helper()
	for _, err := range errs {
		if err != nil {
			t.Fatal(err)
		}
	}
}

// inside runs f on a thread of the namespace, which is thrown away.
func (g *gateway) inside(t *testing.T, f func() error) {
	t.Helper()
	done := make(chan error)
	go func() {
		runtime.LockOSThread()
		if err := netns.Set(g.space); err != nil {
			done <- err
			return
		}
		done <- f()
	}()
	check(t, <-done)
}

func newGateway(t *testing.T) *gateway {
	t.Helper()
	privateNetwork(t)
	g := &gateway{}
	made := make(chan error)
	go func() {
		runtime.LockOSThread() // Never unlocked: the thread ends with the goroutine.
		var err error
		g.space, err = netns.New()
		made <- err
	}()
	check(t, <-made)
	t.Cleanup(func() { _ = g.space.Close() })
	g.handle = must[*netlink.Handle](t)(netlink.NewHandleAt(g.space))
	t.Cleanup(g.handle.Close)

	pair := &netlink.Veth{LinkAttrs: netlink.LinkAttrs{Name: "up0"}, PeerName: "gw0"}
	check(t, netlink.LinkAdd(pair))
	t.Cleanup(func() { _ = netlink.LinkDel(pair) })
	far := must[netlink.Link](t)(netlink.LinkByName("gw0"))
	check(t, netlink.LinkSetNsFd(far, int(g.space)))
	g.node = must[netlink.Link](t)(netlink.LinkByName("up0"))
	g.link = must[netlink.Link](t)(g.handle.LinkByName("gw0"))
	address := func(text string) *netlink.Addr { return must[*netlink.Addr](t)(netlink.ParseAddr(text)) }
	check(t,
		netlink.AddrAdd(g.node, address("192.0.2.2/24")), netlink.LinkSetUp(g.node),
		g.handle.AddrAdd(g.link, address(gatewayIP+"/24")), g.handle.LinkSetUp(g.link),
	)
	return g
}

func (g *gateway) route(t *testing.T, via string) *netlink.Route {
	t.Helper()
	route := &netlink.Route{LinkIndex: g.node.Attrs().Index, Gw: net.ParseIP(via)}
	check(t, netlink.RouteAdd(route))
	return route
}

// serveDNS answers on the gateway's port 53 over UDP and TCP.
func (g *gateway) serveDNS(t *testing.T, answer func(network string, q dnsmessage.Question) dnsmessage.Message) {
	t.Helper()
	var packets net.PacketConn
	var streams net.Listener
	g.inside(t, func() error {
		var err error
		if packets, err = net.ListenPacket("udp4", gatewayIP+":53"); err == nil {
			streams, err = net.Listen("tcp4", gatewayIP+":53")
		}
		return err
	})
	t.Cleanup(func() { _ = packets.Close(); _ = streams.Close() })
	reply := func(network string, query []byte) []byte {
		var asked dnsmessage.Message
		if asked.Unpack(query) != nil {
			return nil
		}
		message := answer(network, asked.Questions[0])
		message.ID, message.Response, message.Questions = asked.ID, true, asked.Questions
		packet, _ := message.Pack()
		return packet
	}
	go func() {
		buffer := make([]byte, 1500)
		for {
			n, from, err := packets.ReadFrom(buffer)
			if err != nil {
				return
			}
			_, _ = packets.WriteTo(reply("udp", buffer[:n]), from)
		}
	}()
	go func() {
		for {
			conn, err := streams.Accept()
			if err != nil {
				return
			}
			buffer := make([]byte, 1500)
			if n, _ := conn.Read(buffer); n > 2 {
				packet := reply("tcp", buffer[2:n])
				_, _ = conn.Write(append([]byte{byte(len(packet) >> 8), byte(len(packet))}, packet...))
			}
			_ = conn.Close()
		}
	}()
}

func records(_ string, q dnsmessage.Question) dnsmessage.Message {
	header := dnsmessage.ResourceHeader{Name: q.Name, Type: q.Type, Class: q.Class}
	return dnsmessage.Message{Answers: []dnsmessage.Resource{{Header: header, Body: &dnsmessage.NSResource{NS: q.Name}}}}
}

// serveAPI serves TLS on the gateway and returns how to reach it.
func (g *gateway) serveAPI(t *testing.T, status *atomic.Int32) *rest.Config {
	t.Helper()
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(int(status.Load()))
	}))
	_ = server.Listener.Close()
	g.inside(t, func() error {
		var err error
		server.Listener, err = net.Listen("tcp4", gatewayIP+":6443")
		return err
	})
	server.TLS = &tls.Config{}
	server.Config.ErrorLog = log.New(io.Discard, "", 0)
	server.StartTLS()
	t.Cleanup(server.Close)
	ca := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw})
	return &rest.Config{
		Host:            "https://" + gatewayIP + ":6443",
		TLSClientConfig: rest.TLSClientConfig{CAData: ca, ServerName: "example.com"},
	}
}

func resolvConf(t *testing.T, servers ...string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "resolv.conf")
	check(t, os.WriteFile(path, []byte("nameserver "+strings.Join(servers, "\nnameserver ")+"\n"), 0o600))
	return path
}

func bareOptions(t *testing.T) probe.Options {
	t.Helper()
	return probe.Options{Clock: clock.RealClock{}, BusAddress: "unix:path=" + t.TempDir() + "/none", ResolvConf: resolvConf(t, gatewayIP)}
}

// try probes until the answer is the wanted one, since a link needs a moment.
func try(t *testing.T, l *probe.Live, name, want string) {
	t.Helper()
	const patience = 20 * time.Second
	for deadline := time.Now().Add(patience); ; {
		err := probe.Once(t.Context(), clock.RealClock{}, l, []string{name}, time.Second)[name]
		got := ""
		if err != nil {
			got = err.Error()
		}
		if got == want {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("got %q, want %q", got, want)
		}
	}
}

func TestLiveKeepsTheContract(t *testing.T) {
	conformance.Run(t, func(t *testing.T) conformance.Subject {
		g := newGateway(t)
		g.route(t, gatewayIP)
		named := zone(map[string][]string{"gw.example": {gatewayIP}})
		g.serveDNS(t, func(network string, q dnsmessage.Question) dnsmessage.Message {
			if q.Name.String() == "gw.example." {
				return named(network, q)
			}
			return records(network, q)
		})
		g.serveHTTP(t, gatewayIP+":8080", false, ok)
		var status atomic.Int32
		status.Store(http.StatusOK)
		var down atomic.Bool
		options := bareOptions(t)
		options.KubeConfig = g.serveAPI(t, &status)
		options.NodeName = "n1"
		options.Ready = func(context.Context) (bool, error) { return !down.Load(), nil }
		before := runtime.NumGoroutine()
		t.Cleanup(func() { // Runs before the servers end.
			for deadline := time.Now().Add(20 * time.Second); runtime.NumGoroutine() > before; time.Sleep(time.Millisecond) {
				if time.Now().After(deadline) {
					t.Fatalf("%d goroutines are left of %d", runtime.NumGoroutine(), before)
				}
			}
		})
		return conformance.Subject{
			Prober: probe.New(options), Clock: deadline.On(clock.RealClock{}),
			Targets: []string{"ping 192.0.2.1", "ping gw.example", "dns gw.example", "tcp gw.example:8080", "http http://gw.example:8080/"},
			Cut:     func(string) { down.Store(true); check(t, g.handle.LinkSetDown(g.link)) },
			Mend:    func(string) { down.Store(false); check(t, g.handle.LinkSetUp(g.link)) },
		}
	})
}

func TestDefaultGateway(t *testing.T) {
	g := newGateway(t)
	l := probe.New(bareOptions(t))
	try(t, l, probe.DefaultGateway, "default-gateway: the main routing table has no default gateway")

	other := &netlink.Route{LinkIndex: g.node.Attrs().Index, Gw: net.ParseIP(gatewayIP), Table: 100}
	check(t, netlink.RouteAdd(other))
	try(t, l, probe.DefaultGateway, "default-gateway: the main routing table has no default gateway")

	route := g.route(t, "192.0.2.9")
	err := probe.Once(t.Context(), clock.RealClock{}, l, []string{probe.DefaultGateway}, 300*time.Millisecond)[probe.DefaultGateway]
	if err == nil || !strings.Contains(err.Error(), "192.0.2.9") {
		t.Errorf("a gateway that is not there: %v", err)
	}
	check(t, netlink.RouteDel(route))

	hop := func(ip string) *netlink.NexthopInfo {
		return &netlink.NexthopInfo{LinkIndex: g.node.Attrs().Index, Gw: net.ParseIP(ip)}
	}
	everything := &net.IPNet{IP: net.IPv4zero, Mask: net.CIDRMask(0, 32)}
	hops := []*netlink.NexthopInfo{hop("192.0.2.9"), hop(gatewayIP)}
	check(t, netlink.RouteAdd(&netlink.Route{Dst: everything, MultiPath: hops}))
	try(t, l, probe.DefaultGateway, "") // One of several is enough.
}

func TestDefaultGatewayThatIsLinkLocal(t *testing.T) {
	address := must[*netlink.Addr](t)(netlink.ParseAddr(gatewayIP6 + "/64"))
	// The second time, the link has the name of the first one and another index.
	for _, name := range []string{"at first", "after the link was made anew"} {
		t.Run(name, func(t *testing.T) {
			g := newGateway(t)
			if err := g.handle.AddrAdd(g.link, address); err != nil {
				skip(t, fmt.Sprintf("this kernel runs without IPv6: %v", err))
			}
			g.route(t, gatewayIP6)
			l := probe.New(bareOptions(t))
			try(t, l, probe.DefaultGateway, "")
			check(t, g.handle.AddrDel(g.link, address))
			err := probe.Once(t.Context(), clock.RealClock{}, l, []string{probe.DefaultGateway}, time.Second)[probe.DefaultGateway]
			if err == nil || !strings.Contains(err.Error(), "fe80::1%up0") {
				t.Error(err)
			}
		})
	}
}

func TestPingIgnoresOthers(t *testing.T) {
	g := newGateway(t)
	g.route(t, "192.0.2.9")
	l := probe.New(bareOptions(t))
	dead := make(chan error, 1)
	go func() {
		dead <- probe.Once(t.Context(), clock.RealClock{}, l, []string{probe.DefaultGateway}, 3*time.Second)[probe.DefaultGateway]
	}()
	// Raw sockets see these answers too.
	for range 20 {
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		_ = probe.Ping(ctx, l.Clock, mustAddr(t, gatewayIP))
		cancel()
	}
	if err := <-dead; err == nil {
		t.Error("somebody else's answer passed")
	}
}

func TestDNS(t *testing.T) {
	onlyAddresses := func(network string, q dnsmessage.Question) dnsmessage.Message {
		if q.Type != dnsmessage.TypeA {
			return dnsmessage.Message{}
		}
		return records(network, q)
	}
	overTCP := func(network string, q dnsmessage.Question) dnsmessage.Message {
		if network == "udp" {
			return dnsmessage.Message{Header: dnsmessage.Header{Truncated: true}}
		}
		return records(network, q)
	}
	failing := func(string, dnsmessage.Question) dnsmessage.Message {
		return dnsmessage.Message{Header: dnsmessage.Header{RCode: dnsmessage.RCodeServerFailure}}
	}
	tests := map[string]struct {
		answer  func(string, dnsmessage.Question) dnsmessage.Message
		servers []string
		want    string
	}{
		"a server that resolves passes":            {records, []string{gatewayIP}, ""},
		"one of several is enough":                 {records, []string{"192.0.2.9", gatewayIP}, ""},
		"a host that has only addresses passes":    {onlyAddresses, []string{gatewayIP}, ""},
		"an answer that only fits into TCP passes": {overTCP, []string{gatewayIP}, ""},
		"a server without a way out fails":         {failing, []string{gatewayIP}, "dns: 192.0.2.1: answered SERVFAIL for root-servers.net."},
		"a server that is not there is named":      {records, []string{"192.0.2.9"}, "dns: 192.0.2.9 did not answer for root-servers.net within 1s"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			g := newGateway(t)
			g.serveDNS(t, test.answer)
			options := bareOptions(t)
			options.ResolvConf = resolvConf(t, test.servers...)
			try(t, probe.New(options), probe.DNS, test.want)
		})
	}
	t.Run("name servers are read afresh each time", func(t *testing.T) {
		newGateway(t).serveDNS(t, records)
		options := bareOptions(t)
		options.ResolvConf = filepath.Join(t.TempDir(), "resolv.conf")
		l := probe.New(options)
		check(t, os.WriteFile(options.ResolvConf, nil, 0o600))
		try(t, l, probe.DNS, "dns: the host has no name server")
		check(t, os.WriteFile(options.ResolvConf, []byte("nameserver "+gatewayIP+"\n"), 0o600))
		try(t, l, probe.DNS, "")
	})
}

func TestAPIServer(t *testing.T) {
	tests := map[string]struct {
		status int32
		want   string
	}{
		"ready":                                 {200, ""},
		"a refusal proves the path":             {403, ""},
		"unauthorized proves the path":          {401, ""},
		"not ready proves the path":             {500, ""},
		"a proxy that cannot reach it does not": {502, `api-server: something in front of 192.0.2.1:6443 answered "502 Bad Gateway"`},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			g := newGateway(t)
			var status atomic.Int32
			status.Store(test.status)
			options := bareOptions(t)
			options.KubeConfig = g.serveAPI(t, &status)
			try(t, probe.New(options), probe.APIServer, test.want)
		})
	}
	t.Run("somebody else with another certificate fails", func(t *testing.T) {
		g := newGateway(t)
		var status atomic.Int32
		status.Store(200)
		options := bareOptions(t)
		options.KubeConfig = g.serveAPI(t, &status)
		options.KubeConfig.CAData = nil
		err := probe.New(options).Probe(t.Context(), probe.APIServer)
		if err == nil || !strings.Contains(err.Error(), "certificate") {
			t.Error(err)
		}
	})
	t.Run("nobody there is said at once", func(t *testing.T) {
		newGateway(t)
		options := bareOptions(t)
		options.KubeConfig = &rest.Config{Host: "https://" + gatewayIP + ":6443"}
		try(t, probe.New(options), probe.APIServer, "api-server: 192.0.2.1:6443 cannot be reached: connection refused")
	})
}

func mustAddr(t *testing.T, text string) netip.Addr {
	t.Helper()
	return must[netip.Addr](t)(netip.ParseAddr(text))
}
