//go:build linux

package lab

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/nmstate/kubernetes-nmstate/e2e/controlplane"
)

// An Up killed with -9 after each of its steps leaves what Remove, or the next
// Up, takes away.
func TestUpKilledAtEachStep(t *testing.T) {
	root := testRoot(t)
	before := lookAt(t, root)
	for step := 1; ; step++ {
		last := killUpAfter(t, root, step)
		var err error
		if step%2 == 0 {
			err = Remove(t.Context(), root, "default")
		} else {
			l := mustUp(t, Options{Root: root})
			err = l.Down(t.Context())
		}
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(before, lookAt(t, root)); diff != "" {
			t.Errorf("killed after %q: %s", last, diff)
		}
		if last == "up: <nil>" {
			return
		}
	}
}

// killUpAfter starts an Up in another process and kills it as soon as it has
// printed that many lines. It returns the last one.
func killUpAfter(t *testing.T, root string, lines int) string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), os.Args[0])
	cmd.Env = append(os.Environ(), envUp+"="+root)
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	scanner, last := bufio.NewScanner(out), ""
	for range lines {
		if !scanner.Scan() {
			break
		}
		last = scanner.Text()
	}
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait() // it was killed
	return last
}

func TestUpThatIsCancelledLeavesNothing(t *testing.T) {
	root := testRoot(t)
	before := lookAt(t, root)
	for _, at := range []int{1, 2, 3} {
		ctx, cancel := context.WithCancel(t.Context())
		steps := make(chan string, 100)
		go func() {
			for range at {
				<-steps
			}
			cancel()
		}()
		_, err := Up(ctx, Options{Root: root, ControlPlane: "none", Progress: func(line string) { steps <- line }})
		cancel()
		if err == nil {
			// The last node was up before the cancellation was noticed.
			err = Remove(t.Context(), root, "default")
		} else if errors.Is(err, context.Canceled) {
			err = nil
		}
		if err != nil {
			t.Errorf("cancelled at step %d: %v", at, err)
		}
		if diff := cmp.Diff(before, lookAt(t, root)); diff != "" {
			t.Errorf("cancelled at step %d: %s", at, diff)
		}
	}
}

func TestUpThatFailsLeavesNothingAndSaysWhy(t *testing.T) {
	root := testRoot(t)
	before := lookAt(t, root)
	for name, opts := range map[string]Options{
		"a handler that is not there":           {Handler: "/no/such/handler"},
		"a NetworkManager from nowhere":         {NM: "elsewhere"},
		"a control plane of an unknown kind":    {ControlPlane: "big"},
		"a disk of an unknown kind":             {Disk: "tape"},
		"a name that cannot be one":             {Name: "a/b"},
		"a kubeconfig that is not there":        {Kubeconfig: "/no/such/kubeconfig"},
		"a program that is no child of the lab": {Binary: "/bin/true"},
	} {
		t.Run(name, func(t *testing.T) {
			opts.Root = root
			if opts.ControlPlane == "" {
				opts.ControlPlane = "none"
			}
			_, err := Up(t.Context(), opts)
			if err == nil {
				t.Fatal("no error")
			}
			t.Log(err)
			if diff := cmp.Diff(before, lookAt(t, root)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestAPIServerIsReachedThroughTheNICOnly(t *testing.T) {
	root := testRoot(t)
	assets := os.Getenv("KUBEBUILDER_ASSETS")
	if _, err := controlplane.Locate(t.Context(), controlplane.Search{KubebuilderAssets: assets, NoBuild: true}); err != nil {
		skipOrFail(t, fmt.Errorf("no control plane: %w", err))
	}
	before := lookAt(t, root)
	l := mustUp(t, Options{Root: root, ControlPlane: "embedded", KubebuilderAssets: assets})
	n := mustNode(t, l, "node1")
	reachable := func() bool {
		ctx, cancel := context.WithTimeout(t.Context(), 2*time.Second)
		defer cancel()
		conn, err := n.Dial(ctx, "tcp", n.Gateway()+":6443")
		if err == nil {
			_ = conn.Close()
		}
		return err == nil
	}
	if !reachable() {
		t.Fatal("the API server is not reachable")
	}
	if err := n.Unplug(t.Context(), "eth0"); err != nil {
		t.Fatal(err)
	}
	if reachable() {
		t.Error("the API server is reachable without the NIC")
	}
	if err := n.Plug(t.Context(), "eth0"); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the API server is back with the NIC", func() error {
		if !reachable() {
			return errors.New("not reachable")
		}
		return nil
	})
	t.Run("a node's kubeconfig works in the node", func(t *testing.T) { wantNodes(t, l, n) })
	t.Run("cut and connected", func(t *testing.T) {
		if err := l.CutAPI(t.Context()); err != nil {
			t.Fatal(err)
		}
		if reachable() {
			t.Error("reachable while cut")
		}
		if err := l.ConnectAPI(t.Context()); err != nil {
			t.Fatal(err)
		}
		wantNodes(t, l, n)
	})
	t.Run("stopped and started", func(t *testing.T) {
		for _, verb := range []string{"stop", "start", "kill", "start"} {
			if err := l.APIServer(t.Context(), verb); err != nil {
				t.Fatal(err)
			}
		}
		wantNodes(t, l, n)
	})
	if err := l.Down(t.Context()); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(before, lookAt(t, root)); diff != "" {
		t.Error(diff)
	}
}

func TestAfterABootTheHandlerWaitsForTheAPIServer(t *testing.T) {
	root := testRoot(t)
	assets := os.Getenv("KUBEBUILDER_ASSETS")
	if _, err := controlplane.Locate(t.Context(), controlplane.Search{KubebuilderAssets: assets, NoBuild: true}); err != nil {
		skipOrFail(t, fmt.Errorf("no control plane: %w", err))
	}
	handler := filepath.Join(t.TempDir(), "handler")
	if err := os.WriteFile(handler, []byte("#!/bin/sh\nexec sleep 1000\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	l := mustUp(t, Options{Root: root, ControlPlane: "embedded", KubebuilderAssets: assets, Handler: handler})
	n := mustNode(t, l, "node1")
	is := func(want string) {
		t.Helper()
		eventually(t, "handler "+want, func() error {
			units, err := n.Units(t.Context())
			if err == nil && units[len(units)-1].State != want {
				err = fmt.Errorf("got %+v", units[len(units)-1])
			}
			return err
		})
	}
	do := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	is("running")
	do(l.CutAPI(t.Context()))
	do(n.Handler(t.Context(), "kill"))
	is("running") // within a boot nobody is asked
	do(n.Power(t.Context(), "cut"))
	is("held")
	do(n.Handler(t.Context(), "restart"))
	is("held") // whoever asks
	do(n.Handler(t.Context(), "stop"))
	do(l.ConnectAPI(t.Context()))
	is("stopped")
	do(n.Handler(t.Context(), "start"))
	is("running")
	do(l.APIServer(t.Context(), "kill"))
	do(n.Reboot(t.Context()))
	is("held")
	do(l.APIServer(t.Context(), "start"))
	is("running")
}

// wantNodes lists the Nodes from inside a node, with its own kubeconfig.
func wantNodes(t *testing.T, l *Lab, n *Node) {
	t.Helper()
	assets := l.rec.Assets
	out, err := n.Exec(t.Context(), assets+"/kubectl", "get", "--raw", "/api/v1/nodes")
	if err != nil {
		t.Fatal(err)
	}
	var list struct {
		Items []struct{ Metadata struct{ Name string } }
	}
	if err := json.Unmarshal(out, &list); err != nil {
		t.Fatal(err)
	}
	if len(list.Items) != 3 {
		t.Errorf("nodes: %+v", list.Items)
	}
}
