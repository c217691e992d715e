package oracle

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "github.com/nmstate/kubernetes-nmstate/api/v1"
	"github.com/nmstate/kubernetes-nmstate/handler/desired"
)

// slots: at most maxUnavailable nodes have a transaction of a policy open,
// counted on the hosts (design §2, rule 4). An edit may lower it while more are
// open, or a node may leave: who was granted under the higher one goes on, and if it
// fails it keeps its slot. Of a node that has left the controllers hear a little later.
type slots struct {
	// open are the nodes by policy, with the limit when each was begun.
	open map[types.UID]map[string]int
	// closed are those that were: one that goes on with a newer generation of the
	// policy keeps its slot, whatever the newer one allows.
	closed map[types.UID]map[string]slot
	// granted is what was allowed when a node was granted a generation.
	granted map[types.UID]map[granted]int
	// gave: a node of the policy died, and its slot went to another one.
	gave map[types.UID]bool
	// back are the generations that nodes have had, and that may not have come back at once:
	// each tries on with the grant that it has.
	back map[types.UID]map[granted]bool
}

// granted is a node, and a generation that it was granted.
type granted struct {
	node       string
	generation int64
}

// slot that a node had.
type slot struct {
	limit int
	until time.Duration
}

// keepsSlot is how soon a node that goes on must begin anew.
const keepsSlot = time.Minute

func newSlots() *slots {
	return &slots{
		open: map[types.UID]map[string]int{}, closed: map[types.UID]map[string]slot{}, granted: map[types.UID]map[granted]int{},
		gave: map[types.UID]bool{}, back: map[types.UID]map[granted]bool{},
	}
}

func (*slots) Name() string { return "slots" }

func (s *slots) Observe(f *Facts, e Event) error {
	switch what := e.What.(type) {
	case CheckpointMade:
		t := f.Node(e.Node).Trial
		if t == nil || t.Made != e.At {
			return nil
		}
		source, is := t.Policy()
		if p := f.policy(source.Policy); is && p != nil && !s.comesBack(f, p, granted{e.Node, source.Generation}) {
			return s.opened(f, p, e.Node, source.Generation)
		}
	case JournalClosed:
		s.ended(e.Node, f.Elapsed())
		s.refused(f, e.Node, what.Record.Last)
	case CheckpointEnded:
		if what.How == Committed { // A full disk may keep the journal open.
			s.ended(e.Node, f.Elapsed())
		}
	case Wrote:
		if after, is := what.After.(*v1.NodeNetworkConfigurationEnactment); is && what.Spec {
			s.grants(f, after)
		}
	}
	return nil
}

func (s *slots) grants(f *Facts, e *v1.NodeNetworkConfigurationEnactment) {
	node, name := nodeAndPolicy(e)
	p := f.policy(name)
	if p == nil || !ownedBy(e, p) {
		return
	}
	if s.granted[p.UID] == nil {
		s.granted[p.UID] = map[granted]int{}
	}
	key := granted{node, e.Spec.ApprovedGeneration}
	delete(s.back[p.UID], key)
	if _, was := s.granted[p.UID][key]; !was {
		limit, _ := f.limit(p, f.unheard(p))
		s.granted[p.UID][key] = max(limit, s.open[p.UID][node], s.had(f, p, node)) // One that is changing goes on.
		s.gave[p.UID] = s.gave[p.UID] || f.aGrantedIsDead(p, node)                 // It may be back before this one begins.
	}
}

// isOver tells of a node that is as before its change, and whose full disk keeps
// the journal open. Without power it has no network to compare, and nothing of the
// change that was taken back (design §2, rule 10).
func (f *Facts) isOver(node string) bool {
	t := f.Node(node).Trial
	return t != nil && t.Ended != "" && t.Ended != Committed && !f.Calm(node, t.EndedAt, Full) &&
		(!f.Has(node) || f.Network(node).Hash() == t.Before.Hash())
}

// isOff tells of a machine without power whose node nobody manages and that has told
// nobody that it had begun (design §2, rule 9: managed: false stops all reporting).
func (f *Facts) isOff(p *v1.NodeNetworkConfigurationPolicy, node string) bool {
	nns, e := f.state(node), f.enactment(node, p.Name)
	told := e != nil && conditionIs(e.Status.Conditions, v1.EnactmentProgressing)
	return nns != nil && !isManaged(nns) && !f.Has(node) && !told
}

func (s *slots) ended(node string, now time.Duration) {
	for policy, nodes := range s.open {
		limit, was := nodes[node]
		if !was {
			continue
		}
		delete(nodes, node)
		s.keeps(policy, node, slot{limit, now})
	}
}

// refused: an attempt that came to no checkpoint, or was superseded before it had one
// (design §3: a newer generation supersedes the running one). The node keeps its slot
// as well.
func (s *slots) refused(f *Facts, node string, last *v1.Transaction) {
	if last == nil || last.Result != v1.TransactionRefused && last.Result != v1.TransactionSuperseded {
		return
	}
	p := f.policy(last.Policy)
	if p == nil {
		return
	}
	for _, source := range last.Sources {
		limit, was := s.granted[p.UID][granted{node, source.Generation}]
		if source.Policy == last.Policy && was {
			if had := s.closed[p.UID][node]; had.until == f.Elapsed() {
				limit = max(limit, had.limit) // It had a checkpoint, which has ended just now.
			}
			s.keeps(p.UID, node, slot{limit, f.Elapsed()})
		}
	}
}

// had is the limit under which the node had a slot until a moment ago; zero for none.
func (s *slots) had(f *Facts, p *v1.NodeNetworkConfigurationPolicy, node string) int {
	if had := s.closed[p.UID][node]; had.until > 0 && f.Elapsed()-had.until < keepsSlot {
		return had.limit
	}
	return 0
}

func (s *slots) keeps(policy types.UID, node string, had slot) {
	if s.closed[policy] == nil {
		s.closed[policy] = map[string]slot{}
	}
	s.closed[policy][node] = had
}

func (s *slots) opened(f *Facts, p *v1.NodeNetworkConfigurationPolicy, node string, generation int64) error {
	nodes := s.open[p.UID]
	if nodes == nil {
		nodes = map[string]int{}
		s.open[p.UID] = nodes
	}
	limit, known := f.limit(p, 0)
	if !known {
		return nil
	}
	limit = max(limit, s.granted[p.UID][granted{node, generation}])
	limit = max(limit, s.had(f, p, node))
	nodes[node] = limit
	if len(nodes) <= limit {
		return nil
	}
	most := limit
	for _, other := range sortedKeys(nodes) {
		if f.node(other) == nil || f.IsTaken(other) || other != node && (!f.Open(other) || f.isOver(other) || f.isOff(p, other)) {
			delete(nodes, other) // It left the cluster, or closed its journal and died.
		}
		most = max(most, nodes[other])
		s.gave[p.UID] = s.gave[p.UID] || other != node && f.isDead(other)
	}
	if s.gave[p.UID] {
		most++ // The first node that died gives its slot back, and may return.
	}
	if len(nodes) > most {
		return fmt.Errorf("policy %s: %d nodes are changing (%s), and maxUnavailable allows %d", p.Name, len(nodes), strings.Join(sortedKeys(nodes), ", "), most)
	}
	return nil
}

// returns is true of a generation that the node has had. It gave way to a policy that is
// gone now, or was about to leave with a selector that is edited back. Like a
// removal, that is no rollout: all nodes do it at once.
func (f *Facts) returns(p *v1.NodeNetworkConfigurationPolicy, node string, generation int64) bool {
	e := f.enactment(node, p.Name)
	return e != nil && e.Status.Committed != nil && e.Status.Committed.Generation == generation
}

// comesBack tells of a generation that returns, or has returned in vain since it was granted.
func (s *slots) comesBack(f *Facts, p *v1.NodeNetworkConfigurationPolicy, key granted) bool {
	if f.returns(p, key.node, key.generation) {
		if s.back[p.UID] == nil {
			s.back[p.UID] = map[granted]bool{}
		}
		s.back[p.UID][key] = true
	}
	return s.back[p.UID][key]
}

// limit is how many nodes may be changing for a policy: whole numbers as they
// are, percentages of the nodes that match, and of those more, rounded up, at least one.
func (f *Facts) limit(p *v1.NodeNetworkConfigurationPolicy, more int) (int, bool) {
	return limitOf(p, f.matching(p)+more)
}

// limitOf is how many of so many nodes.
func limitOf(p *v1.NodeNetworkConfigurationPolicy, nodes int) (int, bool) {
	percent := 50
	if most := p.Spec.MaxUnavailable; most != nil {
		if most.StrVal == "" {
			return max(most.IntValue(), 1), true
		}
		if _, err := fmt.Sscanf(most.StrVal, "%d%%", &percent); err != nil {
			return 0, false
		}
	}
	return max((nodes*percent+99)/100, 1), true
}

// noteWrite takes in what a write says of the cluster.
func (f *Facts) noteWrite(w Wrote) {
	if w.Kind == "Node" {
		node, _ := w.After.(*corev1.Node)
		f.noteReady(w.Name, node)
	}
	if pod, is := w.After.(*corev1.Pod); is {
		f.notePod(pod)
	}
	if w.Kind == "NodeNetworkConfigurationEnactment" {
		if e, is := w.After.(*v1.NodeNetworkConfigurationEnactment); is && desired.SetAside(e) {
			f.aside[w.Name] = true
		} else {
			delete(f.aside, w.Name)
		}
	}
	switch {
	case w.Kind == "Node" && (w.Spec || w.Metadata):
		f.nodesChanged++
		before, had := w.Before.(*corev1.Node)
		after, has := w.After.(*corev1.Node)
		switch {
		case has && w.Before == nil:
			f.joined[w.Name] = f.Elapsed()
		case !has:
			f.left = append(f.left, f.Elapsed())
		case had && !maps.Equal(before.Labels, after.Labels):
			f.relabelled = append(f.relabelled, relabelled{f.Elapsed(), before})
		}
	case w.Kind == "NodeNetworkConfigurationEnactment" && (w.Spec || w.succeeds()):
		f.granted = f.Elapsed()
	case w.Kind == "NodeNetworkConfigurationPolicy" && w.Before == nil:
		f.planned = f.Elapsed()
	}
}

// succeeds: an enactment becomes Available. A soak begins then.
func (w Wrote) succeeds() bool {
	before, had := w.Before.(*v1.NodeNetworkConfigurationEnactment)
	after, has := w.After.(*v1.NodeNetworkConfigurationEnactment)
	return had && has && conditionIs(after.Status.Conditions, v1.EnactmentAvailable) && !conditionIs(before.Status.Conditions, v1.EnactmentAvailable)
}

// relabelled is a node as it was before its labels changed, and when they did.
type relabelled struct {
	at     time.Duration
	before *corev1.Node
}

// unheard is how many nodes have left the cluster, or what the policy selects, of which
// the controllers may not have heard yet.
func (f *Facts) unheard(p *v1.NodeNetworkConfigurationPolicy) int {
	f.left = slices.DeleteFunc(f.left, func(at time.Duration) bool {
		return f.Elapsed()-at > grantLag && f.Calm(Controllers, at-grantLag, Stale|Hinders)
	})
	return len(f.left) + len(f.movedFrom(p))
}

// movedFrom are the nodes that a label has taken from the policy, of which the controllers
// may not have heard yet.
func (f *Facts) movedFrom(p *v1.NodeNetworkConfigurationPolicy) map[string]bool {
	f.relabelled = slices.DeleteFunc(f.relabelled, func(r relabelled) bool {
		return f.Elapsed()-max(r.at, f.Disturbed(Controllers, Stale|Hinders)) > grantLag
	})
	moved := map[string]bool{}
	for _, r := range f.relabelled {
		if was, err := desired.Selects(p, r.before); err == nil && was && f.node(r.before.Name) != nil && !f.selects(p, r.before.Name) {
			moved[r.before.Name] = true
		}
	}
	return moved
}

// matched is how many nodes a policy selected, at a version of it and of the nodes.
type matched struct {
	uid               types.UID
	generation, nodes int64
	count             int
}

func (f *Facts) matching(p *v1.NodeNetworkConfigurationPolicy) int {
	known := f.matched[p.Name]
	if known.uid == p.UID && known.generation == p.Generation && known.nodes == f.nodesChanged {
		return known.count
	}
	known = matched{p.UID, p.Generation, f.nodesChanged, 0}
	f.Each(&corev1.Node{}, func(o client.Object) {
		if f.selects(p, o.GetName()) {
			known.count++
		}
	})
	f.matched[p.Name] = known
	return known.count
}
