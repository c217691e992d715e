package profiles

import (
	"maps"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/nmstate/kubernetes-nmstate/handler/state"
)

const (
	upOfEth1   = ScriptsDir + "/nmstate-eth1-up.sh"
	downOfEth1 = ScriptsDir + "/nmstate-eth1-down.sh"
)

// script is a file of nmstate's for the activation of eth1.
func script(text string) File {
	return File{Mode: 0o744, Content: []byte(state.ScriptContent("eth1", state.PostActivation, text))}
}

func parsed(t *testing.T, document string) state.State {
	t.Helper()
	s, err := state.Parse([]byte(document))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestScriptsGoForthAndBack(t *testing.T) {
	byHand := File{Mode: 0o755, Content: []byte("#!/bin/sh\n")}
	for name, c := range map[string]struct {
		change        string
		originals     Scripts
		undo          bool
		before, later Files
		// forth is what is written from before, back what is put back from later.
		forth, back []string
		runs        []string
	}{
		"a new one": {
			change: `{"interfaces":[{"name":"eth1","dispatch":{"post-activation":"new"}}]}`, before: Files{}, later: Files{upOfEth1: script("new")},
			forth: []string{"write " + upOfEth1}, back: []string{"remove " + upOfEth1}, runs: []string{"eth1"},
		},
		"one in the place of an administrator's": {
			change: `{"interfaces":[{"name":"eth1","dispatch":{"post-activation":"new"}}]}`, before: Files{upOfEth1: byHand}, later: Files{upOfEth1: script("new")},
			forth: []string{"write " + upOfEth1}, back: []string{"write " + upOfEth1}, runs: []string{"eth1"},
		},
		"one that is there": {
			change: `{"interfaces":[{"name":"eth1","dispatch":{"post-activation":"old"}}]}`, before: Files{upOfEth1: script("old")}, later: Files{upOfEth1: script("old")},
		},
		"an empty text takes it away, and nothing runs": {
			change: `{"interfaces":[{"name":"eth1","dispatch":{"post-activation":""}}]}`, before: Files{upOfEth1: script("old")}, later: Files{},
			forth: []string{"remove " + upOfEth1}, back: []string{"write " + upOfEth1},
		},
		"one for deactivation does not run": {
			change: `{"interfaces":[{"name":"eth1","dispatch":{"post-deactivation":"new"}}]}`, before: Files{}, later: Files{},
			forth: []string{"write " + downOfEth1},
		},
		"an interface that goes takes its scripts along": {
			change: `{"interfaces":[{"name":"eth1","state":"absent"}]}`, before: Files{upOfEth1: byHand}, later: Files{},
			forth: []string{"remove " + upOfEth1}, back: []string{"write " + upOfEth1},
		},
		"what somebody else wrote meanwhile stays": {
			change: `{"interfaces":[{"name":"eth1","dispatch":{"post-activation":"new"}}]}`, before: Files{}, later: Files{upOfEth1: byHand},
			forth: []string{"write " + upOfEth1}, runs: []string{"eth1"},
		},
		"an undo puts back what was there, byte for byte": {
			change:    `{"interfaces":[{"name":"eth1","dispatch":{"post-activation":"#!/bin/sh\n"}}]}`,
			originals: Scripts{upOfEth1: &byHand}, undo: true, before: Files{upOfEth1: script("new")}, later: Files{upOfEth1: byHand},
			forth: []string{"write " + upOfEth1}, back: []string{"write " + upOfEth1}, runs: []string{"eth1"},
		},
		"an undo that takes an interface away leaves scripts that no policy had named": {
			change: `{"interfaces":[{"name":"eth1","state":"absent"}]}`, undo: true, before: Files{upOfEth1: byHand}, later: Files{upOfEth1: byHand},
		},
	} {
		t.Run(name, func(t *testing.T) {
			change := Change{Scripts: ScriptsOf(parsed(t, c.change), c.originals, c.undo)}
			before, later := Snapshot{Scripts: c.before}, Snapshot{Scripts: c.later}
			forth := words(Permanent(before, nil, before, change))
			if diff := cmp.Diff(append(c.forth, "sync"), forth); diff != "" {
				t.Errorf("forth (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(c.back, words(ScriptsBack(before, later, change))); diff != "" {
				t.Errorf("back (-want +got):\n%s", diff)
			}
			if got := ScriptDifferences(before, later, change); len(got) != len(c.back) {
				t.Errorf("differences: %v", got)
			}
			if diff := cmp.Diff(c.runs, change.Scripts.Runs(before)); diff != "" {
				t.Errorf("what runs (-want +got):\n%s", diff)
			}
		})
	}
}

func TestScriptsOfBeforeAreRememberedAsLongAsTheyAreNamed(t *testing.T) {
	byHand, old := File{Mode: 0o755, Content: []byte("#!/bin/sh\n")}, script("old")
	both := `{"interfaces":[{"name":"eth1","dispatch":{"post-activation":"x","post-deactivation":"y"}}]}`
	for name, c := range map[string]struct {
		known   Scripts
		before  Files
		desired string
		want    Scripts
	}{
		"as they were before the change":         {nil, Files{upOfEth1: byHand}, both, Scripts{upOfEth1: &byHand, downOfEth1: nil}},
		"as they are known":                      {Scripts{upOfEth1: &byHand}, Files{upOfEth1: old}, both, Scripts{upOfEth1: &byHand, downOfEth1: nil}},
		"one that is not named any more is not":  {Scripts{upOfEth1: &byHand}, Files{upOfEth1: old}, `{}`, Scripts{}},
		"where nobody looks, what is known":      {Scripts{upOfEth1: &byHand}, nil, both, Scripts{upOfEth1: &byHand}},
		"one of an interface that goes is named": {nil, Files{upOfEth1: byHand}, `{"interfaces":[{"name":"eth1","state":"absent"}]}`, Scripts{upOfEth1: &byHand, downOfEth1: nil}},
	} {
		t.Run(name, func(t *testing.T) {
			got := Snapshot{Scripts: c.before}.Originals(c.known, parsed(t, c.desired))
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("remembered (-want +got):\n%s", diff)
			}
		})
	}
	left := Scripts{upOfEth1: &byHand, downOfEth1: nil}.Without(parsed(t, `{"interfaces":[{"name":"eth1","dispatch":{"post-activation":"x"}}]}`))
	if diff := cmp.Diff([]string{downOfEth1}, slices.Collect(maps.Keys(left))); diff != "" {
		t.Errorf("left for an undo (-want +got):\n%s", diff)
	}
}
