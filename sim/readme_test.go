package main

import (
	"errors"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/nmstate/kubernetes-nmstate/sim/trace"
)

// ran is a command of the README.
var ran = regexp.MustCompile(`(?m)^(?:diff <\()?go run \./sim ([^#\n)]*)`)

func readme(t *testing.T) string {
	t.Helper()
	text, err := os.ReadFile("README.md")
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// What takes a second is run as it stands there; of what takes minutes, and of
// what needs a seed that breaks a rule, the flags are looked at.
func TestCommandsOfTheREADME(t *testing.T) {
	text := readme(t)
	t.Chdir(t.TempDir()) // For what they write.
	commands := ran.FindAllStringSubmatch(text, -1)
	if len(commands) < 6 {
		t.Fatalf("found %d commands", len(commands))
	}
	for _, found := range commands {
		line := strings.TrimSpace(found[1])
		t.Run(line, func(t *testing.T) {
			args := strings.Fields(line)
			if strings.Contains(line, "-seeds ") || strings.Contains(line, "-shrink") || strings.Contains(line, "-rollout") || strings.Contains(line, "-sweep") {
				if err := command().ParseFlags(twoDashes(args)); err != nil {
					t.Error(err)
				}
				return
			}
			if out, err := said(t, args...); err != nil && !errors.Is(err, errBroken) || out == "" {
				t.Errorf("%v: it printed %d bytes", err, len(out))
			}
		})
	}
}

func TestTheREADMEKnowsEveryKindOfLine(t *testing.T) {
	_, table, _ := strings.Cut(readme(t), "| kind | what it tells |")
	for _, kind := range []string{
		trace.Fault, trace.Start, trace.Killed, trace.Log, trace.Error, trace.Reach, trace.Host, trace.Policy, trace.Node, trace.Leader, trace.Phase, trace.Step, trace.Checkpoint,
		trace.Violation, trace.Fail, "api", "backend", "probe", "journal", "foreign", "helper", "event", "turn", "activation",
	} {
		if !strings.Contains(table, "`"+kind+"`") {
			t.Errorf("the table of kinds lacks %s", kind)
		}
	}
}

const bridge = `-- bridge.yaml --
apiVersion: nmstate.io/v1
kind: NodeNetworkConfigurationPolicy
metadata: {name: bridge}
spec:
  desiredState:
    interfaces:
    - {name: br1, type: linux-bridge, state: up, bridge: {port: [{name: eth1, vlan: {}}]}}
`

func TestTheScenarioOfTheREADMEHolds(t *testing.T) {
	_, script, found := strings.Cut(readme(t), "```\nnodes 3\n")
	script, _, closed := strings.Cut(script, "```")
	if !found || !closed {
		t.Fatal("there is no scenario")
	}
	file := filepath.Join(t.TempDir(), "readme.txtar")
	if err := os.WriteFile(file, []byte("nodes 3\n"+script+bridge), 0o600); err != nil {
		t.Fatal(err)
	}
	if out, err := said(t, "-scenario", file, "-trace-kinds", "step"); err != nil {
		t.Error(err, out)
	}
}
