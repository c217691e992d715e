package probe_test

import (
	"crypto/tls"
	"crypto/x509"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/vishvananda/netlink"
	"golang.org/x/net/dns/dnsmessage"
	"k8s.io/utils/clock"

	"github.com/nmstate/kubernetes-nmstate/handler/probe"
)

// zone answers for addresses of names, and for nothing else.
func zone(hosts map[string][]string) func(string, dnsmessage.Question) dnsmessage.Message {
	return func(_ string, q dnsmessage.Question) dnsmessage.Message {
		addresses, known := hosts[strings.TrimSuffix(q.Name.String(), ".")]
		if !known {
			return dnsmessage.Message{Header: dnsmessage.Header{RCode: dnsmessage.RCodeNameError}}
		}
		message := dnsmessage.Message{}
		for _, text := range addresses {
			address := netip.MustParseAddr(text)
			resource := dnsmessage.Resource{Header: dnsmessage.ResourceHeader{Name: q.Name, Class: q.Class}}
			switch {
			case address.Is4() && q.Type == dnsmessage.TypeA:
				resource.Body = &dnsmessage.AResource{A: address.As4()}
			case address.Is6() && q.Type == dnsmessage.TypeAAAA:
				resource.Body = &dnsmessage.AAAAResource{AAAA: address.As16()}
			default:
				continue
			}
			message.Answers = append(message.Answers, resource)
		}
		return message
	}
}

// serveHTTP serves on the gateway; with TLS the certificate is example.com's.
func (g *gateway) serveHTTP(t *testing.T, address string, secure bool, handler http.HandlerFunc) *httptest.Server {
	t.Helper()
	server := httptest.NewUnstartedServer(handler)
	_ = server.Listener.Close()
	g.inside(t, func() error {
		var err error
		network := "tcp4"
		if strings.HasPrefix(address, "[") {
			network = "tcp6"
		}
		server.Listener, err = net.Listen(network, address)
		return err
	})
	server.Config.ErrorLog = log.New(io.Discard, "", 0)
	if secure {
		server.StartTLS()
	} else {
		server.Start()
	}
	t.Cleanup(server.Close)
	return server
}

func (g *gateway) addAddress(t *testing.T, link netlink.Link, handle *netlink.Handle, text string) {
	t.Helper()
	address := must[*netlink.Addr](t)(netlink.ParseAddr(text))
	address.Flags = 0x02 // IFA_F_NODAD: it can be used at once.
	if err := handle.AddrAdd(link, address); err != nil {
		skip(t, "this kernel runs without IPv6: "+err.Error())
	}
}

func ok(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusOK) }

func TestTargets(t *testing.T) {
	g := newGateway(t)
	g.serveDNS(t, zone(map[string][]string{
		"gw.example": {gatewayIP}, "twice.example": {"192.0.2.9", gatewayIP}, "away.example": {"192.0.2.9"}, "none.example": {},
	}))
	g.serveHTTP(t, gatewayIP+":8080", false, func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/missing":
			w.WriteHeader(http.StatusNotFound)
		case "/moved":
			http.Redirect(w, r, "http://192.0.2.9/", http.StatusFound)
		case "/broken":
			w.WriteHeader(http.StatusServiceUnavailable)
		}
	})
	l := probe.New(bareOptions(t))
	const said = "192.0.2.1: answered NXDOMAIN for nobody.example."
	for name, want := range map[string]string{
		"ping 192.0.2.1":                         "",
		"ping gw.example":                        "",
		"ping twice.example":                     "", // One address of several is enough.
		"ping 192.0.2.9":                         "ping 192.0.2.9: no answer within 1s",
		"ping nobody.example":                    "ping nobody.example: " + said,
		"ping none.example":                      "ping none.example: 192.0.2.1: has no record of none.example.",
		"dns gw.example":                         "",
		"dns nobody.example":                     "dns nobody.example: " + said,
		"tcp 192.0.2.1:8080":                     "",
		"tcp gw.example:8080":                    "",
		"tcp twice.example:8080":                 "",
		"tcp 192.0.2.1:81":                       "tcp 192.0.2.1:81: connection refused",
		"tcp gw.example:81":                      "tcp gw.example:81: 192.0.2.1: connection refused",
		"http http://192.0.2.1:8080/":            "",
		"http http://twice.example:8080/":        "",
		"http http://192.0.2.1:8080/moved":       "", // Where it leads is dead.
		"http http://192.0.2.1:8080/missing":     `http http://192.0.2.1:8080/missing: answered "404 Not Found"`,
		"http http://gw.example:8080/broken?a=b": `http http://gw.example:8080/broken?a=b: 192.0.2.1: answered "503 Service Unavailable"`,
		"http http://192.0.2.1:81/":              "http http://192.0.2.1:81/: connection refused",
	} {
		t.Run(name, func(t *testing.T) { try(t, l, name, want) })
	}
	t.Run("a name whose address does not answer names it", func(t *testing.T) {
		err := probe.Once(t.Context(), clock.RealClock{}, l, []string{"ping away.example"}, 300*time.Millisecond)["ping away.example"]
		if err == nil || !strings.HasPrefix(err.Error(), "ping away.example: 192.0.2.9: no answer within ") {
			t.Error(err)
		}
	})
}

func TestTargetsOfIPv6(t *testing.T) {
	g := newGateway(t)
	here := must[*netlink.Handle](t)(netlink.NewHandle())
	t.Cleanup(here.Close)
	g.addAddress(t, g.link, g.handle, "2001:db8::1/64")
	g.addAddress(t, g.link, g.handle, gatewayIP6+"/64")
	g.addAddress(t, g.node, here, "2001:db8::2/64")
	// IPv4 is announced as well and leads nowhere.
	g.serveDNS(t, zone(map[string][]string{"gw.example": {"2001:db8::1", "192.0.2.9"}, "six.example": {"2001:db8::1"}}))
	g.serveHTTP(t, "[::]:8080", false, ok)
	l := probe.New(bareOptions(t))
	for _, name := range []string{
		"ping 2001:db8::1", "ping fe80::1%up0", "ping gw.example", "tcp [2001:db8::1]:8080", "tcp [fe80::1%up0]:8080", "tcp six.example:8080",
		"http http://[2001:db8::1]:8080/", "http http://[fe80::1%25up0]:8080/", "http http://gw.example:8080/",
	} {
		t.Run(name, func(t *testing.T) { try(t, l, name, "") })
	}
}

func TestCertificatesOfURLs(t *testing.T) {
	g := newGateway(t)
	g.serveDNS(t, zone(map[string][]string{"example.com": {gatewayIP}, "example.net": {gatewayIP}}))
	server := g.serveHTTP(t, gatewayIP+":443", true, ok)
	trusting := bareOptions(t)
	trusting.TLS = &tls.Config{RootCAs: x509.NewCertPool()}
	trusting.TLS.RootCAs.AddCert(server.Certificate())
	try(t, probe.New(trusting), "http https://example.com/", "")
	for sentence, c := range map[string]struct {
		options probe.Options
		name    string
		want    string
	}{
		"another name":         {trusting, "http https://example.net/", "not example.net"},
		"an unknown authority": {bareOptions(t), "http https://example.com/", "certificate"},
	} {
		t.Run(sentence, func(t *testing.T) {
			err := probe.New(c.options).Probe(t.Context(), c.name)
			if err == nil || !strings.HasPrefix(err.Error(), c.name+": 192.0.2.1: ") || !strings.Contains(err.Error(), c.want) {
				t.Error(err)
			}
		})
	}
}

// Whatever outlived a change of the network would answer for a path that is gone.
func TestEachTryOfATargetLooksAnew(t *testing.T) {
	g := newGateway(t)
	var moved atomic.Bool
	old, young := zone(map[string][]string{"db.example": {gatewayIP}}), zone(map[string][]string{"db.example": {"192.0.2.3"}})
	g.serveDNS(t, func(network string, q dnsmessage.Question) dnsmessage.Message {
		if moved.Load() {
			return young(network, q)
		}
		return old(network, q)
	})
	var callers sync.Map
	g.serveHTTP(t, gatewayIP+":8080", false, func(_ http.ResponseWriter, r *http.Request) { callers.Store(r.RemoteAddr, true) })
	l := probe.New(bareOptions(t))
	for range 3 {
		try(t, l, "http http://db.example:8080/", "")
	}
	connections := 0
	callers.Range(func(any, any) bool { connections++; return true })
	if connections < 3 {
		t.Errorf("%d connections for 3 tries", connections)
	}
	try(t, l, "tcp db.example:8080", "")
	moved.Store(true)
	check(t, g.handle.AddrAdd(g.link, must[*netlink.Addr](t)(netlink.ParseAddr("192.0.2.3/32"))))
	try(t, l, "tcp db.example:8080", "tcp db.example:8080: 192.0.2.3: connection refused")
}
