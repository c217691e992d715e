package main

import (
	"bytes"
	"context"
	"errors"
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"
)

// asProgram makes the test's own executable be the program, so that it has
// flags and exit codes and can be killed.
const asProgram = "NMSTATE_TEST_IS_CONTROLLERS"

func TestMain(m *testing.M) {
	if os.Getenv(asProgram) == "1" {
		main()
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// process is the program, running.
type process struct {
	t      *testing.T
	cmd    *exec.Cmd
	stdout bytes.Buffer
	mu     sync.Mutex
	stderr bytes.Buffer
	ended  chan struct{}
}

// Write takes what it prints as an error.
func (p *process) Write(text []byte) (int, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.stderr.Write(text)
}

func (p *process) log() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.stderr.String()
}

// start runs the program on the cluster, with its service account's rights. It
// is killed at the end of the test, if not before.
func (c *cluster) start(args ...string) *process {
	c.Helper()
	executable, err := os.Executable()
	if err != nil {
		c.Fatal(err)
	}
	p := &process{t: c.T, ended: make(chan struct{})}
	p.cmd = exec.CommandContext(context.WithoutCancel(c.ctx), executable, append([]string{"--kubeconfig", c.kubeconfig}, args...)...)
	p.cmd.Env = append(os.Environ(), asProgram+"=1")
	p.cmd.Stdout, p.cmd.Stderr = &p.stdout, p
	if err := p.cmd.Start(); err != nil {
		c.Fatal(err)
	}
	go func() {
		_ = p.cmd.Wait()
		close(p.ended)
	}()
	c.Cleanup(func() {
		p.kill()
		if c.Failed() {
			c.Logf("%v said:\n%s", args, p.log())
		}
	})
	return p
}

// kill is kill -9.
func (p *process) kill() {
	_ = p.cmd.Process.Kill()
	<-p.ended
}

// run waits for the end of the program and returns its exit code, what it
// printed, and its last words.
func (c *cluster) run(args ...string) (code int, printed, last string) {
	c.Helper()
	p := c.start(args...)
	<-p.ended
	lines := strings.Split(strings.TrimSpace(p.log()), "\n")
	return p.cmd.ProcessState.ExitCode(), p.stdout.String(), lines[len(lines)-1]
}

func TestFlagsThatMeanNothingAreRefused(t *testing.T) {
	for sentence, test := range map[string]struct {
		args []string
		want string
	}{
		"a mode that there is not": {[]string{"--mode", "both"}, `--mode "both": want distributed or centralized`},
		"an output without a pass": {[]string{"-o", "json"}, `--output "json": there is json, with --once`},
		"another output than JSON": {[]string{"--once", "-o", "yaml"}, `--output "yaml": there is json, with --once`},
	} {
		t.Run(sentence, func(t *testing.T) {
			cmd := command()
			cmd.SetArgs(test.args)
			if err := cmd.Execute(); !errors.Is(err, errUsage) || !strings.Contains(err.Error(), test.want) {
				t.Errorf("got %v, want %s", err, test.want)
			}
		})
	}
}
