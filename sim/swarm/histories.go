package swarm

import (
	"fmt"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "github.com/nmstate/kubernetes-nmstate/api/v1"
	"github.com/nmstate/kubernetes-nmstate/handler/probe"
	"github.com/nmstate/kubernetes-nmstate/handler/state"
	"github.com/nmstate/kubernetes-nmstate/sim/fault"
	"github.com/nmstate/kubernetes-nmstate/sim/oracle"
	"github.com/nmstate/kubernetes-nmstate/sim/world"
)

// histories is the rule that the same policies give the same hosts, whatever
// happened on the way: the run is compared with one in which its last policies
// are applied one after the other and nothing goes wrong.
const histories = "histories"

// Rules are the names of all rules: those of sim/oracle, and that of histories.
func Rules() []string {
	names := []string{histories}
	for _, rule := range oracle.All() {
		names = append(names, rule.Name())
	}
	slices.Sort(names)
	return names
}

// betweenPolicies is more than one needs where nothing goes wrong.
const betweenPolicies = 3 * time.Minute

// compare runs the comparison, where the rule can tell something.
func (x *execution) compare(rule string) *oracle.Violation {
	if rule != "" && rule != histories || !x.run.isUndone() {
		return nil
	}
	calm := x.undisturbed()
	w := world.New(calm.Seed)
	defer w.Close()
	other := &execution{ctx: x.ctx, run: &calm, world: w}
	if err := other.prepare(histories); err != nil {
		return x.broken("run", err)
	}
	if v := other.until(calm.Safety); v != nil {
		return v
	}
	if v := other.settle(); v != nil {
		return &oracle.Violation{Rule: histories, At: x.world.Elapsed(), Message: "where nothing goes wrong it does not come to its end: " + v.Message}
	}
	return x.differs(other)
}

// lasts is true of a fault that changes a host or a policy for good.
func lasts(f fault.Fault) bool {
	return slices.Contains([]string{
		"drift", "device-disconnected", "node-added", "node-removed", "policy-edited", "policy-deleted", "node-set-aside", "reboot", "power-cut", "dhcp-late", "dhcp-gone",
		"edited-in-haste", "deleted-in-haste", "mode-switched", "written-by-hand", "node-lies",
	}, f.Kind)
}

// stays tells of what a person did that leaves something behind: by hand, or by a
// policy that selects what an earlier one has made, or what was announced as long as an
// earlier one had it listened to, and so keeps it (hack/adr/0008: a selection only grows).
func stays(a Action) bool {
	return a.Verb == Write || a.Verb == Manage || a.Verb == Precede || // Nobody knows what was before the older project.
		a.Verb == Apply && slices.ContainsFunc(a.Spec.Match, func(r v1.InterfaceRule) bool { return r.LLDP != nil || r.Type != "" && r.Type != "ethernet" })
}

// undone makes a run one that leaves nothing behind but what its last policies
// say.
func (r Run) undone() Run {
	r.Faults = slices.DeleteFunc(slices.Clone(r.Faults), lasts)
	r.Actions = slices.DeleteFunc(slices.Clone(r.Actions), stays)
	for i, a := range r.Actions {
		if a.Verb == Apply {
			spec := *a.Spec
			spec.OnDelete = v1.OnDeleteRevert
			r.Actions[i].Spec = &spec
		}
	}
	return r
}

// isUndone: whatever was applied and is not any more leaves nothing behind, nobody
// else had a hand in the hosts, and their NICs are there from the beginning.
func (r *Run) isUndone() bool {
	for _, a := range r.Actions {
		if stays(a) || a.Verb == Apply && a.Spec.OnDelete != v1.OnDeleteRevert {
			return false
		}
	}
	return !r.Cluster.hasLate() && !slices.ContainsFunc(r.Faults, lasts)
}

// available are the policies that succeeded on a node; false where one did not:
// what it had before stays then.
func (x *execution) available(node string) (names []string, all bool) {
	all = true
	x.cluster.API.Each(&v1.NodeNetworkConfigurationEnactment{}, func(o client.Object) {
		e := o.(*v1.NodeNetworkConfigurationEnactment)
		if e.Node() != node || x.cluster.API.Look(&v1.NodeNetworkConfigurationPolicy{}, e.Policy()) == nil {
			return
		}
		if slices.ContainsFunc(e.Status.Conditions, func(c v1.Condition) bool { return c.Type == v1.EnactmentAvailable && c.Status == "True" }) {
			names = append(names, e.Policy())
		} else {
			all = false
		}
	})
	return names, all
}

// undisturbed is a run that comes to the same policies at once: in the order in which
// they were made, since that decides between them.
func (x *execution) undisturbed() Run {
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
func (x *execution) differs(other *execution) *oracle.Violation {
	for _, n := range x.cluster.Nodes() {
		same := other.cluster.Node(n.Name)
		here, all := x.available(n.Name)
		there, allOthers := other.available(n.Name)
		if same == nil || !all || !allOthers || !slices.Equal(here, there) || x.residue.kept[n.Name] {
			continue
		}
		if !n.Reaches(probe.APIServer) {
			continue // It hears of no policy: somebody confirmed what cuts it off, or the rule reach tells.
		}
		is, was := withoutMetrics(n.Host.Show()), withoutMetrics(same.Host.Show())
		difference := append(state.Diff(was, is), state.Diff(is, was)...)
		difference = slices.DeleteFunc(difference, func(d state.Difference) bool {
			// The kernel draws those of what it makes, and servers give addresses by them.
			return d.Path.Leaf == "mac-address" || isLeased(is, d.Path) || isLeased(was, d.Path) || looksDown(is, d.Path) || x.residue.stays(n, d)
		})
		if len(difference) > 0 {
			return &oracle.Violation{
				Rule: histories, Node: n.Name, At: x.world.Elapsed(),
				Message: fmt.Sprintf("with the same policies and nothing going wrong the node is another one: %s", oneLine(difference)),
			}
		}
	}
	return nil
}

// isLeased tells whether a path is about an address of an interface that has a lease.
func isLeased(s state.State, path state.Path) bool {
	one, there := s.Interface(path.Interface)
	if path.Section != "interfaces" || !there || !strings.HasSuffix(path.Leaf, "address") || path.Entry == "" {
		return false
	}
	ipv4, _ := one.Tree()["ipv4"].(map[string]any)
	return ipv4["dhcp"] == true
}

// looksDown tells whether a path is about how a NIC looks that is to be down: that depends
// on its driver, as the read-back has it (state.Missing), as long as its addresses are gone.
func looksDown(s state.State, path state.Path) bool {
	one, there := s.Interface(path.Interface)
	return there && path.Section == "interfaces" && path.Leaf == "state" && one.Type == "ethernet" &&
		len(one.Addresses(state.IPv4)) == 0 && len(one.Addresses(state.IPv6)) == 0
}

// withoutMetrics: a host of the model gives a static route without a metric none,
// where NetworkManager gives the default of the device.
func withoutMetrics(s state.State) state.State {
	tree := s.Tree()
	routes, _ := tree["routes"].(map[string]any)
	for _, list := range routes {
		all, _ := list.([]any)
		for _, one := range all {
			if route, is := one.(map[string]any); is {
				delete(route, "metric")
			}
		}
	}
	return state.FromTree(tree)
}

func oneLine(differences []state.Difference) string {
	const most = 6
	var lines []string
	for _, d := range differences[:min(most, len(differences))] {
		lines = append(lines, d.String())
	}
	return strings.Join(lines, "; ")
}
