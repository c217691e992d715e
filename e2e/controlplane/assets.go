package controlplane

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"
)

const (
	// envtestVersion selects the binaries that envtest's tool fetches.
	envtestVersion = "1.37.x"
	// envtestTimeout is what the tool may take: it is worth waiting for only
	// where the network is there and quick.
	envtestTimeout = 5 * time.Second
	// toolBuildTimeout is what compiling that small tool may take, once.
	toolBuildTimeout = time.Minute
)

// ErrNotBuilt is returned by Locate where only a build of ten minutes could
// bring the programs and Search.NoBuild is set.
var ErrNotBuilt = errors.New("the control plane's programs are not built; build them with hack/kube/build.sh (about 10 minutes, once) or set KUBEBUILDER_ASSETS")

// Assets are the control plane's programs.
type Assets struct {
	// Dir holds etcd, kube-apiserver, and maybe kube-controller-manager and
	// kubectl.
	Dir string
}

// Path is the path of a program, whether it exists or not.
func (a Assets) Path(program string) string { return filepath.Join(a.Dir, program) }

// Has says whether a program is there.
func (a Assets) Has(program string) bool {
	info, err := os.Stat(a.Path(program))
	return err == nil && info.Mode().IsRegular()
}

// Search says where Locate looks.
type Search struct {
	// KubebuilderAssets is the value of the environment variable
	// KUBEBUILDER_ASSETS, which only main packages and tests read.
	KubebuilderAssets string
	// Root is the root of the repository; if empty, the closest folder above
	// the working directory that is one.
	Root string
	// NoBuild returns ErrNotBuilt where there would be a long build.
	NoBuild bool
	// Log gets a line that says which programs were taken, and the progress
	// of a build. Optional.
	Log io.Writer
}

// Locate finds the control plane's programs: those that the caller names, those
// built earlier, those that envtest's tool has or fetches within seconds, and
// else builds them from their Go modules, which takes about ten minutes once.
func Locate(ctx context.Context, search Search) (Assets, error) {
	if search.Log == nil {
		search.Log = io.Discard
	}
	assets, source, err := search.locate(ctx)
	if err != nil {
		return Assets{}, fmt.Errorf("finding the control plane's programs: %w", err)
	}
	for _, program := range []string{etcdProgram, apiServerProgram} {
		if !assets.Has(program) {
			return Assets{}, fmt.Errorf("finding the control plane's programs: %s is not in %s (%s)", program, assets.Dir, source)
		}
	}
	search.say("using %s, %s", assets.Dir, source)
	return assets, nil
}

func (s Search) locate(ctx context.Context) (Assets, string, error) {
	if s.KubebuilderAssets != "" {
		return Assets{Dir: s.KubebuilderAssets}, "named by KUBEBUILDER_ASSETS", nil
	}
	root, err := s.root()
	if err != nil {
		return Assets{}, "", err
	}
	script := filepath.Join(root, "hack", "kube", "build.sh")
	if dir, err := output(command(ctx, script, "--cached"), io.Discard); err == nil {
		return Assets{Dir: dir}, "built earlier by hack/kube/build.sh", nil
	}
	dir, reason := fetchEnvtest(ctx, filepath.Join(root, "hack", "tools"))
	if reason == nil {
		return Assets{Dir: dir}, "from setup-envtest", nil
	}
	if err := ctx.Err(); err != nil {
		return Assets{}, "", err
	}
	if s.NoBuild {
		return Assets{}, "", ErrNotBuilt
	}
	s.say("building the programs once, about 10 minutes, because setup-envtest has none (%v)", reason)
	if dir, err = output(command(ctx, script), s.Log); err != nil {
		return Assets{}, "", err
	}
	return Assets{Dir: dir}, "built now by hack/kube/build.sh", nil
}

func (s Search) say(format string, arguments ...any) {
	_, _ = fmt.Fprintf(s.Log, "control plane: "+format+"\n", arguments...)
}

// root is the closest folder upwards that can build the programs.
func (s Search) root() (string, error) {
	if s.Root != "" {
		return s.Root, nil
	}
	here, err := os.Getwd()
	if err != nil {
		return "", err
	}
	for dir := here; ; dir = filepath.Dir(dir) {
		if _, err := os.Stat(filepath.Join(dir, "hack", "kube", "build.sh")); err == nil {
			return dir, nil
		}
		if dir == filepath.Dir(dir) {
			return "", fmt.Errorf("%s is not inside a checkout of kubernetes-nmstate; set KUBEBUILDER_ASSETS to a folder with etcd and kube-apiserver", here)
		}
	}
}

// fetchEnvtest returns the folder of envtest's binaries, or why there are none.
func fetchEnvtest(ctx context.Context, tools string) (string, error) {
	building, cancel := context.WithTimeout(ctx, toolBuildTimeout)
	defer cancel()
	build := command(building, "go", "tool", "-n", "setup-envtest")
	build.Dir = tools
	tool, err := output(build, io.Discard)
	if err != nil {
		return "", err
	}
	fetching, cancel := context.WithTimeout(ctx, envtestTimeout)
	defer cancel()
	dir, err := output(command(fetching, tool, "use", envtestVersion, "--print", "path"), io.Discard)
	if fetching.Err() != nil {
		return "", fmt.Errorf("no answer within %s", envtestTimeout)
	}
	return dir, err
}

// command is a command whose whole process group ends with the context.
func command(ctx context.Context, name string, arguments ...string) *exec.Cmd {
	c := exec.CommandContext(ctx, name, arguments...)
	c.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	c.Cancel = func() error { return syscall.Kill(-c.Process.Pid, syscall.SIGTERM) }
	c.WaitDelay = 2 * time.Second
	return c
}

// output runs a command and returns what it printed, or the last line that it
// complained with.
func output(c *exec.Cmd, progress io.Writer) (string, error) {
	var complaints strings.Builder
	c.Stderr = io.MultiWriter(&complaints, progress)
	printed, err := c.Output()
	if err == nil {
		return strings.TrimSpace(string(printed)), nil
	}
	for _, line := range slices.Backward(strings.Split(complaints.String(), "\n")) {
		// What is indented is advice or detail of the line before.
		if line != "" && line == strings.TrimLeft(line, " \t") {
			return "", fmt.Errorf("%s: %s", filepath.Base(c.Path), line)
		}
	}
	return "", fmt.Errorf("%s: %w", filepath.Base(c.Path), err)
}
