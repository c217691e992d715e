//go:build linux

package main

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/nmstate/kubernetes-nmstate/e2e/lab"
)

func TestMistakesAreOneClearLine(t *testing.T) {
	dir := t.TempDir()
	bad := filepath.Join(dir, "bad.yaml")
	if err := os.WriteFile(bad, []byte("nodes: []\nhosts: []\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	for name, tt := range map[string]struct{ args, want string }{
		"a lab that is not up":         {"status --root /run/no-such", `no lab "default" is up (lab up starts one)`},
		"a node of no lab":             {"exec --root /run/no-such node1 -- true", `no lab "default" is up (lab up starts one)`},
		"a topology with a mistake":    {"up -f " + bad, bad + `: line 2: unknown key "hosts"`},
		"a topology that is not there": {"up -f /no/such", "reading the topology: open /no/such: no such file or directory"},
		"an unknown output":            {"status -o yaml", `output "yaml": only json is known`},
		"a command that is none":       {"upp", `unknown command "upp" for "lab"`},
	} {
		t.Run(name, func(t *testing.T) {
			root := newRoot()
			root.SetArgs(strings.Fields(tt.args))
			root.SetOut(&bytes.Buffer{})
			root.SetErr(&bytes.Buffer{})
			err := root.ExecuteContext(t.Context())
			if err == nil || strings.SplitN(err.Error(), "\n", 2)[0] != tt.want {
				t.Errorf("got %v, want %s", err, tt.want)
			}
		})
	}
}

func TestExitCodesTellWhatHappened(t *testing.T) {
	for name, tt := range map[string]struct {
		err  error
		want int
	}{
		"done is 0":                             {nil, 0},
		"a failure is 1":                        {errors.New("no"), exitFailed},
		"what the machine lacks is 2":           {fmt.Errorf("up: %w", &lab.UnavailableError{Reason: "no root"}), exitUnavailable},
		"a program's own code is passed on":     {exec.CommandContext(t.Context(), "sh", "-c", "exit 7").Run(), 7},
		"a signal is 128 and its number":        {exec.CommandContext(t.Context(), "sh", "-c", "kill -INT $$").Run(), 130},
		"a program's code is passed on in %w's": {fmt.Errorf("node1: %w", exec.CommandContext(t.Context(), "false").Run()), 1},
	} {
		t.Run(name, func(t *testing.T) {
			if got := exitCode(tt.err); got != tt.want {
				t.Errorf("got %d, want %d", got, tt.want)
			}
		})
	}
}

func TestEveryCommandHasAnExample(t *testing.T) {
	for _, c := range newRoot().Commands() {
		if c.Example == "" {
			t.Errorf("lab %s has no example", c.Name())
		}
	}
}
