package probe_test

import (
	"bytes"
	"encoding/binary"
	"encoding/pem"
	"net"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"

	"k8s.io/client-go/rest"

	"github.com/nmstate/kubernetes-nmstate/handler/probe"
)

// longestPacket is the largest that switches for jumbo frames carry, in bytes.
const longestPacket = 9216

// A request in short pieces would pass where nothing that fills a packet does.
func TestTheAPIServerIsAskedByPacketsOfTheLargestSize(t *testing.T) {
	privateNetwork(t)
	server := httptest.NewUnstartedServer(http.NotFoundHandler())
	heard := &recorder{Listener: server.Listener}
	server.Listener = heard
	server.StartTLS()
	defer server.Close()
	l := probe.New(probe.Options{KubeConfig: &rest.Config{
		Host:            server.URL,
		TLSClientConfig: rest.TLSClientConfig{CAData: pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw})},
	}})
	if err := l.Probe(t.Context(), probe.APIServer); err != nil {
		t.Fatal(err)
	}
	if got := heard.longestRecord(); got < longestPacket {
		t.Errorf("the longest piece of the request has %d bytes", got)
	}
}

// recorder keeps what clients send.
type recorder struct {
	net.Listener
	mu  sync.Mutex
	all bytes.Buffer
}

func (r *recorder) Accept() (net.Conn, error) {
	conn, err := r.Listener.Accept()
	return recorded{conn, r}, err
}

type recorded struct {
	net.Conn
	by *recorder
}

func (r recorded) Read(p []byte) (int, error) {
	n, err := r.Conn.Read(p)
	r.by.mu.Lock()
	defer r.by.mu.Unlock()
	r.by.all.Write(p[:n])
	return n, err
}

// longestRecord is the size of the longest TLS record (RFC 8446, 5.1).
func (r *recorder) longestRecord() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	const header = 5
	longest, rest := 0, r.all.Bytes()
	for len(rest) >= header {
		size := int(binary.BigEndian.Uint16(rest[3:]))
		longest = max(longest, size)
		rest = rest[min(len(rest), header+size):]
	}
	return longest
}
