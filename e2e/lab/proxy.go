//go:build linux

package lab

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"strconv"
	"sync"
	"time"

	"golang.org/x/sys/unix"
)

// proxy offers the API server at the gateways. Its listeners are in the fabric's
// network namespace and its outgoing connections in the host's, so that the
// host needs neither a link nor a route to the lab.
type proxy struct {
	dials chan dialRequest

	mu        sync.Mutex
	target    string
	listeners []net.Listener
	conns     map[net.Conn]struct{}
}

type dialRequest struct {
	target string
	answer chan dialAnswer
}

type dialAnswer struct {
	conn net.Conn
	err  error
}

func newProxy(hostNet *os.File) *proxy {
	p := &proxy{dials: make(chan dialRequest), conns: map[net.Conn]struct{}{}}
	go p.dialOnHost(hostNet)
	return p
}

// dialOnHost serves dials from one thread that lives in the host's namespace. A
// loopback dial is decided at once, so one at a time is enough.
func (p *proxy) dialOnHost(hostNet *os.File) {
	err := onOwnThread(func() error {
		if err := unix.Setns(int(hostNet.Fd()), unix.CLONE_NEWNET); err != nil {
			return fmt.Errorf("joining the host's network namespace: %w", err)
		}
		dialer := net.Dialer{Timeout: 5 * time.Second}
		for req := range p.dials {
			conn, err := dialer.Dial("tcp", req.target)
			req.answer <- dialAnswer{conn, err}
		}
		return nil
	})
	for req := range p.dials {
		req.answer <- dialAnswer{nil, err}
	}
}

// set opens the listeners with a new target, or closes everything when target
// is "off": connections are reset, new ones refused.
func (p *proxy) set(ctx context.Context, gateways []string, target string) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if target == "off" {
		p.closeAll()
		return nil
	}
	if _, _, err := net.SplitHostPort(target); err != nil {
		return fmt.Errorf("target of the proxy: %w", err)
	}
	p.target = target
	if len(p.listeners) > 0 {
		return nil
	}
	var config net.ListenConfig
	for _, gw := range gateways {
		ln, err := config.Listen(ctx, "tcp", net.JoinHostPort(gw, strconv.Itoa(apiPort)))
		if err != nil {
			p.closeAll()
			return fmt.Errorf("offering the API server at %s: %w", gw, err)
		}
		p.listeners = append(p.listeners, ln)
		go p.accept(ln)
	}
	return nil
}

func (p *proxy) closeAll() {
	for _, ln := range p.listeners {
		_ = ln.Close()
	}
	p.listeners = nil
	for c := range p.conns {
		if tcp, ok := c.(*net.TCPConn); ok {
			_ = tcp.SetLinger(0) // a reset, as from a server that died
		}
		_ = c.Close()
	}
}

func (p *proxy) accept(ln net.Listener) {
	for {
		conn, err := ln.Accept()
		if err != nil {
			return
		}
		go p.carry(conn)
	}
}

// keep notes an open connection, so that closing the proxy closes it.
func (p *proxy) keep(c net.Conn, open bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if open && len(p.listeners) == 0 {
		_ = c.Close() // closed while this one was being accepted
	} else if open {
		p.conns[c] = struct{}{}
	} else {
		delete(p.conns, c)
	}
}

func (p *proxy) carry(in net.Conn) {
	defer func() { _ = in.Close() }()
	p.mu.Lock()
	target := p.target
	p.mu.Unlock()
	req := dialRequest{target: target, answer: make(chan dialAnswer, 1)}
	p.dials <- req
	got := <-req.answer
	if got.err != nil {
		if tcp, ok := in.(*net.TCPConn); ok {
			_ = tcp.SetLinger(0)
		}
		return
	}
	out := got.conn
	defer func() { _ = out.Close() }()
	p.keep(in, true)
	p.keep(out, true)
	defer p.keep(in, false)
	defer p.keep(out, false)
	done := make(chan struct{}, 2)
	copyOne := func(to, from net.Conn) {
		_, _ = io.Copy(to, from)
		if tcp, ok := to.(*net.TCPConn); ok {
			_ = tcp.CloseWrite()
		}
		done <- struct{}{}
	}
	go copyOne(out, in)
	go copyOne(in, out)
	<-done
	<-done
}

// service opens one of the topology's servers at its switch's gateway.
func (f *fabric) service(ctx context.Context, s ServiceSpec) error {
	gw := gatewayOf(f.topo.switchOf(s.Switch).Gateway)
	var config net.ListenConfig
	ln, err := config.Listen(ctx, "tcp", net.JoinHostPort(gw, strconv.Itoa(s.Port)))
	if err != nil {
		return fmt.Errorf("listening: %w", err)
	}
	context.AfterFunc(ctx, func() { _ = ln.Close() })
	if s.Type == "http" {
		server := &http.Server{
			ReadHeaderTimeout: 10 * time.Second,
			Handler: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				_, _ = fmt.Fprintln(w, s.Name)
			}),
		}
		go func() { _ = server.Serve(ln) }()
		return nil
	}
	go func() {
		for {
			conn, err := ln.Accept()
			if err != nil {
				return
			}
			go func() {
				_, _ = io.Copy(conn, conn)
				_ = conn.Close()
			}()
		}
	}()
	return nil
}
