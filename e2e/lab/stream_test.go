//go:build linux

package lab

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/hashicorp/yamux"
)

// shellPlace runs programs in this process's own namespaces, as a node with no
// namespaces would.
type shellPlace struct {
	place
	started, ended chan struct{} // closed, unless nil
}

func (p shellPlace) run(ctx context.Context, node string, c Command) error {
	if node != "node1" {
		return errors.New("no node " + node)
	}
	cmd := exec.CommandContext(ctx, c.Args[0], c.Args[1:]...)
	cmd.Env, cmd.Dir, cmd.Stdin, cmd.Stdout, cmd.Stderr = c.Env, c.Dir, c.Stdin, c.Stdout, c.Stderr
	cmd.WaitDelay = time.Second
	if p.started != nil {
		close(p.started)
		defer close(p.ended)
	}
	return cmd.Run()
}

func (p shellPlace) dial(ctx context.Context, _, network, address string) (net.Conn, error) {
	var dialer net.Dialer
	return dialer.DialContext(ctx, network, address)
}

// throughVM returns a connection that goes the way of those into a VM: a unix
// socket, a session over one connection, a stream that carry serves.
func throughVM(t *testing.T, at place) func() net.Conn {
	t.Helper()
	machine, vm := net.Pipe()
	outside, err := yamux.Client(machine, sessionConfig())
	if err != nil {
		t.Fatal(err)
	}
	within, err := yamux.Server(vm, sessionConfig())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _, _ = outside.Close(), within.Close() })
	go func() {
		for {
			stream, err := within.Accept()
			if err != nil {
				return
			}
			go func() {
				defer func() { _ = stream.Close() }()
				var order request
				if readLine(stream, &order) != nil {
					return
				}
				if order.Verb == "run" {
					serveRun(context.Background(), stream, at, order)
				} else {
					serveDial(context.Background(), stream, at, order)
				}
			}()
		}
	}()
	dir := t.TempDir()
	if err := passOn(t.Context(), dir, outside); err != nil {
		t.Fatal(err)
	}
	return func() net.Conn {
		conn, err := (&net.Dialer{}).DialContext(t.Context(), "unix", filepath.Join(dir, "control"))
		if err != nil {
			t.Fatal(err)
		}
		return conn
	}
}

func TestAProgramInAVMRunsAsOneHereDoes(t *testing.T) {
	connect := throughVM(t, shellPlace{})
	for name, tt := range map[string]struct {
		node, script, stdin string
		out, errs, failed   string
		code                int
	}{
		"its input and output are passed on":             {node: "node1", script: "cat", stdin: "hello\n", out: "hello\n"},
		"one without input reads its end":                {node: "node1", script: "cat"},
		"what it says of errors is kept apart":           {node: "node1", script: "echo a; echo b >&2", out: "a\n", errs: "b\n"},
		"its exit code is passed on":                     {node: "node1", script: "exit 7", code: 7},
		"a signal is 128 and its number":                 {node: "node1", script: "kill -INT $$", code: 130},
		"one that reads nothing of its input ends too":   {node: "node1", script: "exit 3", stdin: strings.Repeat("x", 1<<20), code: 3},
		"a megabyte goes there and back":                 {node: "node1", script: "cat", stdin: strings.Repeat("y", 1<<20), out: strings.Repeat("y", 1<<20)},
		"what keeps it from running is told in a line":   {node: "node9", script: "true", failed: "no node node9"},
		"its environment and folder are those asked for": {node: "node1", script: "echo $A; pwd", out: "b\n/usr\n"},
	} {
		t.Run(name, func(t *testing.T) {
			var out, errs bytes.Buffer
			c := Command{Args: []string{"/bin/sh", "-c", tt.script}, Env: []string{"A=b"}, Dir: "/usr", Stdout: &out, Stderr: &errs}
			if tt.stdin != "" {
				c.Stdin = strings.NewReader(tt.stdin)
			}
			err := remoteRun(t.Context(), connect(), tt.node, c)
			var exit Exit
			switch {
			case tt.failed != "" || err != nil && !errors.As(err, &exit):
				if err == nil || err.Error() != tt.failed {
					t.Errorf("got %v, want %q", err, tt.failed)
				}
			case err == nil && tt.code != 0, err != nil && exit.ExitCode() != tt.code:
				t.Errorf("got %v, want exit code %d", err, tt.code)
			}
			if out.String() != tt.out || errs.String() != tt.errs {
				t.Errorf("got %.40q and %.40q, want %.40q and %.40q", out.String(), errs.String(), tt.out, tt.errs)
			}
		})
	}
}

// A command that is interrupted leaves no program behind in the VM.
func TestAProgramInAVMEndsWithTheOneWhoAskedForIt(t *testing.T) {
	at := shellPlace{started: make(chan struct{}), ended: make(chan struct{})}
	connect := throughVM(t, at)
	ctx, cancel := context.WithCancel(t.Context())
	silent, talk := io.Pipe()
	defer func() { _ = talk.Close() }()
	told := make(chan error, 1)
	go func() { told <- remoteRun(ctx, connect(), "node1", Command{Args: []string{"cat"}, Stdin: silent}) }()
	<-at.started
	cancel()
	if err := <-told; !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
	select {
	case <-at.ended:
	case <-time.After(10 * time.Second):
		t.Error("it goes on")
	}
}

func TestAConnectionFromAVMIsThereForBoth(t *testing.T) {
	ln, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = ln.Close() }()
	go func() {
		conn, err := ln.Accept()
		if err != nil {
			return
		}
		defer func() { _ = conn.Close() }()
		_, _ = io.Copy(conn, conn) // until the other one has said everything
		_, _ = io.WriteString(conn, "bye")
	}()
	connect := throughVM(t, shellPlace{})
	conn, err := remoteDial(t.Context(), connect(), "node1", "tcp", ln.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := io.WriteString(conn, "hello "); err != nil {
		t.Fatal(err)
	}
	if err := conn.(*net.UnixConn).CloseWrite(); err != nil {
		t.Fatal(err)
	}
	got, err := io.ReadAll(conn)
	if string(got) != "hello bye" || err != nil {
		t.Errorf("got %q, %v", got, err)
	}
	_ = ln.Close()
	if _, err := remoteDial(t.Context(), connect(), "node1", "tcp", ln.Addr().String()); err == nil || !strings.Contains(err.Error(), "connection refused") {
		t.Errorf("where nobody listens: %v", err)
	}
}

func TestOnlyALineIsReadOfAnAnswer(t *testing.T) {
	from := strings.NewReader(`{"text":"a"}` + "\nrest")
	var res response
	if err := readLine(from, &res); err != nil || res.Text != "a" {
		t.Errorf("got %v, %v", res, err)
	}
	if rest, _ := io.ReadAll(from); string(rest) != "rest" {
		t.Errorf("left: %q", rest)
	}
	if err := readLine(strings.NewReader("{"), &res); !errors.Is(err, io.EOF) {
		t.Errorf("half a line: %v", err)
	}
	if err := readLine(strings.NewReader("{\n"), &res); !errors.As(err, new(*json.SyntaxError)) {
		t.Errorf("a broken one: %v", err)
	}
}
