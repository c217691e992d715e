package kind

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"
)

// patience ends what hangs.
const patience = time.Minute

// checkout is a copy of the scripts with images that were never built, and a
// PATH in which docker, dockerd, kind and kubectl are what a test says.
type checkout struct {
	t    *testing.T
	root string
	bin  string
	env  []string
}

func newCheckout(t *testing.T) *checkout {
	t.Helper()
	if runtime.GOOS != "linux" {
		t.Skipf("the scripts are for Linux, this is %s", runtime.GOOS)
	}
	c := &checkout{t: t, root: t.TempDir()}
	c.bin = filepath.Join(c.root, "path")
	for _, folder := range []string{"kind", "hack", "deploy"} {
		if err := os.CopyFS(filepath.Join(c.root, folder), os.DirFS(filepath.Join("..", folder))); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range []string{"handler", "controllers"} {
		c.write(filepath.Join("out", "images", name+".tar"), "never loaded")
	}
	c.tools()
	c.env = []string{"PATH=" + c.bin, "HOME=" + c.root, "KIND_BIN=" + c.bin, "TMPDIR=" + c.root}
	return c
}

// programs are what the scripts call.
const programs = `apt-get awk basename bash cat chmod chroot cp cut date dirname dnf env find flock grep head id install kill ln ls mkdir mktemp
	mv nice paste printf readlink rm rmdir sed seq setsid sh sha256sum sleep sort stat sysctl tail tar tee timeout touch tr umount uname wc`

// tools links what the scripts call into the PATH, but not docker.
func (c *checkout) tools() {
	c.t.Helper()
	for name := range strings.FieldsSeq(programs) {
		if found, err := exec.LookPath(name); err == nil {
			c.link(found, name)
		}
	}
}

func (c *checkout) link(target, name string) {
	c.t.Helper()
	if err := os.MkdirAll(c.bin, 0o755); err != nil {
		c.t.Fatal(err)
	}
	if err := os.Symlink(target, filepath.Join(c.bin, name)); err != nil {
		c.t.Fatal(err)
	}
}

func (c *checkout) write(name, content string) {
	c.t.Helper()
	name = filepath.Join(c.root, name)
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		c.t.Fatal(err)
	}
	if err := os.WriteFile(name, []byte(content), 0o755); err != nil {
		c.t.Fatal(err)
	}
}

// program puts a shell script into the PATH; what it is called with is kept.
func (c *checkout) program(name, body string) {
	c.t.Helper()
	// The machine's own may be linked there, and is not to be written to.
	if err := os.Remove(filepath.Join(c.bin, name)); err != nil && !errors.Is(err, os.ErrNotExist) {
		c.t.Fatal(err)
	}
	c.write(filepath.Join("path", name), "#!/bin/sh\necho \""+name+" $*\" >>"+c.root+"/calls\n"+body)
}

func (c *checkout) calls() string {
	c.t.Helper()
	content, err := os.ReadFile(filepath.Join(c.root, "calls"))
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		c.t.Fatal(err)
	}
	return string(content)
}

// command is a script of this checkout in a process group of its own, as a
// terminal makes one.
func (c *checkout) command(script string, arguments ...string) (*exec.Cmd, *bytes.Buffer) {
	ctx, cancel := context.WithTimeout(c.t.Context(), patience)
	c.t.Cleanup(cancel)
	command := exec.CommandContext(ctx, filepath.Join(c.root, script), arguments...)
	command.Dir, command.Env = c.root, c.env
	command.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	command.WaitDelay = time.Second
	said := &bytes.Buffer{}
	command.Stdout, command.Stderr = said, said
	return command, said
}

// run returns the exit code and what was said.
func (c *checkout) run(script string, arguments ...string) (int, string) {
	c.t.Helper()
	command, said := c.command(script, arguments...)
	if err := command.Run(); err != nil && command.ProcessState == nil {
		c.t.Fatal(err)
	}
	return command.ProcessState.ExitCode(), said.String()
}

const (
	// dockerDown is a docker without a daemon.
	dockerDown = "echo 'Cannot connect to the Docker daemon at unix:///var/run/docker.sock. Is the docker daemon running?' >&2; exit 1\n"
	// dockerForbidden is one that this user may not use.
	dockerForbidden = "echo 'permission denied while trying to connect to the Docker daemon socket' >&2; exit 1\n"
	// dockerEmpty answers and has nothing but the node image.
	dockerEmpty = `case "$1 $2" in "inspect "*) exit 1;; esac; exit 0` + "\n"
)

func TestWhatIsWrongIsSaidInOneLine(t *testing.T) {
	tests := map[string]struct {
		prepare   func(*checkout)
		arguments []string
		exit      int
		says      string
	}{
		"no command": {arguments: []string{"upp"}, exit: 2, says: "kind: there is no command upp; kind/kind.sh --help has them"},
		"a flag that there is not": {
			arguments: []string{"up", "--nodes", "3"}, exit: 2, says: "kind: there is no flag --nodes; kind/kind.sh --help has them",
		},
		"a flag without its value": {arguments: []string{"up", "--workers"}, exit: 2, says: "kind: --workers wants a value"},
		"no workers": {
			arguments: []string{"up", "--workers", "0"}, exit: 2, says: `kind: --workers wants a number from 1 to 20, not "0"`,
		},
		"a mode that there is not": {
			arguments: []string{"up", "--mode", "chaotic"}, exit: 2, says: `kind: --mode is distributed or centralized, not "chaotic"`,
		},
		"a name that no container could have": {
			arguments: []string{"up", "--name", "My Cluster"}, exit: 2,
			says: `kind: --name wants small letters, digits, dots and hyphens, not "My Cluster"`,
		},
		"images that are not built": {
			prepare: func(c *checkout) {
				if err := os.Remove(filepath.Join(c.root, "out/images/handler.tar")); err != nil {
					c.t.Fatal(err)
				}
			},
			arguments: []string{"up"}, exit: 2, says: "kind: out/images/handler.tar is missing: make images",
		},
		"no docker": {arguments: []string{"up"}, exit: 2, says: "docker: docker is not installed: hack/install-deps.sh installs it"},
		"a docker that is not running, where none can be started": {
			prepare:   func(c *checkout) { c.program("docker", dockerDown) },
			arguments: []string{"up"}, exit: 2, says: "docker: docker does not answer and dockerd is not installed: hack/install-deps.sh installs it",
		},
		"a docker elsewhere that is not running": {
			prepare: func(c *checkout) {
				c.program("docker", dockerDown)
				c.env = append(c.env, "DOCKER_HOST=unix:///nowhere.sock")
			},
			arguments: []string{"up"}, exit: 2,
			says: "docker: nothing answers at DOCKER_HOST=unix:///nowhere.sock: start it, or unset DOCKER_HOST (Cannot connect",
		},
		"a docker that this user may not use": {
			prepare:   func(c *checkout) { c.program("docker", dockerForbidden) },
			arguments: []string{"up"}, exit: 2, says: "docker: this user may not use docker: be root, or in the group docker (permission denied",
		},
		"a cluster of the same name, made by hand": {
			prepare: func(c *checkout) {
				c.program("docker", `case $1 in inspect) exit 1;; ps) echo nmstate-control-plane;; esac`+"\n")
			},
			arguments: []string{"up"}, exit: 1,
			says: "kind: a cluster nmstate stands that this checkout did not make: kind delete cluster --name nmstate, or take another --name",
		},
		"a cluster of the same name, made by another checkout": {
			prepare:   func(c *checkout) { c.program("docker", `case $1 in inspect) echo /elsewhere;; esac`+"\n") },
			arguments: []string{"up"}, exit: 1,
			says: "kind: cluster nmstate is that of the checkout /elsewhere: kind/kind.sh down there, or take another --name",
		},
		"to take away what another checkout made": {
			prepare:   func(c *checkout) { c.program("docker", `case $1 in inspect) echo /elsewhere;; esac`+"\n") },
			arguments: []string{"down"}, exit: 1,
			says: "kind: cluster nmstate is that of the checkout /elsewhere: kind/kind.sh down there",
		},
		"to ask for a cluster that there is not": {
			arguments: []string{"env"}, exit: 1, says: "kind: no cluster is ready: kind/kind.sh up",
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			c := newCheckout(t)
			if test.prepare != nil {
				test.prepare(c)
			}
			exit, said := c.run("kind/kind.sh", test.arguments...)
			if exit != test.exit || !strings.HasPrefix(said, test.says) || strings.Count(said, "\n") != 1 {
				t.Errorf("exit code %d and\n%swant exit code %d and one line that begins with\n%s", exit, said, test.exit, test.says)
			}
		})
	}
}

func TestAPortInUseIsSaidBeforeAnythingIsMade(t *testing.T) {
	c := newCheckout(t)
	c.program("docker", dockerEmpty)
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = taken.Close() }()
	_, port, err := net.SplitHostPort(taken.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	exit, said := c.run("kind/kind.sh", "up", "--api-port", port)
	if want := "kind: port " + port + " of 127.0.0.1 is in use: "; exit != 1 || !strings.HasPrefix(said, want) {
		t.Errorf("exit code %d and %q, want 1 and %q", exit, said, want)
	}
	if calls := c.calls(); strings.Contains(calls, "docker run") || strings.Contains(calls, "kind create") {
		t.Errorf("something was made:\n%s", calls)
	}
}

// failingKind is a kind that leaves half a cluster behind, as it does when it is
// interrupted; docker lists the node until kind has deleted it.
func (c *checkout) failingKind(create string) {
	c.program("kind", `case "$1 $2" in
"create cluster") touch `+c.root+`/half; `+create+`;;
"delete cluster") rm -f `+c.root+`/half;;
esac
`)
	c.program("docker", `case $1 in
inspect) exit 1;;
run) touch `+c.root+`/fabric;;
rm) rm -f `+c.root+`/fabric;;
ps) case "$*" in
	*nmstate-fabric*) [ ! -e `+c.root+`/fabric ] || echo nmstate-fabric;;
	*) [ ! -e `+c.root+`/half ] || echo nmstate-control-plane;;
	esac;;
esac
`)
	c.write("kind/image.sh", "#!/bin/sh\necho node:test\n")
}

func TestWhatKindComplainsOfIsSaidAndTakenAway(t *testing.T) {
	c := newCheckout(t)
	c.failingKind("echo 'Creating cluster' >&2; echo 'ERROR: failed to create cluster: no space left' >&2; exit 1")
	exit, said := c.run("kind/kind.sh", "up")
	if want := "kind: kind could not make the cluster: ERROR: failed to create cluster: no space left ("; exit != 1 || !strings.Contains(said, want) {
		t.Errorf("exit code %d and\n%swant 1 and\n%s", exit, said, want)
	}
	c.nothingLeft()
}

func TestCtrlCTakesAwayWhatWasBegun(t *testing.T) {
	c := newCheckout(t)
	c.failingKind(busy)
	if exit, said := c.interrupted("kind/kind.sh", "up"); exit != 130 || !strings.Contains(said, "kind: interrupted\n") {
		t.Errorf("exit code %d and\n%swant 130 and that it was interrupted", exit, said)
	}
	c.nothingLeft()
}

// busy is a program that tells when it has begun, and goes on until Ctrl-C. It
// traps that, since a shell may lose it between two commands.
const busy = `trap 'exit 130' INT; echo busy >>calls; while :; do sleep 0.1; done`

// interrupted runs a script, presses Ctrl-C once a busy program runs, and
// returns the exit code and what was said.
func (c *checkout) interrupted(script string, arguments ...string) (int, string) {
	c.t.Helper()
	command, said := c.command(script, arguments...)
	if err := command.Start(); err != nil {
		c.t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- command.Wait() }()
	for !strings.Contains(c.calls(), "busy") {
		select {
		case err := <-ended:
			c.t.Fatalf("%s ended before the interruption: %v\n%s", script, err, said)
		case <-time.After(20 * time.Millisecond):
		}
	}
	if err := syscall.Kill(-command.Process.Pid, syscall.SIGINT); err != nil {
		c.t.Fatal(err)
	}
	<-ended
	return command.ProcessState.ExitCode(), said.String()
}

// nothingLeft checks that the cluster is deleted and the fabric after it, and
// that no file says that a cluster is ready.
func (c *checkout) nothingLeft() {
	c.t.Helper()
	calls := c.calls()
	created, deleted := strings.Index(calls, "kind create"), strings.LastIndex(calls, "kind delete")
	if removed := strings.LastIndex(calls, "docker rm -f -v nmstate-fabric"); created < 0 || deleted < created || removed < deleted {
		c.t.Errorf("want kind create, kind delete, docker rm in this order:\n%s", calls)
	}
	if _, err := os.Stat(filepath.Join(c.root, "out/kind/env")); !errors.Is(err, os.ErrNotExist) {
		c.t.Errorf("out/kind/env is there: %v", err)
	}
}

func TestAnArchiveIsTheSameBitsTwiceAndNeverHalfThere(t *testing.T) {
	c := newCheckout(t)
	c.write("one/usr/bin/program", "content")
	c.write("two/usr/bin/program", "content")
	var sums [2][32]byte
	for i, root := range []string{"one", "two"} {
		out := filepath.Join(c.root, root+".tar")
		if exit, said := c.run("hack/archive.sh", out, filepath.Join(c.root, root), `{"Entrypoint":["/usr/bin/program"]}`, "name:tag"); exit != 0 {
			t.Fatalf("exit code %d: %s", exit, said)
		}
		content, err := os.ReadFile(out)
		if err != nil {
			t.Fatal(err)
		}
		sums[i] = sha256.Sum256(content)
	}
	if sums[0] != sums[1] {
		t.Error("the same files became different archives")
	}
	if exit, _ := c.run("hack/archive.sh", filepath.Join(c.root, "three.tar"), filepath.Join(c.root, "three"), "{}", "name:tag"); exit == 0 {
		t.Error("an archive of nothing was made")
	}
	if left, err := filepath.Glob(filepath.Join(c.root, "three.tar*")); err != nil || len(left) > 0 {
		t.Errorf("left behind: %v %v", left, err)
	}
}
