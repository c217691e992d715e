package state_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/nmstate/kubernetes-nmstate/handler/desired"
	"github.com/nmstate/kubernetes-nmstate/handler/state"
)

// TestOneEquality: for every leaf of every type of interface, and for those of the
// node, merge, read-back, drift, plan, difference and undo mean the same by equal. Each
// leaf has a value, the same in other spellings, and another value.
func TestOneEquality(t *testing.T) {
	leaves := state.Leaves()
	if len(leaves) < 400 {
		t.Fatalf("only %d leaves", len(leaves))
	}
	wrong := 0
	for _, leaf := range leaves {
		e := equality{leaf: leaf, is: canonical(t, leaf.Is), other: canonical(t, leaf.Other)}
		for _, spelled := range leaf.Spelled {
			e.same(canonical(t, spelled))
		}
		e.same(e.is)
		e.differs()
		for _, found := range e.found {
			if wrong++; wrong < 200 {
				t.Errorf("%s: %s", leaf.Place, found)
			}
		}
	}
	t.Logf("%d leaves, %d wrong", len(leaves), wrong)
}

// equality judges one leaf.
type equality struct {
	leaf      state.SampleLeaf
	is, other state.State
	found     []string
}

func (e *equality) wrong(format string, values ...any) {
	e.found = append(e.found, fmt.Sprintf(format, values...))
}

// same: what means the same is no conflict, is there, has not drifted, changes
// nothing, and can be undone.
func (e *equality) same(spelled state.State) {
	_, conflicts := desired.Merge(contributions(e.is, spelled))
	if len(conflicts) > 0 {
		e.wrong("a conflict with itself: %v", conflicts[0])
	}
	for _, d := range slices.Concat(state.Missing(e.is, spelled), state.Missing(spelled, e.is)) {
		e.wrong("a difference from itself: %v", d)
	}
	for _, d := range state.Diff(e.is, spelled) {
		e.wrong("a difference of reports: %v", d)
	}
	if plan := desired.Plan(e.is, e.is, spelled, desired.Undone{}); len(plan.Interfaces)+len(plan.Changes) > 0 {
		e.wrong("a plan to change it to itself: %+v", plan)
	}
	if undo := e.undo(spelled); undo.IsEmpty() && !e.leaf.Unread {
		e.wrong("it is there, and is not undone")
	}
}

// differs: what means something else is a conflict, and if a node reports the leaf it
// has drifted, has an owner, is planned and is not undone. What no node reports is told.
func (e *equality) differs() {
	_, conflicts := desired.Merge(contributions(e.is, e.other))
	switch {
	case e.leaf.Key && len(conflicts) > 0:
		e.wrong("a conflict of two entries: %v", conflicts[0])
	case !e.leaf.Key && len(conflicts) == 0:
		e.wrong("no conflict")
	}
	missing := state.Missing(e.is, e.other)
	if len(missing) == 0 {
		if !e.leaf.Unread {
			e.wrong("another value is no difference")
		}
		return
	}
	if e.leaf.Unread {
		e.wrong("a difference in what is not read: %v", missing[0])
	}
	for _, d := range missing {
		if !state.Owns(state.Paths(e.is), d) {
			e.wrong("nobody owns %v; the paths are %q", d, state.Paths(e.is))
		}
	}
	if len(state.Diff(e.is, e.other)) == 0 {
		e.wrong("another value is no difference of reports")
	}
	if plan := desired.Plan(e.is, e.is, e.other, desired.Undone{}); len(plan.Interfaces)+len(plan.Changes) == 0 {
		e.wrong("no plan to change it")
	}
	undo := e.undo(e.other)
	for _, d := range missing {
		if state.Owns(state.Paths(undo), d) && !e.leaf.Key {
			e.wrong("somebody else has changed it, and it is undone: %s", undo.JSON())
		}
	}
}

// undo is what is undone where a policy leaves, before which there was another value.
func (e *equality) undo(current state.State) state.State {
	var known state.Originals
	known = known.Remember(state.State{}, e.is, canonicalOf(e.leaf.Before), nil)
	return state.Undo(e.is, state.State{}, state.Paths(e.is), known, current)
}

func contributions(all ...state.State) []desired.Contribution {
	var found []desired.Contribution
	for i, one := range all {
		found = append(found, desired.Contribution{Policy: string(rune('a' + i)), Created: time.Unix(int64(i), 0), State: one})
	}
	return found
}

func canonical(t *testing.T, raw []byte) state.State {
	t.Helper()
	read, err := state.ParseDesired(raw)
	if err != nil {
		t.Fatalf("%s: %s", raw, strings.ReplaceAll(err.Error(), "\n", "; "))
	}
	return state.Canonical(read)
}

func canonicalOf(raw []byte) state.State {
	read, err := state.Parse(raw)
	if err != nil {
		panic(err)
	}
	return state.Canonical(read)
}
