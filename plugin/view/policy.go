package view

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	v1 "github.com/nmstate/kubernetes-nmstate/api/v1"
)

// Objects are what the cluster has of the kinds that are shown.
type Objects struct {
	Policies   []v1.NodeNetworkConfigurationPolicy
	Enactments []v1.NodeNetworkConfigurationEnactment
	States     []v1.NodeNetworkState
}

// Statuses of a policy that are no condition of it.
const (
	// Unseen: the controllers have not looked at the generation yet.
	Unseen = "Unseen"
)

// Policy is how a policy fares.
type Policy struct {
	Name       string `json:"name"`
	Generation int64  `json:"generation"`
	Mode       string `json:"mode"`
	// Status is the condition that is True, or Unseen.
	Status string `json:"status"`
	Reason string `json:"reason,omitempty"`
	// Message is that of the condition, Detail the first cause or what is waited for.
	Message string `json:"message,omitempty"`
	Detail  string `json:"detail,omitempty"`
	// Have is how many nodes have it, such as 2/3.
	Have   string          `json:"have,omitempty"`
	Step   Step            `json:"step"`
	Slots  Slots           `json:"slots"`
	Counts v1.PolicyCounts `json:"counts"`
	Nodes  []Node          `json:"nodes"`
	// goesOn is why it is not at its end, empty where it is.
	goesOn v1.ConditionReason
}

// Step is where the rollout is.
type Step struct {
	// Name is plan, canary, paused, soak, rollout, stopped or done.
	Name string `json:"name"`
	// Canaries are how many nodes go first, CanariesDone how many of them are done.
	Canaries     int `json:"canaries,omitempty"`
	CanariesDone int `json:"canariesDone,omitempty"`
	// SoakLeft is until the last configured node has soaked.
	SoakLeft Duration `json:"soakLeft,omitempty"`
	// Resume tells that a person has to let it go on.
	Resume bool `json:"resume,omitempty"`
}

// Steps of a rollout.
const (
	StepPlan    = "plan"
	StepCanary  = "canary"
	StepPaused  = "paused"
	StepSoak    = "soak"
	StepRollout = "rollout"
	StepStopped = "stopped"
	StepDone    = "done"
)

// Of is what there is to show of a policy.
func Of(policy *v1.NodeNetworkConfigurationPolicy, objects Objects, now time.Time) Policy {
	p := Policy{
		Name: policy.Name, Generation: policy.Generation, Mode: cmp.Or(policy.Spec.Mode, "Apply"),
		Status: Unseen, Counts: policy.Status.Counts, Have: policy.Status.Nodes, Nodes: []Node{},
	}
	states := map[string]*v1.NodeNetworkState{}
	for i := range objects.States {
		states[objects.States[i].Name] = &objects.States[i]
	}
	for i := range objects.Enactments {
		if enactment := &objects.Enactments[i]; isOf(enactment, policy) {
			p.Nodes = append(p.Nodes, nodeOf(policy, enactment, states[enactment.Node()], now))
		}
	}
	slices.SortFunc(p.Nodes, func(a, b Node) int { return cmp.Compare(a.Name, b.Name) })
	p.readStatus(policy)
	p.Slots = slotsOf(policy)
	for i := range p.Nodes {
		p.Nodes[i].Slot = slices.Contains(p.Slots.Holders, p.Nodes[i].Name)
	}
	p.Step = stepOf(policy, p)
	return p
}

// isOf tells an enactment of this policy from one of a deleted policy of the same name.
func isOf(enactment *v1.NodeNetworkConfigurationEnactment, policy *v1.NodeNetworkConfigurationPolicy) bool {
	if enactment.Policy() != policy.Name {
		return false
	}
	for _, owner := range enactment.OwnerReferences {
		if owner.Kind == "NodeNetworkConfigurationPolicy" {
			return owner.UID == policy.UID
		}
	}
	return true
}

// readStatus reads the conditions; those of an older generation say nothing.
func (p *Policy) readStatus(policy *v1.NodeNetworkConfigurationPolicy) {
	if policy.Status.ObservedGeneration != policy.Generation {
		p.Message = fmt.Sprintf("generation %d was not looked at yet", policy.Generation)
		p.goesOn = v1.ReasonConfigurationProgressing
		return
	}
	p.Detail = policy.Status.Message
	for _, kind := range []v1.ConditionType{v1.PolicyDegraded, v1.PolicyAvailable, v1.PolicyIgnored, v1.Planned, v1.PolicyProgressing} {
		if c := v1.TrueCondition(policy.Status.Conditions, kind); c != nil {
			p.Status, p.Reason, p.Message = string(kind), string(c.Reason), c.Message
			break
		}
	}
	if c := v1.TrueCondition(policy.Status.Conditions, v1.Reconciling); c != nil {
		p.goesOn = c.Reason
	}
}

func stepOf(policy *v1.NodeNetworkConfigurationPolicy, p Policy) Step {
	s := Step{Name: StepRollout}
	for _, n := range p.Nodes {
		s.SoakLeft = max(s.SoakLeft, n.SoakLeft)
	}
	if rules := policy.Spec.Rollout; rules != nil && rules.Canary != nil {
		s.Canaries = min(int(*rules.Canary), len(p.Nodes))
		s.CanariesDone = min(s.Canaries, p.count(Available))
	}
	switch {
	case policy.Spec.Mode == "Plan":
		s.Name = StepPlan
	case p.goesOn == v1.ReasonPaused:
		s.Name, s.Resume = StepPaused, true
	case p.Status == string(v1.PolicyAvailable) || p.Status == string(v1.PolicyIgnored):
		s.Name = StepDone
	case p.Status == string(v1.PolicyDegraded) && p.goesOn == "":
		s.Name = StepStopped
	case p.goesOn == v1.ReasonCanary || s.CanariesDone < s.Canaries:
		s.Name = StepCanary
	case p.goesOn == v1.ReasonSoaking:
		s.Name = StepSoak
	}
	return s
}

func (p Policy) count(phase Phase) int {
	n := 0
	for _, node := range p.Nodes {
		if node.Phase == phase {
			n++
		}
	}
	return n
}

// names are those of the nodes in the phase.
func (p Policy) names(phase Phase) []string {
	var names []string
	for _, node := range p.Nodes {
		if node.Phase == phase {
			names = append(names, node.Name)
		}
	}
	return names
}
