package oracle

import (
	"slices"
	"time"

	v1 "github.com/nmstate/kubernetes-nmstate/api/v1"
	"github.com/nmstate/kubernetes-nmstate/handler/probe"
	"github.com/nmstate/kubernetes-nmstate/sim/world"
)

// lastWord: what a policy said as it was deleted decides what becomes of its configuration
// (design §4, onDelete), also where the node was busy in between: when it leaves a node's
// desired state, that says so.
type lastWord struct {
	// gone are the policies that were deleted, by their names.
	gone map[string]word
	// began is when processes that look at policies read something for the first time: the
	// next process has not heard what this one has.
	began map[*world.Process]time.Duration
}

type word struct {
	revert bool
	at     time.Duration
	// deaf are the nodes that were cut off as it was said, by a change of their own for instance.
	deaf []string
}

// lastWordKept is for how long at least a handler knows what a deleted policy said.
const lastWordKept = 50 * time.Minute

func newLastWord() *lastWord {
	return &lastWord{gone: map[string]word{}, began: map[*world.Process]time.Duration{}}
}

func (*lastWord) Name() string { return "last-word" }

func (l *lastWord) Observe(f *Facts, e Event) error {
	switch what := e.What.(type) {
	case Read:
		if _, seen := l.began[e.Process]; !seen && !what.Agent {
			l.began[e.Process] = f.Elapsed()
		}
	case Died:
		delete(l.began, e.Process)
	case Wrote:
		if before, had := what.Before.(*v1.NodeNetworkConfigurationPolicy); had && what.After == nil {
			reaches := func(node string) bool { return f.Reaches(node, probe.APIServer) }
			l.gone[before.Name] = word{before.Spec.OnDelete == v1.OnDeleteRevert, f.Elapsed(), slices.DeleteFunc(f.Nodes(), reaches)}
		}
		if after, is := what.After.(*v1.NodeNetworkConfigurationPolicy); is {
			delete(l.gone, after.Name)
		}
		before, had := what.Before.(*v1.NodeNetworkState)
		after, has := what.After.(*v1.NodeNetworkState)
		if role, _ := roleOf(what.Process); role != roleOutside && had && has && what.Spec {
			return l.leaves(f, e.Process, before, after)
		}
	}
	return nil
}

// leaves looks at the policies that leave a node's desired state.
func (l *lastWord) leaves(f *Facts, by *world.Process, before, after *v1.NodeNetworkState) error {
	node := after.Name
	for _, source := range before.Spec.Sources {
		stays := slices.ContainsFunc(after.Spec.Sources, func(s v1.DesiredSource) bool { return s.Policy == source.Policy })
		word, gone := l.gone[source.Policy]
		if stays || !gone || word.revert == (source.OnDelete == v1.OnDeleteRevert) || !l.heard(f, by, node, word) || !hasCommitted(f, node, source.Policy) {
			continue
		}
		return on(node, "policy %s leaves its desired state with onDelete %q, and it said otherwise when it was deleted, %s ago",
			source.Policy, source.OnDelete, f.Elapsed()-word.at)
	}
	return nil
}

// heard tells whether who writes the node's desired state must know what was said then: it
// was at work already, heard of it in time, and began its turn afterwards.
func (l *lastWord) heard(f *Facts, by *world.Process, node string, said word) bool {
	at := said.at
	if slices.Contains(said.deaf, node) && !f.Centralized() {
		return false
	}
	for _, who := range []string{node, Controllers} {
		if !f.Calm(who, max(0, at-hearsAgain), everything) {
			return false
		}
	}
	began, seen := l.began[by]
	return seen && began < at && f.Elapsed()-at > longestTurn && f.Elapsed()-at < lastWordKept
}

// hearsAgain is how long a watch that was cut may take to notice it, and to begin anew.
const hearsAgain = 2 * time.Minute

// longestTurn is how long a policy handler's turn may take where nothing hinders it.
const longestTurn = 5 * time.Second

// hasCommitted tells whether a policy is part of what a node has.
func hasCommitted(f *Facts, node, policy string) bool {
	has := f.Record(node).Committed
	return has != nil && slices.ContainsFunc(has.Sources, func(s v1.DesiredSource) bool { return s.Policy == policy })
}
