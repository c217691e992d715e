//go:build linux

package main

import (
	"os"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"

	v1 "github.com/nmstate/kubernetes-nmstate/api/v1"
	"github.com/nmstate/kubernetes-nmstate/e2e/lab"
	"github.com/nmstate/kubernetes-nmstate/handler/state"
)

func TestTheTopologyAndTheManifestsAreSound(t *testing.T) {
	if _, err := lab.ParseTopology(topology); err != nil {
		t.Error(err)
	}
	for _, name := range []string{"bridge.yaml", "cut-off.yaml", "power.yaml"} {
		raw, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		var policy v1.NodeNetworkConfigurationPolicy
		if err := yaml.UnmarshalStrict(raw, &policy); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if _, err := state.ParseDesired(policy.Spec.DesiredState.Raw); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestTheCutOffIsJudgedByItsEnactments(t *testing.T) {
	type nodes map[string]v1.ConditionType
	for name, tt := range map[string]struct {
		now    nodes
		worked map[string]bool
		failed string
		err    string
	}{
		"one failed and the others never began": {
			now: nodes{"a": v1.EnactmentAborted, "b": v1.EnactmentFailing}, worked: map[string]bool{"b": true}, failed: "b",
		},
		"two failed": {
			now: nodes{"a": v1.EnactmentFailing, "b": v1.EnactmentFailing}, err: "should be Failing and the others Aborted",
		},
		"one was aborted after it had begun": {
			now:    nodes{"a": v1.EnactmentAborted, "b": v1.EnactmentFailing},
			worked: map[string]bool{"a": true, "b": true}, err: "a had begun before it was aborted",
		},
		"none failed": {now: nodes{"a": v1.EnactmentAborted}, err: "no node is Failing"},
		"one is Available": {
			now: nodes{"a": v1.EnactmentAvailable}, err: "a is Available",
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := story{now: map[string]v1.Condition{}, worked: tt.worked}
			for node, kind := range tt.now {
				s.now[node] = v1.Condition{Type: kind}
			}
			failed, err := s.oneFailedRestAborted()
			if failed != tt.failed {
				t.Errorf("failed node: %q, want %q", failed, tt.failed)
			}
			if (err == nil) != (tt.err == "") || (err != nil && !strings.Contains(err.Error(), tt.err)) {
				t.Errorf("error %v, want %q", err, tt.err)
			}
		})
	}
}

func TestADifferenceNamesWhatWasAndWhatIs(t *testing.T) {
	got := difference("same\nold\n", "same\nnew\n")
	if want := "was old; is new"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

func TestItTellsItsVersionAndHowItIsUsed(t *testing.T) {
	for flag, want := range map[string]string{"--version": "demo version devel\n", "--help": "Examples:"} {
		var printed strings.Builder
		code := 0
		cmd := command(&code)
		cmd.SetOut(&printed)
		cmd.SetArgs([]string{flag})
		if err := cmd.ExecuteContext(t.Context()); err != nil || code != 0 || !strings.Contains(printed.String(), want) {
			t.Errorf("%s: exit code %d, error %v, printed %q", flag, code, err, printed.String())
		}
	}
}
