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

// Conflict says that two policies set the same leaf to different values, or
// make a circle of interfaces.
type Conflict struct {
	// Policy is the later one in the order: it is left out.
	Policy string
	// Other is the one that it disagrees with.
	Other string
	// Path is where: "interfaces[br1].mtu".
	Path string
	// Value is Policy's, OtherValue is Other's, both as JSON.
	Value, OtherValue string
	// Cycle, instead of a path and values, is the circle that the two make of
	// interfaces: "br1 -> bond0 -> br1".
	Cycle string
	// Size, instead, is what the node's spec would come to with the policy, in bytes.
	Size int
}

// String is the conflict in one line.
func (c Conflict) String() string {
	if c.Size > 0 {
		return fmt.Sprintf("with policy %s what the node's policies set comes to %d bytes, and its NodeNetworkState has room for %d: leave out what another policy sets already, or what the node need not have",
			c.Policy, c.Size, maxSpec)
	}
	if c.Cycle != "" {
		return fmt.Sprintf("policy %s conflicts with policy %s: together they make interfaces stand on each other in a circle: %s",
			c.Policy, c.Other, c.Cycle)
	}
	return fmt.Sprintf("policy %s conflicts with policy %s at %s: %s here, %s there",
		c.Policy, c.Other, c.Path, c.Value, c.OtherValue)
}

// maxSpec is the most that a NodeNetworkState's spec may take, in bytes: its status takes
// up to 700 KiB, and etcd takes 1.5 MiB.
const maxSpec = 768 << 10

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
	merged := foldInOrder(ordered)
	// A circle is rare: only then is it worth finding out who closes it.
	var circles []Conflict
	for state.Cycle(merged.state) != "" {
		found := merged.circle()
		circles = append(circles, found)
		ordered = slices.DeleteFunc(ordered, func(c Contribution) bool { return c.Policy == found.Policy })
		merged = foldInOrder(ordered)
	}
	merged.conflicts = append(merged.conflicts, circles...)
	return merged
}

// circle blames the circle on the first member with which there is one, and on
// the first of those before it that are needed for it.
func (m aggregate) circle() Conflict {
	circle, last := "", 0
	for circle == "" {
		last++
		circle = state.Cycle(foldInOrder(m.members[:last]).state)
	}
	needed := slices.Clone(m.members[:last])
	for i := 0; i < len(needed)-1; {
		without := slices.Delete(slices.Clone(needed), i, i+1)
		if smaller := state.Cycle(foldInOrder(without).state); smaller != "" {
			needed, circle = without, smaller
			continue
		}
		i++
	}
	return Conflict{Policy: m.members[last-1].Policy, Other: needed[0].Policy, Cycle: circle}
}

func foldInOrder(ordered []Contribution) aggregate {
	var merged aggregate
	tree, used := map[string]any{}, newUses()
	for _, next := range ordered {
		uses := usesOf(next)
		if found, is := used.contradicts(uses); is {
			merged.conflicts = append(merged.conflicts, found)
			continue
		}
		addition := next.State.Tree()
		if found := disagreement("", "", tree, addition); found != nil {
			merged.conflicts = append(merged.conflicts, merged.blame(next, found))
			continue
		}
		unite("", "", tree, addition)
		used.add(uses)
		merged.members = append(merged.members, next)
	}
	merged.state = state.FromTree(plain(tree).(map[string]any))
	return merged
}

// blame finds the member that the refused one disagrees with.
func (m aggregate) blame(refused Contribution, found *clash) Conflict {
	conflict := Conflict{
		Policy: refused.Policy, Path: found.path,
		Value: shownAt(found.path, found.new), OtherValue: shownAt(found.path, found.old),
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
