package view

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	v1 "github.com/nmstate/kubernetes-nmstate/api/v1"
	"github.com/nmstate/kubernetes-nmstate/handler/desired"
)

// Plan is what a policy would change, on all of its nodes.
type Plan struct {
	Policy string `json:"policy"`
	// Says is the blast radius in one line.
	Says string `json:"says"`
	// Changes tells whether something would change on any node.
	Changes bool `json:"changes"`
	// Groups are nodes with equal plans, the most disruptive first.
	Groups []PlanGroup `json:"groups"`
	// Refused are nodes on which there is no plan, since the policy fails there.
	Refused []Refusal `json:"refused,omitempty"`
	// Silent are nodes that have not answered.
	Silent []string `json:"silent,omitempty"`
	// Why the policy as a whole has no plan.
	Why string `json:"why,omitempty"`
}

// PlanGroup is a plan and the nodes that have it.
type PlanGroup struct {
	Hash       string                `json:"hash"`
	Disruption v1.Disruption         `json:"disruption"`
	Nodes      []string              `json:"nodes"`
	Interfaces []v1.PlannedInterface `json:"interfaces,omitempty"`
	// Changes that are no interface's.
	Changes  []string `json:"changes,omitempty"`
	Warnings []string `json:"warnings,omitempty"`
}

// Refusal is why a policy fails on nodes.
type Refusal struct {
	Nodes []string `json:"nodes"`
	Cause string   `json:"cause"`
}

// PlanIsThere tells whether the nodes of a policy in mode Plan have all answered.
func PlanIsThere(policy *v1.NodeNetworkConfigurationPolicy) bool {
	status := &policy.Status
	switch {
	case status.ObservedGeneration != policy.Generation:
		return false
	case v1.TrueCondition(status.Conditions, v1.Planned) != nil, v1.TrueCondition(status.Conditions, v1.PolicyIgnored) != nil:
		return true
	case v1.TrueCondition(status.Conditions, v1.PolicyDegraded) == nil:
		return false
	}
	// Without a node that fails it is the policy that is refused.
	answered := status.Counts.Planned + status.Counts.Failing
	return status.Counts.Failing == 0 || answered >= status.Counts.Matched
}

// PlanOf is what the enactments of a policy in mode Plan say. The name is that under
// which it is shown.
func PlanOf(name string, policy *v1.NodeNetworkConfigurationPolicy, enactments []v1.NodeNetworkConfigurationEnactment) Plan {
	p := Plan{Policy: name, Groups: []PlanGroup{}}
	sorted := slices.Clone(enactments)
	slices.SortFunc(sorted, func(a, b v1.NodeNetworkConfigurationEnactment) int { return cmp.Compare(a.Node(), b.Node()) })
	for i := range sorted {
		if enactment := &sorted[i]; isOf(enactment, policy) {
			p.add(enactment, policy)
		}
	}
	p.order()
	c := v1.TrueCondition(policy.Status.Conditions, v1.PolicyDegraded)
	if c != nil && policy.Status.ObservedGeneration == policy.Generation && len(p.Refused) == 0 {
		p.Why = c.Message
	}
	p.Says = p.radius()
	if c := v1.TrueCondition(policy.Status.Conditions, v1.PolicyIgnored); c != nil && len(p.Groups) == 0 {
		p.Says = c.Message
	}
	return p
}

func (p *Plan) add(enactment *v1.NodeNetworkConfigurationEnactment, policy *v1.NodeNetworkConfigurationPolicy) {
	status, node := &enactment.Status, enactment.Node()
	cause := desired.CauseOf(enactment)
	switch {
	case status.PolicyGeneration == policy.Generation && status.Plan != nil && v1.TrueCondition(status.Conditions, v1.Planned) != nil:
		p.group(node, status.Plan)
	case status.PolicyGeneration == policy.Generation && cause != "":
		p.refuse(node, cause)
	default:
		p.Silent = append(p.Silent, node)
	}
}

func (p *Plan) group(node string, plan *v1.EnactmentPlan) {
	p.Changes = p.Changes || plan.Disruption != v1.DisruptionNone
	for i := range p.Groups {
		if group := &p.Groups[i]; group.Hash == plan.Hash {
			group.Nodes = append(group.Nodes, node)
			return
		}
	}
	p.Groups = append(p.Groups, PlanGroup{plan.Hash, plan.Disruption, []string{node}, plan.Interfaces, plan.Changes, plan.Warnings})
}

// Hashes are those of all groups.
func (p Plan) Hashes() []string {
	var all []string
	for _, group := range p.Groups {
		all = append(all, group.Hash)
	}
	return all
}

// Missing is why the plan is not whole, in one line; empty where it is.
func (p Plan) Missing() string {
	parts := []string{}
	if p.Why != "" {
		parts = append(parts, p.Why)
	}
	for _, refused := range p.Refused {
		parts = append(parts, fmt.Sprintf("it fails on %s: %s", names(refused.Nodes), refused.Cause))
	}
	if len(p.Silent) > 0 {
		parts = append(parts, "no answer from "+names(p.Silent))
	}
	return strings.Join(parts, "; ")
}

// radius counts the nodes of each class, the worst one last and with its reason.
func (p Plan) radius() string {
	var parts []string
	for i := len(p.Groups) - 1; i >= 0; {
		class, nodes := p.Groups[i].Disruption, 0
		first := i
		for ; i >= 0 && p.Groups[i].Disruption == class; i-- {
			nodes, first = nodes+len(p.Groups[i].Nodes), i
		}
		if class == v1.DisruptionNone {
			parts = append(parts, fmt.Sprintf("%s without a change", counted(nodes, "node")))
			continue
		}
		part := fmt.Sprintf("%d %s", nodes, class)
		if why := p.Groups[first].reason(); i < 0 && why != "" {
			part += ": " + why
		}
		parts = append(parts, part)
	}
	if failing := p.failing(); failing > 0 {
		parts = append([]string{counted(failing, "node") + " refused"}, parts...)
	}
	if !p.Changes && failingOrSilent(p) == 0 && len(p.Groups) > 0 {
		return "nothing would change on " + counted(p.planned(), "node")
	}
	return strings.Join(parts, ", ")
}

func failingOrSilent(p Plan) int { return p.failing() + len(p.Silent) }

func (p Plan) failing() int {
	n := 0
	for _, refused := range p.Refused {
		n += len(refused.Nodes)
	}
	return n
}

func (p Plan) planned() int {
	n := 0
	for _, group := range p.Groups {
		n += len(group.Nodes)
	}
	return n
}

// reason is that of the first interface of the plan's class.
func (g PlanGroup) reason() string {
	for _, one := range g.Interfaces {
		if one.Disruption == g.Disruption {
			return one.Name + ": " + one.Reason
		}
	}
	return ""
}

func counted(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

// Lines tell a plan to a person: the blast radius, and for each group what is now and then.
func (p Plan) Lines(paint Paint) []string {
	lines := []string{p.Policy + "  " + cmp.Or(p.Says, "no plan")}
	for _, group := range p.Groups {
		tone := Plain
		switch {
		case group.Disruption == v1.DisruptionNone:
			tone = Good
		case group.Disruption.Severity() > v1.DisruptionReapply.Severity():
			tone = Bad
		}
		lines = append(lines, fmt.Sprintf("%s  %s  %s: %s", group.Hash, paint(tone, string(group.Disruption)), counted(len(group.Nodes), "node"), names(group.Nodes)))
		var rows [][]string
		for _, one := range group.Interfaces {
			name := one.Name
			for _, change := range one.Changes {
				rows, name = append(rows, []string{"  " + name, change}), ""
			}
		}
		for _, change := range group.Changes {
			rows = append(rows, []string{"  -", change})
		}
		for _, warning := range group.Warnings {
			rows = append(rows, []string{"  warning", warning})
		}
		lines = append(lines, columns(rows, func(_, _ int, text string) string { return text })...)
	}
	for _, refused := range p.Refused {
		lines = append(lines, fmt.Sprintf("%s  %s: %s", paint(Bad, "refused"), counted(len(refused.Nodes), "node"), names(refused.Nodes)), "  "+refused.Cause)
	}
	if len(p.Silent) > 0 {
		lines = append(lines, fmt.Sprintf("%s  %s: %s", paint(Bad, "no answer"), counted(len(p.Silent), "node"), names(p.Silent)))
	}
	return lines
}
