//go:build linux

package cluster

import (
	"context"
	"os/exec"
	"syscall"
	"testing"
	"time"
)

func TestANameIsClaimedOnce(t *testing.T) {
	release, err := Claim(t.Context(), "test-claim")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := Claim(t.Context(), "test-claim"); err == nil {
		t.Error("claimed twice")
	}
	release()
	release, err = Claim(t.Context(), "test-claim")
	if err != nil {
		t.Fatalf("after its release: %v", err)
	}
	release()
}

// Down ends the controllers of its own cluster, and no other process: not those
// of a cluster whose name begins alike, and no other program.
func TestOnlyOurControllersAreEnded(t *testing.T) {
	root := t.TempDir()
	start := func(program, kubeconfig string) *exec.Cmd {
		// A shell that waits for its input stands in for the program.
		cmd := exec.CommandContext(t.Context(), "/bin/sh", "-c", "read line", "sh", "--kubeconfig", kubeconfig)
		cmd.Args[0] = program
		if _, err := cmd.StdinPipe(); err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		return cmd
	}
	ours := start("/x/controllers", root+"/one/kubeconfig")
	others := []*exec.Cmd{
		start("/x/controllers", root+"/one-more/kubeconfig"),
		start("/x/something", root+"/one/kubeconfig"),
	}
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	ended := make(chan error, 1)
	go func() { ended <- ours.Wait() }()
	if err := endControllers(ctx, root, "one"); err != nil {
		t.Fatal(err)
	}
	select {
	case <-ended:
	case <-ctx.Done():
		t.Error("ours were not ended")
	}
	for _, cmd := range others {
		if err := cmd.Process.Signal(syscall.Signal(0)); err != nil {
			t.Errorf("%s was ended", cmd.Args[0])
		}
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	}
}
