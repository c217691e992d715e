package view

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/aymanbagabas/go-udiff"

	v1 "github.com/nmstate/kubernetes-nmstate/api/v1"
	"github.com/nmstate/kubernetes-nmstate/handler/state"
)

// NodeDiff is what a node does not have of what is wanted there.
type NodeDiff struct {
	Node string `json:"node"`
	// Policy that wants it and is not applied on the node; empty for the node's whole
	// desired state, of which the policies are applied.
	Policy string `json:"policy,omitempty"`
	// Why the policy is not applied, in one line.
	Why         string       `json:"why,omitempty"`
	Differences []Difference `json:"differences"`
	// text is the difference as unified text.
	text string
}

// Difference of one place: empty for nothing.
type Difference struct {
	Path     string `json:"path"`
	Reported string `json:"reported,omitempty"`
	Desired  string `json:"desired,omitempty"`
}

// NodeDiffs are those of the node's desired state, and of each policy that is not
// applied there. Where nothing differs there is none.
func NodeDiffs(nns *v1.NodeNetworkState, enactments []v1.NodeNetworkConfigurationEnactment) ([]NodeDiff, error) {
	current, err := state.Parse(nns.Status.CurrentState.Raw)
	if err != nil {
		return nil, fmt.Errorf("reading what node %s reports: %w", nns.Name, err)
	}
	found := []NodeDiff{}
	add := func(policy, why, label string, wanted v1.State) error {
		desired, err := state.Parse(wanted.Raw)
		if err != nil {
			return fmt.Errorf("reading what %s wants: %w", label, err)
		}
		one := NodeDiff{Node: nns.Name, Policy: policy, Why: why, Differences: []Difference{}}
		missing := state.Missing(desired, current)
		for _, d := range missing {
			one.Differences = append(one.Differences, Difference{d.Path.String(), d.Got, d.Want})
		}
		has, wants := beside(state.LeavesOf(desired), missing)
		one.text = udiff.Unified(nns.Name+" reported", label, has, wants)
		if len(missing) > 0 {
			found = append(found, one)
		}
		return nil
	}
	if err := add("", "", nns.Name+" desired", nns.Spec.DesiredState); err != nil {
		return nil, err
	}
	for _, enactment := range waiting(nns, enactments) {
		n := Node{}
		policy := &v1.NodeNetworkConfigurationPolicy{}
		policy.Generation = enactment.Status.PolicyGeneration
		n.readPhase(policy, &enactment)
		why := join(string(n.Phase), n.Cause)
		label := fmt.Sprintf("%s desired by policy %s, which is not applied: %s", nns.Name, enactment.Policy(), why)
		if err := add(enactment.Policy(), why, label, enactment.Status.DesiredState); err != nil {
			return nil, err
		}
	}
	return found, nil
}

// waiting are the enactments of policies that want something else than the node's desired
// state has of them.
func waiting(nns *v1.NodeNetworkState, enactments []v1.NodeNetworkConfigurationEnactment) []v1.NodeNetworkConfigurationEnactment {
	applied := map[string]string{}
	for _, source := range nns.Spec.Sources {
		applied[source.Policy] = source.Hash
	}
	var all []v1.NodeNetworkConfigurationEnactment
	for i := range enactments {
		one := &enactments[i]
		wants := !one.Status.DesiredState.IsZero() && applied[one.Policy()] != one.Status.Hash
		if one.Node() == nns.Name && wants && v1.TrueCondition(one.Status.Conditions, v1.Planned) == nil {
			all = append(all, *one)
		}
	}
	slices.SortFunc(all, func(a, b v1.NodeNetworkConfigurationEnactment) int { return cmp.Compare(a.Policy(), b.Policy()) })
	return all
}

// beside are two texts: what the node has of what is wanted, and what is wanted.
func beside(leaves []state.Leaf, missing []state.Difference) (has, wants string) {
	var left, right strings.Builder
	told := map[state.Difference]bool{}
	tell := func(d state.Difference) {
		if !told[d] && d.Got != "" {
			fmt.Fprintln(&left, line(d.Path.String(), d.Got))
		}
		told[d] = true
	}
	for _, leaf := range leaves {
		lacks, absent := false, leaf.Value == "absent" || leaf.Path.IsAbsent()
		for _, d := range missing {
			if state.Owns([]state.Path{leaf.Path}, d) {
				lacks = lacks || absent || d.Want != ""
				tell(d)
			}
		}
		if !lacks {
			fmt.Fprintln(&left, line(leaf.Path.String(), leaf.Value))
		}
		fmt.Fprintln(&right, line(leaf.Path.String(), leaf.Value))
	}
	for _, d := range missing {
		if !told[d] {
			tell(d)
			if d.Want != "" {
				fmt.Fprintln(&right, line(d.Path.String(), d.Want))
			}
		}
	}
	return left.String(), right.String()
}

func line(path, value string) string {
	if value == "" {
		return path
	}
	return path + ": " + value
}

// Lines are the differences as unified text.
func (d NodeDiff) Lines(paint Paint) []string {
	lines := strings.Split(strings.TrimSuffix(d.text, "\n"), "\n")
	for i, line := range lines {
		switch {
		case strings.HasPrefix(line, "---"), strings.HasPrefix(line, "+++"), strings.HasPrefix(line, "@@"):
			lines[i] = paint(Faint, line)
		case strings.HasPrefix(line, "-"):
			lines[i] = paint(Bad, line)
		case strings.HasPrefix(line, "+"):
			lines[i] = paint(Good, line)
		}
	}
	return lines
}
