//go:build linux

package lab

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/sys/unix"
)

func TestMixedTopology(t *testing.T) {
	topology, err := ParseTopology([]byte(mixed))
	if err != nil {
		t.Fatal(err)
	}
	testMixed(t, mustUp(t, Options{Root: testRoot(t), Topology: topology}))
}

// testMixed is for a lab of that topology, wherever its nodes are.
func testMixed(t *testing.T, l *Lab) {
	t.Helper()
	t.Run("each node pings its gateway", func(t *testing.T) {
		for _, n := range l.Nodes() {
			// A node with DHCP is up before it has its lease.
			eventually(t, n.Name, func() error {
				_, err := n.Exec(t.Context(), "ping", "-c", "1", "-W", "5", n.Gateway())
				return err
			})
		}
	})
	t.Run("names are resolved through the gateway", func(t *testing.T) {
		n := mustNode(t, l, "static")
		for _, name := range []string{"gateway", "root-servers.net", "peer.lab.example"} {
			mustExec(t, n, "getent", "ahostsv4", name)
		}
	})
	t.Run("the peer and the services answer", func(t *testing.T) {
		mustExec(t, mustNode(t, l, "static"), "ping", "-c", "1", "-W", "5", "192.0.2.50")
		for node, address := range map[string]string{"static": "192.0.2.1:80", "announced": "198.51.100.1:7"} {
			conn, err := mustNode(t, l, node).Dial(t.Context(), "tcp", address)
			if err != nil {
				t.Fatal(err)
			}
			_ = conn.Close()
		}
	})
	t.Run("a DHCP node has a lease", func(t *testing.T) {
		wantAddress(t, mustNode(t, l, "leased"), "eth0 192.0.2.1")
	})
	t.Run("a node behind router advertisements has an IPv6 address", func(t *testing.T) {
		wantAddress(t, mustNode(t, l, "announced"), "eth0 2001:db8:6:")
	})
	t.Run("faults", func(t *testing.T) { testFaults(t, l) })
	t.Run("commands", func(t *testing.T) { testCommands(t, l) })
}

func wantAddress(t *testing.T, n *Node, prefix string) {
	t.Helper()
	eventually(t, n.Name, func() error {
		all, err := n.Addresses(t.Context())
		if err == nil && !slices.ContainsFunc(all, func(a string) bool { return strings.HasPrefix(a, prefix) }) {
			err = fmt.Errorf("no address %s... in %v", prefix, all)
		}
		return err
	})
}

// testSilence: the way to the gateway itself is as before.
func testSilence(t *testing.T, l *Lab, n *Node) {
	t.Helper()
	for what, ask := range map[string][]string{
		"ping": {"ping", "-c", "1", "-W", "1", n.Gateway()}, "dns": {"timeout", "1", "getent", "ahostsv4", "peer.lab.example"},
	} {
		if err := l.Gateway(t.Context(), what, false); err != nil {
			t.Fatal(err)
		}
		if _, err := n.Exec(t.Context(), ask...); err == nil {
			t.Errorf("%s: it is answered", what)
		}
		conn, err := n.Dial(t.Context(), "tcp", n.Gateway()+":80")
		if err != nil {
			t.Fatal(err)
		}
		_ = conn.Close()
		if err := l.Gateway(t.Context(), what, true); err != nil {
			t.Fatal(err)
		}
		eventually(t, what, func() error {
			_, err := n.Exec(t.Context(), ask...)
			return err
		})
	}
	if err := l.Gateway(t.Context(), "smtp", false); err == nil || !strings.Contains(err.Error(), `"smtp" is neither ping nor dns`) {
		t.Errorf("got %v", err)
	}
}

func testFaults(t *testing.T, l *Lab) {
	t.Helper()
	n := mustNode(t, l, "static")
	before, err := n.Settled(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	t.Run("without carrier nothing goes through, and it comes back as before", func(t *testing.T) {
		if err := n.Carrier(t.Context(), "eth0", false); err != nil {
			t.Fatal(err)
		}
		eventually(t, "the outage", func() error {
			if _, err := n.Exec(t.Context(), "ping", "-c", "1", "-W", "1", n.Gateway()); err == nil {
				return errors.New("the gateway answers")
			}
			return nil
		})
		if err := n.Carrier(t.Context(), "eth0", true); err != nil {
			t.Fatal(err)
		}
		wantKernel(t, n, before)
	})
	t.Run("an outage is seen from the gateway", func(t *testing.T) { testWatch(t, l, n, before) })
	t.Run("a NIC that was pulled out is gone until it is put in", func(t *testing.T) {
		if err := n.Unplug(t.Context(), "eth1"); err != nil {
			t.Fatal(err)
		}
		if _, err := n.Exec(t.Context(), "ip", "link", "show", "eth1"); err == nil {
			t.Error("eth1 is still there")
		}
		if err := n.Plug(t.Context(), "eth1"); err != nil {
			t.Fatal(err)
		}
		wantKernel(t, n, before)
	})
	t.Run("a gateway may be silent to pings, or as a name server", func(t *testing.T) { testSilence(t, l, n) })
	t.Run("NetworkManager that is paused does nothing, and goes on as before", func(t *testing.T) {
		for _, verb := range []string{"pause", "resume", "pause", "stop", "start"} {
			if err := n.NM(t.Context(), verb); err != nil {
				t.Fatal(err)
			}
			asked, err := n.Exec(t.Context(), "timeout", "1", "nmcli", "-t", "-f", "RUNNING", "general")
			if verb == "pause" && err == nil {
				t.Errorf("it answers: %s", asked)
			}
		}
		wantKernel(t, n, before)
	})
	t.Run("NetworkManager killed and started leaves the node as it was", func(t *testing.T) {
		for _, verb := range []string{"kill", "start", "restart", "stop", "start"} {
			if err := n.NM(t.Context(), verb); err != nil {
				t.Fatal(err)
			}
		}
		wantKernel(t, n, before)
	})
	t.Run("a rebooted node keeps its /etc and comes back as before", func(t *testing.T) {
		mustExec(t, n, "touch", "/etc/kept")
		boot := mustExec(t, n, "cat", "/proc/sys/kernel/random/boot_id")
		if err := n.Reboot(t.Context()); err != nil {
			t.Fatal(err)
		}
		mustExec(t, n, "test", "-e", "/etc/kept")
		if again := mustExec(t, n, "cat", "/proc/sys/kernel/random/boot_id"); again == boot || len(again) != len(boot) {
			t.Errorf("the boot's id was %s and is %s", boot, again)
		}
		wantKernel(t, n, before)
	})
}

func testWatch(t *testing.T, l *Lab, n *Node, before string) {
	t.Helper()
	if l.rec.VM != nil {
		if _, err := l.Watch(t.Context(), n); err == nil || !strings.Contains(err.Error(), "not with --vm") {
			t.Errorf("the gateway is not on this machine: %v", err)
		}
		return
	}
	watch, err := l.Watch(t.Context(), n)
	if err != nil {
		t.Fatal(err)
	}
	if err := n.Carrier(t.Context(), "eth0", false); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the outage", func() error { return wantGap(watch.Outage(), true) })
	if err := n.Carrier(t.Context(), "eth0", true); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the end of the outage", func() error { return wantGap(watch.Outage(), false) })
	t.Logf("outage of %v seen from outside", watch.Stop().Longest())
	wantKernel(t, n, before)
}

func wantKernel(t *testing.T, n *Node, want string) {
	t.Helper()
	eventually(t, n.Name+" is as before", func() error {
		got, err := n.Settled(t.Context())
		if err == nil && got != want {
			err = errors.New(cmp.Diff(strings.Split(want, "\n"), strings.Split(got, "\n")))
		}
		return err
	})
}

func wantGap(o Outage, open bool) error {
	if len(o.Gaps) == 0 || o.Gaps[len(o.Gaps)-1].Open != open {
		return fmt.Errorf("seen: %+v", o)
	}
	return nil
}

func testCommands(t *testing.T, l *Lab) {
	t.Helper()
	n := mustNode(t, l, "static")
	t.Run("the exit code of a program is its own", func(t *testing.T) {
		_, err := n.Exec(t.Context(), "sh", "-c", "echo why >&2; exit 7")
		var ended Exit
		if !errors.As(err, &ended) || ended.ExitCode() != 7 || !strings.Contains(err.Error(), "why") {
			t.Errorf("got %v", err)
		}
	})
	t.Run("a node has its own host name, processes and root", func(t *testing.T) {
		if got := strings.TrimSpace(mustExec(t, n, "hostname")); got != "static" {
			t.Errorf("host name %q", got)
		}
		if comm := mustExec(t, n, "cat", "/proc/1/cmdline"); !strings.Contains(comm, roleNode) {
			t.Errorf("pid 1 is %q", comm)
		}
		mustExec(t, n, "touch", "/etc/only-here")
		if _, err := os.Stat("/etc/only-here"); err == nil {
			t.Error("the node writes to the machine's /etc")
		}
	})
	t.Run("a cancelled program is killed", func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if _, err := n.Exec(ctx, "sleep", "60"); err == nil {
			t.Error("no error")
		}
	})
	t.Run("an unknown node or NIC lists those that exist", func(t *testing.T) {
		_, err := l.Node("nobody")
		if want := `no node "nobody" (there are: static, leased, announced)`; err == nil || err.Error() != want {
			t.Errorf("got %v, want %s", err, want)
		}
		err = n.Unplug(t.Context(), "eth9")
		if want := `node static has no NIC "eth9" (it has: eth0, eth1)`; err == nil || err.Error() != want {
			t.Errorf("got %v, want %s", err, want)
		}
	})
	t.Run("a lab is found again by its name", func(t *testing.T) {
		again, err := Open(l.opts.Root, l.opts.Name)
		if err != nil {
			t.Fatal(err)
		}
		s := again.Status(t.Context())
		if !s.Fabric.Running || len(s.Nodes) != 3 || s.Nodes[0].Error != "" {
			t.Errorf("status %+v", s)
		}
	})
}

func TestHostNetworkManager(t *testing.T) {
	if err := Available("host"); err != nil {
		// Nothing is missing: on Debian it is kept off the machine on purpose
		// (hack/install-deps.sh).
		t.Skip(err)
	}
	l := mustUp(t, Options{Root: testRoot(t), NM: "host"})
	for _, n := range l.Nodes() {
		mustExec(t, n, "ping", "-c", "1", "-W", "5", n.Gateway())
	}
}

func TestHandlerIsRestartedAfterACrashOnly(t *testing.T) {
	root := testRoot(t)
	handler := filepath.Join(t.TempDir(), "handler")
	script := "#!/bin/sh\necho $NODE_NAME $KUBECONFIG $1\nexec sleep 1000\n"
	if err := os.WriteFile(handler, []byte(script), 0o755); err != nil {
		t.Fatal(err)
	}
	l := mustUp(t, Options{Root: root, Handler: handler, HandlerArgs: []string{"argument"}})
	n := mustNode(t, l, "node1")
	want := func(state string, restarts, starts int) {
		t.Helper()
		eventually(t, "handler "+state, func() error {
			units, err := n.Units(t.Context())
			if err != nil {
				return err
			}
			log, err := os.ReadFile(n.LogPath("handler"))
			u, line := units[len(units)-1], "node1 /run/lab/kubeconfig argument\n"
			if err == nil && (u.Name != "handler" || u.State != state || u.Restarts != restarts || string(log) != strings.Repeat(line, starts)) {
				err = fmt.Errorf("got %+v and the log %q", u, log)
			}
			return err
		})
	}
	do := func(verb string) {
		t.Helper()
		if err := n.Handler(t.Context(), verb); err != nil {
			t.Fatal(err)
		}
	}
	want("running", 0, 1)
	do("kill")
	want("running", 1, 2)
	do("stop")
	want("stopped", 1, 2)
	do("start")
	want("running", 1, 3)
}

func TestEachNodeHasItsNetworkManager(t *testing.T) {
	topo, err := ParseTopology([]byte(`
nodes:
- {name: older, networkManager: 1.42, nics: [{name: eth0, switch: lan, address: 192.0.2.11/24}]}
- {name: newer, networkManager: 1.52, nics: [{name: eth0, switch: lan, address: 192.0.2.12/24}]}
switches:
- {name: lan, gateway: 192.0.2.1/24}
`))
	if err != nil {
		t.Fatal(err)
	}
	l := mustUp(t, Options{Root: testRoot(t), Topology: topo, Disk: DiskImage})
	for name, want := range map[string]string{"older": "1.42.", "newer": "1.52."} {
		if got := mustExec(t, mustNode(t, l, name), "NetworkManager", "--version"); !strings.HasPrefix(got, want) {
			t.Errorf("%s has %s", name, got)
		}
	}
	t.Run("a power cut takes what was not synced, a reboot does not", func(t *testing.T) {
		n := mustNode(t, l, "newer")
		mustExec(t, n, "sh", "-c", "echo synced >/etc/synced; sync /etc/synced; echo lost >/etc/lost; mkdir /var/lib/lost")
		if err := n.Power(t.Context(), "cut"); err != nil {
			t.Fatal(err)
		}
		mustExec(t, n, "sh", "-c", "test -s /etc/synced && test ! -e /etc/lost && test ! -e /var/lib/lost")
		mustExec(t, n, "sh", "-c", "echo kept >/etc/kept")
		if err := n.Reboot(t.Context()); err != nil {
			t.Fatal(err)
		}
		mustExec(t, n, "test", "-s", "/etc/kept")
	})
	t.Run("a node without power is off until it gets some", func(t *testing.T) {
		n := mustNode(t, l, "older")
		for range 2 {
			if err := n.Power(t.Context(), "off"); err != nil {
				t.Fatal(err)
			}
		}
		if _, err := n.PID(t.Context()); err == nil {
			t.Error("it runs")
		}
		if err := n.Power(t.Context(), "on"); err != nil {
			t.Fatal(err)
		}
		mustExec(t, n, "ping", "-c", "1", "-W", "5", n.Gateway())
	})
}

func TestTwoLabsSideBySide(t *testing.T) {
	root := testRoot(t)
	first := mustUp(t, Options{Root: root, Name: "first"})
	second := mustUp(t, Options{Root: root, Name: "second"})
	if err := first.Down(t.Context()); err != nil {
		t.Fatal(err)
	}
	mustExec(t, mustNode(t, second, "node1"), "ping", "-c", "1", "-W", "5", "192.0.2.1")
	if _, err := Open(root, "first"); err == nil {
		t.Error("the first lab is still there")
	}
}

func TestNothingIsLeftWhateverWasKilled(t *testing.T) {
	for name, victims := range map[string][]string{
		"nothing":    nil,
		"the fabric": {"fabric"},
		"a node":     {"nodes/node1"},
		"everything": {"fabric", "nodes/node1", "nodes/node2", "nodes/node3"},
	} {
		t.Run(name, func(t *testing.T) {
			root := testRoot(t)
			before := lookAt(t, root)
			l := mustUp(t, Options{Root: root})
			for _, v := range victims {
				killProcess(t, filepath.Join(l.dir, v))
			}
			for range 2 { // the second Down finds nothing, which is fine
				if err := l.Down(t.Context()); err != nil {
					t.Fatal(err)
				}
			}
			if diff := cmp.Diff(before, lookAt(t, root)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func killProcess(t *testing.T, dir string) {
	t.Helper()
	all, err := findProcesses(dir)
	if err != nil || len(all) != 1 {
		t.Fatalf("processes of %s: %v, %v", dir, all, err)
	}
	if err := all[0].end(t.Context(), unix.SIGKILL); err != nil {
		t.Fatal(err)
	}
}
