package oracle

import (
	"fmt"
	"strings"

	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "github.com/nmstate/kubernetes-nmstate/api/v1"
	"github.com/nmstate/kubernetes-nmstate/handler/desired"
)

// blast: of the nodes on which a generation was begun, no more than
// maxUnavailable are without it: a bad policy stops by itself.
//
// As with slots, a node that was granted when more were allowed goes on: a node that
// leaves the cluster frees its slot and takes none back (design §2, rule 4: a slot is
// held while the enactment is approved and not Available).
type blast struct {
	begun   map[attempt]map[string]bool
	allowed map[attempt]int
	// proven are the nodes that have had it: where somebody takes it away there, and it
	// cannot come back at once, it is tried again with the grant that the node has, and
	// is no news to the cluster.
	proven map[attempt]map[string]bool
	// gave: a node died in the middle of it, or left while nobody managed it, and its
	// slot went to another one.
	gave map[attempt]bool
}

// attempt is a generation of a policy.
type attempt struct {
	policy, uid string
	generation  int64
}

func newBlast() *blast {
	return &blast{
		begun: map[attempt]map[string]bool{}, allowed: map[attempt]int{}, proven: map[attempt]map[string]bool{}, gave: map[attempt]bool{},
	}
}

func (*blast) Name() string { return "blast" }

func (b *blast) Observe(f *Facts, e Event) error {
	switch what := e.What.(type) {
	case CheckpointMade:
		t := f.Node(e.Node).Trial
		if t == nil || t.Made != e.At {
			return nil
		}
		source, is := t.Policy()
		if p := f.policy(source.Policy); is && p != nil && p.Generation == source.Generation && !f.returns(p, e.Node, source.Generation) {
			return b.began(f, p, e.Node)
		}
	case CheckpointEnded:
		if t := f.Node(e.Node).Trial; what.How == Committed && t != nil && t.Checkpoint == what.ID {
			b.has(e.Node)
		}
	case Wrote:
		if after, is := what.After.(*v1.NodeNetworkConfigurationEnactment); is && what.Spec {
			b.grants(f, after)
		}
		if after, is := what.After.(*v1.NodeNetworkConfigurationEnactment); is && what.Status && conditionIs(after.Status.Conditions, v1.EnactmentAvailable) {
			node, name := nodeAndPolicy(after)
			b.has(node)
			if p := f.policy(name); p != nil && ownedBy(after, p) {
				b.proves(attempt{name, string(p.UID), after.Status.PolicyGeneration}, node)
			}
		}
		if _, is := what.Before.(*v1.NodeNetworkConfigurationEnactment); is && what.After == nil {
			node, name := nodeAndPolicy(what.Before.(*v1.NodeNetworkConfigurationEnactment))
			b.has(node) // The policy left the node, or the node the cluster.
			for key, nodes := range b.proven {
				if key.policy == name {
					delete(nodes, node)
				}
			}
		}
	}
	return nil
}

// grants: so many nodes may have the generation that a node is granted now. One that
// does not match then holds no slot (design §2, rule 4), also if it comes back later.
func (b *blast) grants(f *Facts, e *v1.NodeNetworkConfigurationEnactment) {
	node, name := nodeAndPolicy(e)
	p := f.policy(name)
	if p == nil || !ownedBy(e, p) || e.Spec.ApprovedGeneration != p.Generation {
		return
	}
	key := attempt{p.Name, string(p.UID), p.Generation}
	limit, _ := f.limit(p, f.unheard(p))
	b.allowed[key] = max(b.allowed[key], limit)
	b.leave(f, p, key)
	if !b.gave[key] {
		b.gave[key] = f.hasLeftUnmanaged(p) || f.aGrantedIsDead(p, node)
	}
}

// hasLeftUnmanaged tells of a node that was granted the generation, that the policy does
// not select any more, and that nobody manages: it stands in nobody's way, and nobody
// takes the change out of its NodeNetworkState. Selected and managed again, it goes on.
func (f *Facts) hasLeftUnmanaged(p *v1.NodeNetworkConfigurationPolicy) bool {
	if len(f.aside) == 0 {
		return false // As in most runs, whose nodes may be thousands.
	}
	has := false
	f.Each(&v1.NodeNetworkConfigurationEnactment{}, func(o client.Object) {
		e := o.(*v1.NodeNetworkConfigurationEnactment)
		node, _ := nodeAndPolicy(e)
		granted := ownedBy(e, p) && e.Spec.ApprovedGeneration == p.Generation
		has = has || granted && desired.SetAside(e) && !f.selects(p, node)
	})
	return has
}

// leave forgets the nodes that the policy does not select now.
func (b *blast) leave(f *Facts, p *v1.NodeNetworkConfigurationPolicy, key attempt) {
	for _, other := range sortedKeys(b.begun[key]) {
		if !f.selects(p, other) || f.IsTaken(other) {
			delete(b.begun[key], other)
		}
	}
}

// has forgets that a node was begun, for every policy: one that is still begun
// for another is counted again at its next attempt.
func (b *blast) has(node string) {
	for _, nodes := range b.begun {
		delete(nodes, node)
	}
}

func (b *blast) proves(key attempt, node string) {
	if b.proven[key] == nil {
		b.proven[key] = map[string]bool{}
	}
	b.proven[key][node] = true
}

func (b *blast) began(f *Facts, p *v1.NodeNetworkConfigurationPolicy, node string) error {
	key := attempt{p.Name, string(p.UID), p.Generation}
	if b.proven[key][node] {
		return nil
	}
	if b.begun[key] == nil {
		b.begun[key] = map[string]bool{}
	}
	nodes := b.begun[key]
	limit, _ := f.limit(p, 0)
	b.allowed[key] = max(b.allowed[key], limit)
	if len(nodes) >= b.allowed[key] {
		b.leave(f, p, key)
	}
	nodes[node] = true
	most := b.allowed[key]
	if len(nodes) > most {
		b.gave[key] = b.gave[key] || anotherIsDead(f, nodes, node)
	}
	if b.gave[key] {
		most++ // Of these the first only gives its slot back.
	}
	if len(nodes) > most {
		return fmt.Errorf("policy %s: generation %d was begun and is not committed on %d nodes (%s), and maxUnavailable allows %d",
			p.Name, p.Generation, len(nodes), strings.Join(sortedKeys(nodes), ", "), most)
	}
	return nil
}
