package swarm

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"time"
)

// people draws what people do.
type people struct {
	r       *rand.Rand
	cluster Cluster
	until   time.Duration
	actions []Action
}

func drawActions(r *rand.Rand, cluster Cluster, until time.Duration) []Action {
	p := &people{r: r, cluster: cluster, until: until}
	for i := range 1 + r.IntN(5) {
		p.policy(fmt.Sprintf("policy%d", i+1))
	}
	for range r.IntN(3) {
		p.label()
	}
	if chance(r, 15) {
		p.manage()
	}
	if chance(r, 15) {
		p.byHand()
	}
	if chance(r, 10) {
		p.add(Action{At: p.time(0), Verb: Refresh, Name: p.node(), Value: fmt.Sprint(r.IntN(1000))})
	}
	return inOrder(p.actions)
}

func (p *people) add(a Action) { p.actions = append(p.actions, a) }

// time after another, and before the end.
func (p *people) time(after time.Duration) time.Duration {
	return between(p.r, min(after, p.until-time.Second), p.until-time.Second)
}

func (p *people) node() string { return pick(p.r, p.cluster.Nodes...).Name }

// policy draws the life of one: created, edited a few times, perhaps deleted, perhaps
// made again under the same name.
func (p *people) policy(name string) {
	var at time.Duration
	if chance(p.r, 70) {
		at = between(p.r, 0, 3*time.Minute)
	} else {
		at = p.time(0)
	}
	subject := p.subject()
	p.apply(name, at, subject)
	for range p.r.IntN(4) {
		at = p.time(at)
		switch {
		case chance(p.r, 20):
			p.add(Action{At: at, Verb: Delete, Name: name})
			if chance(p.r, 40) { // Made again at once: another object of the same name.
				p.apply(name, at+between(p.r, 0, 20*time.Second), subject)
			}
		case chance(p.r, 30):
			subject = p.subject()
			p.apply(name, at, subject)
		default: // Something else of the same, or a mistake, or the way back from one.
			p.apply(name, at, subject)
		}
	}
}

func (p *people) apply(name string, at time.Duration, subject subject) {
	at = min(at, p.until)
	draft := p.draft(subject)
	p.add(Action{At: at, Verb: Apply, Name: name, What: draft.what, Spec: &draft.spec})
	if draft.asks && chance(p.r, 70) {
		p.add(Action{At: min(at+between(p.r, 10*time.Second, 4*time.Minute), p.until), Verb: Confirm, Name: name})
	}
}

// label flips what policies select by or what a variable comes from.
func (p *people) label() {
	a := Action{At: p.time(0), Verb: Label, Name: p.node()}
	if chance(p.r, 60) {
		a.Key, a.Value = zoneLabel, pick(p.r, "a", "b", "")
	} else {
		a.Key, a.Value = mtuLabel, pick(p.r, "1400", "1450", "")
	}
	p.add(a)
}

// manage takes a node out, and mostly back in.
func (p *people) manage() {
	node, at := p.node(), p.time(0)
	p.add(Action{At: at, Verb: Manage, Name: node, Managed: false})
	if chance(p.r, 80) {
		p.add(Action{At: p.time(at), Verb: Manage, Name: node, Managed: true})
	}
}

// byHand writes a node's desired state, as other systems do: with policies on the node
// these put their own back.
func (p *people) byHand() {
	node, at := p.node(), p.time(0)
	itself := slices.IndexFunc(p.cluster.Nodes, func(n Node) bool { return n.Name == node })
	what, document := p.handWritten(p.cluster.Nodes[itself].Address)
	raw, err := json.Marshal(document)
	if err != nil {
		panic(err) // It is a literal of this package.
	}
	p.add(Action{At: at, Verb: Write, Name: node, What: what, State: raw})
	if chance(p.r, 50) {
		p.add(Action{At: p.time(at), Verb: Write, Name: node, What: "nothing"})
	}
}

// handWritten is a desired state for a node with this address, mostly a good one.
func (p *people) handWritten(address string) (what string, document tree) {
	s := p.subject()
	if chance(p.r, 25) {
		bad := pick(p.r, mistakes()...)
		return "bad: " + bad.what, bad.state(p.r)
	}
	return s.what, literal(s.state(p.r), address)
}
