package swarm

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	v1 "github.com/nmstate/kubernetes-nmstate/api/v1"
	"github.com/nmstate/kubernetes-nmstate/sim/fault"
)

// Run is everything that a run depends on.
type Run struct {
	// Seed of the world: latencies, and what faults draw.
	Seed    uint64     `json:"seed"`
	Cluster Cluster    `json:"cluster"`
	Actions []Action   `json:"actions"`
	Faults  fault.Plan `json:"faults"`
	// Safety is how long the workload and the faults last, Liveness how long it
	// may then take until everything is done, Quiet how long nothing may happen
	// after that.
	Safety   time.Duration `json:"safetyNanoseconds"`
	Liveness time.Duration `json:"livenessNanoseconds"`
	Quiet    time.Duration `json:"quietNanoseconds"`
}

// Cluster is what there is at the start.
type Cluster struct {
	// Centralized: the controllers do the policies of all nodes.
	Centralized bool `json:"centralized,omitempty"`
	// Others: every other node has what is not ours on a NIC of policies.
	Others bool `json:"others,omitempty"`
	// Controllers are the instances of the controllers, one of which leads.
	Controllers int    `json:"controllers"`
	Nodes       []Node `json:"nodes"`
	// Spare are nodes that may still come, in this order.
	Spare []Node `json:"spare,omitempty"`
}

// Node is a node. Its NICs are eth0, which carries the API server, and the
// others, all on one switch.
type Node struct {
	Name string `json:"name"`
	NICs int    `json:"nics"`
	// Address of eth0.
	Address string            `json:"address"`
	Labels  map[string]string `json:"labels,omitempty"`
	Tainted bool              `json:"tainted,omitempty"`
	// Bare: no handler ever runs there.
	Bare bool `json:"bare,omitempty"`
	// Late is when eth2 is plugged in; 0 for from the beginning.
	Late time.Duration `json:"lateNanoseconds,omitempty"`
}

// Verb is what an Action does.
type Verb string

// The verbs.
const (
	// Apply creates a policy, or gives it another spec.
	Apply Verb = "apply"
	// Delete deletes a policy.
	Delete Verb = "delete"
	// Confirm confirms the present generation of a policy.
	Confirm Verb = "confirm"
	// Label sets a label of a node, or removes it.
	Label Verb = "label"
	// Manage sets whether a node is managed.
	Manage Verb = "manage"
	// Write writes a node's desired state by hand.
	Write Verb = "write"
	// Refresh asks a node for a report.
	Refresh Verb = "refresh"
	// Precede has the node as the older project leaves it: with what its policies have made
	// there, with the older project's objects, and without a record. Nothing may be under way.
	Precede Verb = "precede"
)

// Action is one thing that people do. On what is not there it does nothing.
type Action struct {
	ID int           `json:"id"`
	At time.Duration `json:"atNanoseconds"`
	// Verb and the name of the policy or node.
	Verb Verb   `json:"verb"`
	Name string `json:"name"`
	// What says in a few words what a spec is about.
	What string `json:"what,omitempty"`
	// Spec of the policy, for Apply.
	Spec *v1.NodeNetworkConfigurationPolicySpec `json:"spec,omitempty"`
	// State for Write; empty takes it away.
	State json.RawMessage `json:"state,omitempty"`
	// Key and Value of the label; an empty value removes it.
	Key   string `json:"key,omitempty"`
	Value string `json:"value,omitempty"`
	// Managed, for Manage.
	Managed bool `json:"managed,omitempty"`
}

// String is one line.
func (a Action) String() string {
	line := fmt.Sprintf("#%d at %s: %s %s", a.ID, a.At, a.Verb, a.Name)
	switch {
	case a.Verb == Label:
		line += fmt.Sprintf(" %s=%s", a.Key, a.Value)
	case a.Verb == Manage:
		line += fmt.Sprintf(" %t", a.Managed)
	case a.What != "":
		line += " (" + a.What + ")"
	}
	return line
}

// String is what a person reads before the trace.
func (r Run) String() string {
	var b strings.Builder
	mode := "distributed"
	if r.Cluster.Centralized {
		mode = "centralized"
	}
	var names []string
	for _, n := range r.Cluster.Nodes {
		names = append(names, fmt.Sprintf("%s(%d NICs%s)", n.Name, n.NICs, labelled(n)))
	}
	fmt.Fprintf(&b, "seed %d: %s, %d controllers, %s\n", r.Seed, mode, r.Cluster.Controllers, strings.Join(names, " "))
	fmt.Fprintf(&b, "phases: safety %s, liveness %s, quiet %s\n", r.Safety, r.Liveness, r.Quiet)
	for _, a := range r.Actions {
		b.WriteString("action " + a.String() + "\n")
	}
	for line := range strings.SplitSeq(r.Faults.String(), "\n") {
		b.WriteString("fault " + line + "\n")
	}
	return b.String()
}

func labelled(n Node) string {
	if zone := n.Labels[zoneLabel]; zone != "" {
		return ", zone " + zone
	}
	return ""
}

// Check finds what makes no sense in a run that was written by hand.
func (r Run) Check() error {
	known := []Verb{Apply, Delete, Confirm, Label, Manage, Write, Refresh, Precede}
	for _, a := range r.Actions {
		switch {
		case !slices.Contains(known, a.Verb):
			return fmt.Errorf("action #%d: there is no verb %q", a.ID, a.Verb)
		case a.Verb == Apply && a.Spec == nil:
			return fmt.Errorf("action #%d: apply %s has no spec", a.ID, a.Name)
		}
	}
	if len(r.Cluster.Nodes) == 0 {
		return errors.New("the run has no nodes")
	}
	return r.Faults.Check()
}
