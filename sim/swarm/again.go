package swarm

import (
	"fmt"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "github.com/nmstate/kubernetes-nmstate/api/v1"
	"github.com/nmstate/kubernetes-nmstate/handler/state"
	"github.com/nmstate/kubernetes-nmstate/sim/world"
)

// histories is the rule that the same policies give the same hosts, whatever
// happened on the way: the run is compared with one in which its last policies
// are applied one after the other and nothing goes wrong.
const histories = "histories"

// betweenPolicies is more than one needs where nothing goes wrong.
const betweenPolicies = 3 * time.Minute

// compare runs the comparison, where the rule can tell something.
func (x *execution) compare(rule string) *Violation {
	if rule != "" && rule != histories || !x.run.isUndone() || !x.allAvailable() {
		return nil
	}
	again := x.again()
	w := world.New(again.Seed)
	defer w.Close()
	other := &execution{ctx: x.ctx, run: &again, world: w}
	if err := other.prepare(histories); err != nil {
		return x.broken("run", err)
	}
	if v := other.until(again.Safety); v != nil {
		return v
	}
	if v := other.settle(); v != nil {
		return &Violation{Rule: histories, At: x.world.Elapsed(), Message: "where nothing goes wrong it does not come to its end: " + v.Message}
	}
	return x.differs(other)
}

// isUndone: whatever was applied and is not any more leaves nothing behind, and
// nobody else had a hand in the hosts.
func (r *Run) isUndone() bool {
	applied := map[string]int{}
	once, reverts := true, true
	for _, a := range r.Actions {
		switch a.Verb {
		case Write, Manage:
			return false
		case Delete, Label:
			once = false
		case Apply:
			applied[a.Name]++
			once = once && applied[a.Name] == 1
			reverts = reverts && a.Spec.OnDelete == "Revert"
		case Confirm, Refresh:
		}
	}
	meddled := []string{"drift", "node-added", "node-removed", "policy-edited", "policy-deleted", "reboot", "power-cut", "dhcp-late", "dhcp-gone"}
	for _, f := range r.Faults {
		if slices.Contains(meddled, f.Kind) {
			return false
		}
	}
	return once || reverts
}

// allAvailable: every policy succeeded on every node that it selects.
func (x *execution) allAvailable() bool {
	all, some := true, false
	x.cluster.API.Each(&v1.NodeNetworkConfigurationEnactment{}, func(o client.Object) {
		some = true
		all = all && slices.ContainsFunc(o.(*v1.NodeNetworkConfigurationEnactment).Status.Conditions, func(c v1.Condition) bool {
			return c.Type == v1.EnactmentAvailable && c.Status == "True"
		})
	})
	return all && some
}

// again is a run that comes to the same policies at once: in the order in which
// they were made, since that decides between them.
func (x *execution) again() Run {
	run := Run{Seed: x.run.Seed, Cluster: x.run.Cluster, Liveness: x.run.Liveness}
	run.Cluster.Nodes = slices.Clone(run.Cluster.Nodes)
	for i, n := range run.Cluster.Nodes {
		if node := x.cluster.API.Look(&corev1.Node{}, n.Name); node != nil {
			run.Cluster.Nodes[i].Labels = node.GetLabels()
		}
	}
	var last []*v1.NodeNetworkConfigurationPolicy
	x.cluster.API.Each(&v1.NodeNetworkConfigurationPolicy{}, func(o client.Object) {
		last = append(last, o.(*v1.NodeNetworkConfigurationPolicy))
	})
	slices.SortStableFunc(last, func(a, b *v1.NodeNetworkConfigurationPolicy) int {
		return a.CreationTimestamp.Compare(b.CreationTimestamp.Time)
	})
	for i, p := range last {
		at := time.Duration(i+1) * betweenPolicies
		run.Actions = append(run.Actions,
			Action{ID: 2 * i, At: at, Verb: Apply, Name: p.Name, Spec: &p.Spec},
			Action{ID: 2*i + 1, At: at + time.Minute, Verb: Confirm, Name: p.Name})
		run.Safety = at + betweenPolicies
	}
	return run
}

// differs finds the first node that is not the same.
func (x *execution) differs(other *execution) *Violation {
	for _, n := range x.cluster.Nodes() {
		same := other.cluster.Node(n.Name)
		if same == nil {
			continue
		}
		difference := append(state.Diff(same.Host.Show(), n.Host.Show()), state.Diff(n.Host.Show(), same.Host.Show())...)
		if len(difference) > 0 {
			return &Violation{
				Rule: histories, Node: n.Name, At: x.world.Elapsed(),
				Message: fmt.Sprintf("with the same policies and nothing going wrong the node is another one: %s", difference[0]),
			}
		}
	}
	return nil
}
