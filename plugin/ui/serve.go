package ui

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/http"
	"strconv"
	"time"
)

// Bounds of a request: how long a browser may take for its head, how large that may be
// where a token is in it, and how long a connection may stay without one.
const (
	slowest     = 10 * time.Second
	longestHead = 32 << 10
	longestIdle = 2 * time.Minute
)

// Serve answers on the loopback until the context ends; tell gets the address.
func Serve(ctx context.Context, port int, handler http.Handler, tell func(address string)) error {
	var config net.ListenConfig
	listener, err := config.Listen(ctx, "tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(port)))
	if err != nil {
		return fmt.Errorf("listening on the loopback: %w", err)
	}
	server := &http.Server{Handler: handler, ReadHeaderTimeout: slowest, BaseContext: func(net.Listener) context.Context { return ctx }}
	tell("http://" + listener.Addr().String() + "/")
	ended := context.AfterFunc(ctx, func() { _ = server.Close() })
	defer ended()
	if err := server.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
		return fmt.Errorf("serving the page: %w", err)
	}
	return nil
}

// Served is a handler that others ask over TLS.
type Served struct {
	// Listen is an address and a port.
	Listen      string
	Handler     http.Handler
	Certificate func(*tls.ClientHelloInfo) (*tls.Certificate, error)
	// MostRequests at a time: what is more is refused.
	MostRequests int
}

// Serve answers until the context ends; tell gets the address.
func (s Served) Serve(ctx context.Context, tell func(address string)) error {
	var config net.ListenConfig
	listener, err := config.Listen(ctx, "tcp", s.Listen)
	if err != nil {
		return fmt.Errorf("listening on %s: %w", s.Listen, err)
	}
	server := &http.Server{
		Handler: atMost(s.MostRequests, s.Handler), ReadHeaderTimeout: slowest, IdleTimeout: longestIdle, MaxHeaderBytes: longestHead,
		TLSConfig:   &tls.Config{MinVersion: tls.VersionTLS12, GetCertificate: s.Certificate},
		BaseContext: func(net.Listener) context.Context { return ctx },
	}
	tell(listener.Addr().String())
	ended := context.AfterFunc(ctx, func() { _ = server.Close() })
	defer ended()
	if err := server.ServeTLS(listener, "", ""); !errors.Is(err, http.ErrServerClosed) {
		return fmt.Errorf("serving the page: %w", err)
	}
	return nil
}

// atMost refuses what would be more than so many requests at a time.
func atMost(most int, handler http.Handler) http.Handler {
	running := make(chan struct{}, most)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		select {
		case running <- struct{}{}:
			defer func() { <-running }()
			handler.ServeHTTP(w, r)
		default:
			w.Header().Set("Retry-After", "5")
			http.Error(w, "too many requests at a time", http.StatusServiceUnavailable)
		}
	})
}
