package main

import (
	"bufio"
	"context"
	"errors"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"k8s.io/client-go/tools/clientcmd"

	"github.com/nmstate/kubernetes-nmstate/e2e/controlplane"
	"github.com/nmstate/kubernetes-nmstate/e2e/controlplane/controlplanetest"
)

// runAsCommand makes the test's own binary the command.
const runAsCommand = "NMSTATE_TEST_RUN_COMMAND"

func TestMain(m *testing.M) {
	if os.Getenv(runAsCommand) == "1" {
		main()
		return
	}
	os.Exit(m.Run())
}

func command(t *testing.T, arguments ...string) *exec.Cmd {
	t.Helper()
	c := exec.CommandContext(t.Context(), os.Args[0], arguments...)
	c.Env = append(os.Environ(), runAsCommand+"=1")
	return c
}

// daemon starts the command and returns when it has printed its kubeconfig.
func daemon(t *testing.T, dir string) *exec.Cmd {
	t.Helper()
	c := command(t, "--dir", dir)
	output, err := c.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	c.Stderr = controlplanetest.Log(t)
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Process.Kill() })
	line, err := bufio.NewReader(output).ReadString('\n')
	want := "KUBECONFIG=" + filepath.Join(dir, "kubeconfig")
	if err != nil || strings.TrimSpace(line) != want {
		t.Fatalf("it printed %q (%v), want %q", line, err, want)
	}
	return c
}

// listens says whether the API server of a folder listens.
func listens(t *testing.T, dir string) bool {
	t.Helper()
	config, err := clientcmd.BuildConfigFromFlags("", filepath.Join(dir, "kubeconfig"))
	if err != nil {
		t.Fatal(err)
	}
	connection, err := net.Dial("tcp", strings.TrimPrefix(config.Host, "https://"))
	if err != nil {
		return false
	}
	_ = connection.Close()
	return true
}

func run(t *testing.T, arguments ...string) (string, int) {
	t.Helper()
	c := command(t, arguments...)
	output, err := c.CombinedOutput()
	var failed *exec.ExitError
	if err != nil && !errors.As(err, &failed) {
		t.Fatal(err)
	}
	return strings.TrimSpace(string(output)), c.ProcessState.ExitCode()
}

func TestTheCommandIsStoppedStartedAndKilledFromOutside(t *testing.T) {
	controlplanetest.Assets(t, os.Getenv)
	dir := t.TempDir()
	running := daemon(t, dir)

	if output, code := run(t, "--dir", dir); code != exitFailed || !strings.Contains(output, "already running") {
		t.Errorf("a second one in the same folder: exit %d, %q", code, output)
	}
	for _, step := range []struct {
		subcommand string
		listening  bool
	}{{"stop-apiserver", false}, {"start-apiserver", true}} {
		if output, code := run(t, step.subcommand, "--dir", dir); code != 0 {
			t.Fatalf("%s: exit %d, %q", step.subcommand, code, output)
		}
		if got := listens(t, dir); got != step.listening {
			t.Errorf("after %s the API server listens: %t", step.subcommand, got)
		}
	}

	if err := running.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = running.Wait()
	controlplanetest.Eventually(t, func(context.Context) error {
		if listens(t, dir) {
			return errors.New("the API server outlives the killed command")
		}
		return nil
	})
	if _, err := controlplane.Attach(dir); !errors.Is(err, controlplane.ErrNotRunning) {
		t.Errorf("after the kill: %v, want %v", err, controlplane.ErrNotRunning)
	}

	running = daemon(t, dir)
	if output, code := run(t, "stop", "--dir", dir); code != 0 {
		t.Errorf("stop: exit %d, %q", code, output)
	}
	if err := running.Wait(); err != nil {
		t.Errorf("the stopped command ended with %v, want exit 0", err)
	}
}

func TestCtrlCEndsTheCommandWithExitCodeZero(t *testing.T) {
	controlplanetest.Assets(t, os.Getenv)
	running := daemon(t, t.TempDir())
	if err := running.Process.Signal(syscall.SIGINT); err != nil {
		t.Fatal(err)
	}
	if err := running.Wait(); err != nil {
		t.Errorf("it ended with %v, want exit 0", err)
	}
}

func TestWrongUsageIsRefusedInOneLine(t *testing.T) {
	for name, c := range map[string]struct {
		arguments []string
		want      string
		code      int
	}{
		"no folder":              {[]string{}, "--dir is missing", exitUsage},
		"an unknown flag":        {[]string{"--dri", "x"}, "unknown flag", exitUsage},
		"an unknown command":     {[]string{"halt", "--dir", "x"}, `"halt"`, exitUsage},
		"nothing to stop":        {[]string{"stop", "--dir", "/nowhere"}, "no control plane is running", exitFailed},
		"a file for a folder":    {[]string{"--dir", "/dev/null"}, "/dev/null", exitFailed},
		"no programs where told": {[]string{"--dir", "x"}, "is not in /nowhere", exitFailed},
	} {
		t.Run(name, func(t *testing.T) {
			t.Setenv("KUBEBUILDER_ASSETS", "/nowhere")
			if name == "a file for a folder" {
				t.Setenv("KUBEBUILDER_ASSETS", controlplanetest.Assets(t, func(string) string { return "" }).Dir)
			}
			output, code := run(t, c.arguments...)
			if code != c.code || !strings.Contains(output, c.want) {
				t.Errorf("exit %d, %q; want exit %d and %q", code, output, c.code, c.want)
			}
		})
	}
}
