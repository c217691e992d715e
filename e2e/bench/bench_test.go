//go:build linux

package main

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/nmstate/kubernetes-nmstate/e2e/lab"
	"github.com/nmstate/kubernetes-nmstate/handler/state"
)

func TestTheTopologyAndTheStatesAreSound(t *testing.T) {
	if _, err := lab.ParseTopology(topology); err != nil {
		t.Error(err)
	}
	for _, desired := range []string{bridge, noBridge, cutOff} {
		if _, err := state.ParseDesired([]byte(desired)); err != nil {
			t.Error(err)
		}
	}
}

func TestStepsAddUpToTheWhole(t *testing.T) {
	at := func(ms int) time.Time { return time.UnixMilli(int64(ms)) }
	log := []line{
		{at(10), transaction, "Baseline"},
		{at(20), "something else", "Arming"},
		{at(30), transaction, "Arming"},
		{at(60), transaction, "Applying"},
		{at(100), transaction, "Probing"},
		{at(150), transaction, "Committing"},
		{at(151), transaction, "Idle"},
		{at(500), transaction, "Baseline"},
	}
	got := stepsOf(log, times{created: at(0), enactment: at(200), policy: at(210)})
	var ms []int64
	for _, step := range got {
		ms = append(ms, step.Milliseconds())
	}
	if diff := cmp.Diff([]int64{10, 20, 30, 40, 50, 1, 49, 10}, ms); diff != "" {
		t.Error(diff)
	}
	if n := countPhase(log, "Baseline"); n != 2 {
		t.Errorf("%d transactions, want 2", n)
	}
}

func TestAStepThatLeftNoLineTakesNoTime(t *testing.T) {
	at := func(ms int) time.Time { return time.UnixMilli(int64(ms)) }
	got := stepsOf(nil, times{created: at(0), enactment: at(5), policy: at(7)})
	if got[len(got)-2] != 5*time.Millisecond || got[len(got)-1] != 2*time.Millisecond || got[0] != 0 {
		t.Errorf("steps %v", got)
	}
}

func TestMedian(t *testing.T) {
	for name, tt := range map[string]struct{ of, want []time.Duration }{
		"of none is zero":                {nil, []time.Duration{0}},
		"is the middle one, not the sum": {[]time.Duration{9, 1, 2}, []time.Duration{2}},
	} {
		if got := median(tt.of); got != tt.want[0] {
			t.Errorf("median %s: %d", name, got)
		}
	}
}

func TestItTellsItsVersionAndHowItIsUsed(t *testing.T) {
	for flag, want := range map[string]string{"--version": "bench version devel\n", "--help": "Examples:"} {
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
