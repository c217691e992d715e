package swarm

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"

	corev1 "k8s.io/api/core/v1"

	v1 "github.com/nmstate/kubernetes-nmstate/api/v1"
	"github.com/nmstate/kubernetes-nmstate/handler/desired"
)

// What people do in the middle of something else, and take back or do again soon.

// begun notes what ends something that a person has begun on a node.
func (e *effects) begun(what, node string, end func()) { e.undo[what+" "+node] = end }

// ended carries it out.
func (e *effects) ended(what, node string) {
	if end := e.undo[what+" "+node]; end != nil {
		delete(e.undo, what+" "+node)
		end()
	}
}

// policy by its name; nil when there is none.
func (e *effects) policy(name string) *v1.NodeNetworkConfigurationPolicy {
	p, _ := e.cluster.API.Look(&v1.NodeNetworkConfigurationPolicy{}, name).(*v1.NodeNetworkConfigurationPolicy)
	return p
}

// EditAgain implements fault.People.
func (e *effects) EditAgain(node string, first bool, r *rand.Rand) {
	if !first {
		e.ended("edit", node)
		return
	}
	if name := e.policyOn(node, r); name != "" {
		e.edit(name, r)
		e.begun("edit", node, func() { e.edit(name, r) })
	}
}

// DeleteOtherwise implements fault.People.
func (e *effects) DeleteOtherwise(_ string, r *rand.Rand) {
	name := e.anyPolicy(r)
	if name == "" {
		return
	}
	e.cluster.World.Trace("", "policy", "delete "+name+", with the other onDelete")
	_ = change(e.actor, name, func(p *v1.NodeNetworkConfigurationPolicy) {
		if p.Spec.OnDelete == v1.OnDeleteRevert {
			p.Spec.OnDelete = "Retain"
		} else {
			p.Spec.OnDelete = v1.OnDeleteRevert
		}
	})
	_ = e.do(Action{Verb: Delete, Name: name})
}

// RenamePolicy implements fault.People.
func (e *effects) RenamePolicy(node string, r *rand.Rand) {
	name := e.policyOn(node, r)
	old := e.policy(name)
	if old == nil {
		return
	}
	e.renamed++
	spec := old.Spec.DeepCopy()
	_ = e.do(Action{Verb: Delete, Name: name})
	_ = e.do(Action{Verb: Apply, Name: fmt.Sprintf("renamed%d", e.renamed), What: "was " + name, Spec: spec})
}

// SwitchMode implements fault.People. Who has had it planned has it applied again, unless
// somebody else has given it a mode meanwhile.
func (e *effects) SwitchMode(node string, plan bool, r *rand.Rand) {
	if !plan {
		e.ended("mode", node)
		return
	}
	name := e.policyOn(node, r)
	p := e.policy(name)
	if p == nil || p.Spec.Mode == desired.ModePlan {
		return
	}
	was := p.Spec.Mode
	turn := func(from, to string) {
		e.cluster.World.Trace("", "policy", fmt.Sprintf("mode of %s: %q", name, to))
		_ = change(e.actor, name, func(p *v1.NodeNetworkConfigurationPolicy) {
			if p.Spec.Mode == from {
				p.Spec.Mode = to
			}
		})
	}
	turn(was, desired.ModePlan)
	e.begun("mode", node, func() { turn(desired.ModePlan, was) })
}

// MoveLabel implements fault.People.
func (e *effects) MoveLabel(node string, away bool, r *rand.Rand) {
	if !away {
		e.ended("label", node)
		return
	}
	n, is := e.cluster.API.Look(&corev1.Node{}, node).(*corev1.Node)
	if !is || e.undo["label "+node] != nil {
		return
	}
	was := n.Labels[zoneLabel]
	others := slices.DeleteFunc([]string{"a", "b", ""}, func(zone string) bool { return zone == was })
	to := func(zone string) { _ = e.do(Action{Verb: Label, Name: node, Key: zoneLabel, Value: zone}) }
	to(pick(r, others...))
	e.begun("label", node, func() { to(was) })
}

// WriteState implements fault.People.
func (e *effects) WriteState(node string, r *rand.Rand) {
	all := slices.Concat(e.run.Cluster.Nodes, e.run.Cluster.Spare)
	itself := slices.IndexFunc(all, func(n Node) bool { return n.Name == node })
	if itself < 0 {
		return
	}
	p := &people{r: r, cluster: e.run.Cluster, until: e.run.Safety}
	what, document := p.handWritten(all[itself].Address)
	raw, err := json.Marshal(document)
	if err != nil {
		panic(err) // It is a literal of this package.
	}
	_ = e.do(Action{Verb: Write, Name: node, What: what, State: raw})
}
