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

const oneNIC = `{interfaces: [{name: eth0, type: ethernet, state: up, ipv4: {enabled: true, address: [{ip: 192.0.2.11, prefix-length: 24}]}}]}`

// echoing is a program in a handler's place, for which a state has no profiles.
func echoing(t *testing.T, dir string) string {
	t.Helper()
	path := filepath.Join(dir, "handler")
	if err := os.WriteFile(path, []byte("#!/bin/sh\necho {}\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestMistakesAreOneClearLine(t *testing.T) {
	dir := t.TempDir()
	bad := filepath.Join(dir, "bad.yaml")
	if err := os.WriteFile(bad, []byte("nodes: []\nhosts: []\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	for file, text := range map[string]string{
		"pod.yaml": "{kind: Pod}", "empty.yaml": "",
		"two.yaml":    "{kind: NodeNetworkState, metadata: {name: a}, status: {currentState: " + oneNIC + "}}\n---\n{kind: NodeNetworkState, metadata: {name: a}, status: {currentState: " + oneNIC + "}}",
		"letter.yaml": strings.ReplaceAll(oneNIC, "eth0", "Eth0"), "good.yaml": oneNIC,
	} {
		if err := os.WriteFile(filepath.Join(dir, file), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for name, tt := range map[string]struct{ args, want string }{
		"a file that is no report":     {"from-nns " + dir + "/pod.yaml", dir + "/pod.yaml: a Pod is no NodeNetworkState"},
		"an empty file":                {"from-nns " + dir + "/empty.yaml", dir + "/empty.yaml: there is no NodeNetworkState in it"},
		"a file that is not there":     {"from-nns /no/such", "/no/such: reading the reports: no such file or directory"},
		"two nodes of one name":        {"from-nns " + dir + "/two.yaml", dir + "/two.yaml: two nodes would be called a in the lab: a and a"},
		"a node that is not in it":     {"from-nns " + dir + "/two.yaml b", dir + "/two.yaml: there is no node b in it (there are: a, a)"},
		"no handler":                   {"from-nns --handler /no/such " + dir + "/good.yaml", "no handler at /no/such: make build makes it, --handler says where it is"},
		"a handler that is none":       {"from-nns --handler /bin/false " + dir + "/good.yaml", "node node1: /bin/false profiles: exit status 1"},
		"a comparison with no lab":     {"from-nns --root /run/no-such --handler /bin/true --compare " + dir + "/good.yaml", `no lab "default" is up (lab up starts one)`},
		"a NIC's name that no lab has": {"from-nns --handler " + echoing(t, dir) + " " + dir + "/letter.yaml", dir + `/letter.yaml: the lab cannot have these nodes: nodes[0].nics[0].name: "Eth0" may have only a-z, 0-9 and - and must start and end with a letter or digit`},
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
		"a file that is no report is 2":         {&noReportError{"file", errors.New("no")}, exitUnavailable},
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
