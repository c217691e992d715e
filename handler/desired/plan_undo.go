package desired

import (
	"strings"

	v1 "github.com/nmstate/kubernetes-nmstate/api/v1"
	"github.com/nmstate/kubernetes-nmstate/handler/state"
)

const asBefore = "goes back to what was before the policy"

// putBack notes what goes back to what it was, which only the node knows: the
// leaves of the older state that nobody names any more.
func (p *planner) putBack(older state.State) {
	named, interfaces := map[string]bool{}, map[string]bool{}
	for _, path := range state.Paths(p.target) {
		named[path] = true
		interfaces[branch(path)] = true
	}
	for _, path := range state.Paths(older) {
		if named[path] {
			continue
		}
		at := state.ParsePath(path)
		name, leaf := at.Interface, at.Leaf
		switch {
		case at.Section != "interfaces":
			p.elsewhere(state.Difference{Path: at, Want: asBefore})
		case !interfaces[branch(path)]:
			p.note(name, v1.DisruptionAddressLoss, "it "+asBefore, asBefore)
		default:
			key, item, _ := strings.Cut(leaf, "[")
			class, reason := p.classOf(name, key, state.Difference{Got: strings.TrimSuffix(item, "]")})
			p.note(name, class, reason, leaf+": "+asBefore)
		}
	}
}
