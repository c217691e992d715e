package desired

import (
	v1 "github.com/nmstate/kubernetes-nmstate/api/v1"
	"github.com/nmstate/kubernetes-nmstate/handler/state"
)

const asBefore = "goes back to what was before the policy"

// Undone is what the node has committed of a policy whose settings go back to what was
// before once the policy does not name them any more.
type Undone struct {
	// Held is what it has committed of the policy, All of all policies.
	Held, All state.State
	// Originals is what was there before, as the node tells it; Whole tells that it
	// leaves nothing out.
	Originals state.Originals
	Whole     bool
}

// undone gathers what a node tells of the time before its policies.
func (t *turn) undone(held state.State) Undone {
	status := &t.in.State.Status
	u := Undone{Held: held, All: fold(t.committed()).state}
	originals, err := OriginalsOf(status)
	if err == nil {
		u.Originals, u.Whole = originals, len(status.Before) > 0 && status.BeforeOmitted == 0
	}
	return u
}

// putBack notes what goes back to what it was: what the node will apply beside the
// target. Of settings whose former value the node does not tell it says just that.
func (p *planner) putBack(u Undone) {
	owned := state.Paths(u.Held)
	back := state.Undo(u.All, p.target, owned, u.Originals, p.current)
	for _, d := range state.Missing(back, p.current) {
		p.difference(d)
	}
	for _, one := range back.Interfaces() {
		p.lostAddresses(one, one)
		if one.State == "down" { // Of one that goes down nothing else would be said.
			tree := one.Tree()
			tree["state"] = "up"
			for _, d := range state.Missing(state.FromTree(map[string]any{"interfaces": []any{tree}}), p.current) {
				p.difference(d)
			}
		}
	}
	p.goBack(owned, u)
}

// goBack notes the settings that nobody names any more and whose former values are not
// told: a handler of an older version tells none, and one tells a bounded number only.
func (p *planner) goBack(owned []state.Path, u Undone) {
	named, interfaces := map[state.Path]bool{}, map[state.Path]bool{}
	for _, path := range state.Paths(p.target) {
		named[path] = true
		interfaces[branch(path)] = true
	}
	for _, path := range owned {
		if named[path] || u.Whole || u.Originals.Knows(path) {
			continue
		}
		name := path.Interface
		switch {
		case path.Section != "interfaces":
			p.elsewhere(state.Difference{Path: path, Want: asBefore})
		case !interfaces[branch(path)]:
			p.note(name, v1.DisruptionAddressLoss, "it "+asBefore, asBefore)
		default:
			class, reason := p.classOf(name, path.Leaf, state.Difference{Got: path.Entry})
			p.note(name, class, reason, path.Rest()+": "+asBefore)
		}
	}
}
