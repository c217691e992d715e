//go:build linux

package lab

import (
	"context"
	"errors"
	"fmt"
	"os"
	"testing"
	"time"
)

// envUp makes this test binary call Up in the given root and print its progress,
// to be killed by a test.
const envUp = "LAB_TEST_UP_ROOT"

func TestMain(m *testing.M) {
	ctx := context.Background()
	if code, ok := Child(ctx, os.Args); ok {
		os.Exit(code)
	}
	if root := os.Getenv(envUp); root != "" {
		_, err := Up(ctx, Options{Root: root, ControlPlane: "none", Progress: func(line string) { fmt.Println(line) }})
		fmt.Println("up:", err)
		select {} // what comes next is SIGKILL
	}
	os.Exit(m.Run())
}

// mixed has one node of each kind of address, and a second switch.
const mixed = `
nodes:
- name: static
  nics:
  - {name: eth0, switch: lan, address: 192.0.2.11/24}
  - {name: eth1, switch: lan}
- name: leased
  nics:
  - {name: eth0, switch: lan, address: dhcp}
- name: announced
  nics:
  - {name: eth0, switch: six, address: 198.51.100.11/24}
switches:
- name: lan
  gateway: 192.0.2.1/24
  dhcp: {from: 192.0.2.100, to: 192.0.2.199}
  dns: true
  peers:
  - {name: peer, address: 192.0.2.50}
- name: six
  gateway: 198.51.100.1/24
  gateway6: "2001:db8:6::1/64"
  routerAdvertisements: true
services:
- {name: web, switch: lan, type: http, port: 80}
- {name: echo, switch: six, type: echo, port: 7}
`

// skipOrFail skips a test that this machine cannot run; where it should be able
// to (NMSTATE_STRICT=1) that is a failure.
func skipOrFail(t *testing.T, err error) {
	t.Helper()
	if os.Getenv("NMSTATE_STRICT") == "1" {
		t.Fatal(err)
	}
	t.Skip("skipped: " + err.Error())
}

// testRoot is a folder for labs of one test.
func testRoot(t *testing.T) string {
	t.Helper()
	if err := Available(""); err != nil {
		skipOrFail(t, err)
	}
	root, err := os.MkdirTemp("/run", "lab-test-") //nolint:usetesting // t.TempDir is too long for sockets
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(root) })
	return root
}

func mustUp(t *testing.T, opts Options) *Lab {
	t.Helper()
	if opts.ControlPlane == "" {
		opts.ControlPlane = "none"
	}
	start := time.Now()
	l, err := Up(t.Context(), opts)
	if missing := (&UnavailableError{}); errors.As(err, &missing) {
		skipOrFail(t, err)
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("up with %d nodes in %.1f s", len(l.Nodes()), time.Since(start).Seconds())
	t.Cleanup(func() {
		if err := l.Down(context.Background()); err != nil {
			t.Error(err)
		}
	})
	return l
}

func mustNode(t *testing.T, l *Lab, name string) *Node {
	t.Helper()
	n, err := l.Node(name)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

func mustExec(t *testing.T, n *Node, args ...string) string {
	t.Helper()
	out, err := n.Exec(t.Context(), args...)
	if err != nil {
		t.Fatal(err)
	}
	return string(out)
}

// eventually polls with a deadline far beyond what is normal.
func eventually(t *testing.T, what string, f func() error) {
	t.Helper()
	if err := poll(t.Context(), 2*time.Minute, f); err != nil {
		t.Fatalf("%s: %v", what, err)
	}
}
