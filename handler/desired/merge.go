package desired

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/nmstate/kubernetes-nmstate/handler/state"
)

// Contribution is what one policy puts into a node's desired state.
type Contribution struct {
	Policy     string
	Generation int64
	Hash       string
	Priority   int32
	Created    time.Time
	State      state.State
}

// Precedence is the total order in which policies are merged: the higher
// priority first, then the older one, then by name. It is negative when a
// comes before b.
func Precedence(a, b Contribution) int {
	return cmp.Or(
		cmp.Compare(b.Priority, a.Priority),
		a.Created.Compare(b.Created),
		cmp.Compare(a.Policy, b.Policy),
	)
}

// Conflict says that two policies set the same leaf to different values.
type Conflict struct {
	// Policy is the later one in the order: it is left out.
	Policy string
	// Other is the one that it disagrees with.
	Other string
	// Path is where: "interfaces[br1].mtu".
	Path string
	// Value is Policy's, OtherValue is Other's, both as JSON.
	Value, OtherValue string
}

// String is the conflict in one line.
func (c Conflict) String() string {
	return fmt.Sprintf("policy %s conflicts with policy %s at %s: %s here, %s there",
		c.Policy, c.Other, c.Path, c.Value, c.OtherValue)
}

// Merge makes one state of several policies, whatever order they come in. A
// policy that disagrees with those before it is left out entirely.
func Merge(contributions []Contribution) (state.State, []Conflict) {
	merged := fold(contributions)
	return merged.state, merged.conflicts
}

// aggregate is the outcome of a merge.
type aggregate struct {
	state state.State
	// members went into it, in merge order.
	members   []Contribution
	conflicts []Conflict
}

func fold(contributions []Contribution) aggregate {
	ordered := slices.Clone(contributions)
	slices.SortStableFunc(ordered, Precedence)
	var merged aggregate
	tree := map[string]any{}
	for _, next := range ordered {
		addition := next.State.Tree()
		if found := disagreement("", "", tree, addition); found != nil {
			merged.conflicts = append(merged.conflicts, merged.blame(next, found))
			continue
		}
		unite("", "", tree, addition)
		merged.members = append(merged.members, next)
	}
	merged.state = state.FromTree(plain(tree).(map[string]any))
	return merged
}

// blame finds the member that the refused one disagrees with.
func (m aggregate) blame(refused Contribution, found *clash) Conflict {
	conflict := Conflict{
		Policy: refused.Policy, Path: found.path,
		Value: shown(found.new), OtherValue: shown(found.old),
	}
	for _, member := range m.members {
		alone := disagreement("", "", member.State.Tree(), refused.State.Tree())
		if alone == nil {
			continue
		}
		if conflict.Other == "" || alone.path == found.path {
			conflict.Other = member.Policy
		}
		if alone.path == found.path {
			break
		}
	}
	return conflict
}

// conflictOf finds a policy's conflict.
func (m aggregate) conflictOf(policy string) (Conflict, bool) {
	i := slices.IndexFunc(m.conflicts, func(c Conflict) bool { return c.Policy == policy })
	if i < 0 {
		return Conflict{}, false
	}
	return m.conflicts[i], true
}
