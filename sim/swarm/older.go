package swarm

import (
	"math/rand/v2"
	"time"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "github.com/nmstate/kubernetes-nmstate/api/v1"
	"github.com/nmstate/kubernetes-nmstate/sim/scenario"
)

// older has nodes of one run in eight taken over from the older project, in the middle of it.
func (r *Run) older(stream *rand.Rand) {
	if stream.IntN(8) != 0 {
		return
	}
	var actions []Action
	for _, n := range r.Cluster.Nodes {
		if chance(stream, 50) {
			actions = append(actions, Action{At: between(stream, 3*time.Minute, r.Safety), Verb: Precede, Name: n.Name})
		}
	}
	r.Actions = inOrder(append(r.Actions, actions...))
}

// precede does nothing where the node has a change under way: the older project has been
// away for a while.
func (a actor) precede(name string) error {
	n := a.cluster.Node(name)
	owner, is := a.cluster.API.Look(&corev1.Node{}, name).(*corev1.Node)
	if n == nil || !is || !n.Host.On() || n.IsTaken() || n.IsBare() || n.Host.JournalOpen() {
		return nil
	}
	n.KillHandler()
	n.Host.ForgetJournal()
	var ours []client.Object
	a.cluster.API.Each(&v1.NodeNetworkConfigurationEnactment{}, func(o client.Object) {
		if e := o.(*v1.NodeNetworkConfigurationEnactment); e.Node() == name {
			ours = append(ours, e)
		}
	})
	if state, is := a.cluster.API.Look(&v1.NodeNetworkState{}, name).(*v1.NodeNetworkState); is {
		ours = append(ours, state)
	}
	for _, object := range ours {
		older := scenario.Older(object, owner)
		if err := scenario.Replace(a.ctx, a.client(), object, older); err != nil {
			return err
		}
	}
	return nil
}
