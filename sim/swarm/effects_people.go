package swarm

import (
	"math/rand/v2"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "github.com/nmstate/kubernetes-nmstate/api/v1"
)

// policyOn is the policy that the node's transaction is about, otherwise any;
// empty when there is none.
func (e *effects) policyOn(node string, r *rand.Rand) string {
	if n := e.cluster.Node(node); n != nil {
		if entry := n.Host.Entry(); entry != nil && entry.Transaction.Change.Policy != "" {
			return entry.Transaction.Change.Policy
		}
	}
	return e.anyPolicy(r)
}

// anyPolicy is one that there is; empty when there is none.
func (e *effects) anyPolicy(r *rand.Rand) string {
	var all []string
	e.cluster.API.Each(&v1.NodeNetworkConfigurationPolicy{}, func(o client.Object) { all = append(all, o.GetName()) })
	if len(all) == 0 {
		return ""
	}
	return all[r.IntN(len(all))]
}

// EditPolicy implements fault.People: it gets another spec, or its own back.
func (e *effects) EditPolicy(node string, r *rand.Rand) {
	if name := e.policyOn(node, r); name != "" {
		e.edit(name, r)
	}
}

func (e *effects) edit(name string, r *rand.Rand) {
	p := &people{r: r, cluster: e.run.Cluster, until: e.run.Safety}
	another := p.draft(p.subject())
	e.cluster.World.Trace("", "policy", "edit "+name+" ("+another.what+")")
	_ = change(e.actor, name, func(policy *v1.NodeNetworkConfigurationPolicy) { policy.Spec = another.spec })
}

// DeletePolicy implements fault.People.
func (e *effects) DeletePolicy(node string, r *rand.Rand) {
	if name := e.policyOn(node, r); name != "" {
		e.cluster.World.Trace("", "policy", "delete "+name)
		_ = e.client().Delete(e.ctx, &v1.NodeNetworkConfigurationPolicy{ObjectMeta: metav1.ObjectMeta{Name: name}})
	}
}

// AddNode implements fault.People.
func (e *effects) AddNode() { e.cluster.AddSpare() }

// RemoveNode implements fault.People. The last one stays: without any there is
// nothing to see.
func (e *effects) RemoveNode(node string) {
	if len(e.cluster.Nodes()) > 1 {
		e.cluster.Remove(node)
	}
}

// Manage implements fault.People.
func (e *effects) Manage(node string, managed bool) {
	_ = e.do(Action{Verb: Manage, Name: node, Managed: managed})
}

// NodeReady implements fault.People.
func (e *effects) NodeReady(node string, ready bool) {
	if n := e.cluster.Node(node); n != nil {
		n.SetReady(ready)
	}
}
