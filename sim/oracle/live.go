package oracle

import (
	"fmt"
	"slices"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "github.com/nmstate/kubernetes-nmstate/api/v1"
	"github.com/nmstate/kubernetes-nmstate/sim/world"
)

// live: nothing is begun for an old word. When an apply is asked for, the
// NodeNetworkState wants it; when a policy's state is written for a node, the
// policy is as it was rendered. Who read that live, before it changed, is excused.
type live struct{}

func (live) Name() string { return "live" }

func (live) Observe(f *Facts, e Event) error {
	switch what := e.What.(type) {
	case Applying:
		t := f.Node(e.Node).asked
		nns := f.state(e.Node)
		if t == nil || t.Entry == nil || nns == nil {
			return nil
		}
		hash := t.Entry.Transaction.Change.Hash
		wants := func(s *v1.NodeNetworkState) bool {
			return s != nil && isManaged(s) && hashOf(s.Spec.DesiredState) == hash
		}
		if wants(nns) {
			return nil
		}
		if r, is := f.lastRead(e.Process, nns, e.Node, true); is {
			if read, _ := r.object.(*v1.NodeNetworkState); wants(read) {
				return nil
			}
		}
		return fmt.Errorf("a change is applied that its NodeNetworkState (generation %d, managed %t) does not want, and it was not read live", nns.Generation, isManaged(nns))
	case Wrote:
		if after, is := what.After.(*v1.NodeNetworkState); is && what.Spec && e.Process != nil {
			return proposed(f, e, what, after)
		}
	}
	return nil
}

// proposed looks at the policies that a write of a node's desired state brings.
func proposed(f *Facts, e Event, w Wrote, after *v1.NodeNetworkState) error {
	before, _ := w.Before.(*v1.NodeNetworkState)
	for _, source := range after.Spec.Sources {
		if before == nil || slices.ContainsFunc(before.Spec.Sources, func(s v1.DesiredSource) bool {
			return s.Policy == source.Policy && s.Hash == source.Hash
		}) {
			continue
		}
		if enacted := f.enactment(after.Name, source.Policy); enacted != nil && enacted.Status.Committed != nil && enacted.Status.Committed.Hash == source.Hash {
			continue // Back to what the node has.
		}
		current := func(p *v1.NodeNetworkConfigurationPolicy) bool {
			return p != nil && p.Generation == source.Generation && f.selects(p, after.Name)
		}
		if current(f.policy(source.Policy)) {
			continue
		}
		if r, is := f.lastRead(e.Process, &v1.NodeNetworkConfigurationPolicy{}, source.Policy, true); is {
			if read, _ := r.object.(*v1.NodeNetworkConfigurationPolicy); read != nil && read.Generation == source.Generation {
				continue
			}
		}
		if f.Centralized() && f.readLive(e.Process, &v1.NodeNetworkConfigurationPolicy{}, source.Policy, source.Generation) {
			continue
		}
		return on(after.Name, "generation %d of policy %s is written into its desired state, the policy is not that any more, and it was not read live",
			source.Generation, source.Policy)
	}
	return nil
}

// superseded: a change that its state handler knows to be not wanted any more is not
// committed.
type superseded struct{}

func (superseded) Name() string { return "superseded" }

func (superseded) Observe(f *Facts, e Event) error {
	what, is := e.What.(Committing)
	t := f.Node(e.Node).Trial
	if !is || t == nil || t.Entry == nil || t.Checkpoint != what.ID || t.Process != e.Process {
		return nil
	}
	r, known := f.reads[e.Process]["agent NodeNetworkState/"+e.Node]
	nns, _ := r.object.(*v1.NodeNetworkState)
	if !known || nns == nil {
		return nil
	}
	change := t.Entry.Transaction.Change
	unwanted := !isManaged(nns) || nns.Generation > change.Generation && hashOf(nns.Spec.DesiredState) != change.Hash
	decided := e.At
	if t.Proven > 0 {
		decided = t.Proven // Since then it is being made permanent.
	}
	if unwanted && r.at < decided-committedAtOnce {
		return fmt.Errorf("%s is committed, and its process has read that generation %d wants something else", what.ID, nns.Generation)
	}
	return nil
}

// committedAtOnce is for a commit that was on its way when the state handler read it.
const committedAtOnce = 10 * time.Millisecond

// oneChange: a node's desired state differs from what the node has by one policy
// that is new to it, so that a failure has an author.
type oneChange struct {
	// had are the hashes that each node has committed, by policy.
	had map[string]map[string]bool
}

func newOneChange() *oneChange { return &oneChange{had: map[string]map[string]bool{}} }

func (*oneChange) Name() string { return "one-change" }

func (o *oneChange) Observe(f *Facts, e Event) error {
	switch what := e.What.(type) {
	case JournalClosed:
		if what.Record.Committed != nil {
			o.remember(e.Node, what.Record.Committed.Sources)
		}
	case CheckpointMade:
		t := f.Node(e.Node).Trial
		if t == nil || t.Made != e.At || t.Entry == nil {
			return nil
		}
		if has := f.Record(e.Node).Committed; has != nil { // A process may have died as it wrote it.
			o.remember(e.Node, has.Sources)
		}
		var fresh []string
		for _, s := range t.Entry.Sources {
			if !o.had[e.Node][s.Policy+" "+s.Hash] {
				fresh = append(fresh, s.Policy)
			}
		}
		if len(fresh) > 1 {
			return fmt.Errorf("one transaction changes several policies: %v", fresh)
		}
	}
	return nil
}

func (o *oneChange) remember(node string, sources []v1.DesiredSource) {
	if o.had[node] == nil {
		o.had[node] = map[string]bool{}
	}
	for _, s := range sources {
		o.had[node][s.Policy+" "+s.Hash] = true
	}
}

// readLive tells whether a process has read a generation of an object past its
// cache, not longer ago than a turn takes: of the controllers' turns, which know
// nothing of one another, another one may have read a newer one since.
func (f *Facts) readLive(p *world.Process, like client.Object, name string, generation int64) bool {
	turn := time.Minute
	r, is := f.reads[p][generationKey(kindOf(like)+"/"+name, generation)]
	if is && !f.Calm(Controllers, r.at, Stale) {
		turn = 2 * longestCall // It writes the enactment first.
	}
	return is && f.Elapsed()-r.at <= turn
}

func generationKey(key string, generation int64) string {
	return fmt.Sprint("live ", key, "@", generation)
}
