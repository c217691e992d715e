package view

import (
	"k8s.io/apimachinery/pkg/util/intstr"

	v1 "github.com/nmstate/kubernetes-nmstate/api/v1"
)

// Slots are the rights to be changing.
type Slots struct {
	// Of is how many nodes may be changing at once, 0 where nobody has said how many match.
	Of int `json:"of"`
	// Holders are the nodes that have one. A node that fails keeps it.
	Holders []string `json:"holders,omitempty"`
}

func slotsOf(policy *v1.NodeNetworkConfigurationPolicy, nodes []Node) Slots {
	var s Slots
	for _, n := range nodes {
		if n.Slot {
			s.Holders = append(s.Holders, n.Name)
		}
	}
	if policy.Spec.Mode == "Plan" {
		return s
	}
	matching := int(policy.Status.Counts.Matched + policy.Status.Counts.NotReady)
	if policy.Status.ObservedGeneration != policy.Generation || matching == 0 {
		return s
	}
	s.Of = limit(policy.Spec.MaxUnavailable, matching)
	return s
}

// limit is how many of the matching nodes may be changing at once: at least one, a
// percentage rounded up, a number in quotes that number.
func limit(most *intstr.IntOrString, matching int) int {
	value := intstr.FromString("50%")
	if most != nil {
		value = *most
	}
	if value.Type == intstr.String {
		value = intstr.Parse(value.StrVal)
	}
	n, err := intstr.GetScaledValueFromIntOrPercent(&value, matching, true)
	if err != nil { // The policy's own message says what is wrong with it.
		return 0
	}
	return min(max(n, 1), max(matching, 1))
}

// holdsSlot tells whether the node is changing or allowed to. A failing node keeps its
// slot, one that has what the generation says already needs none.
func holdsSlot(policy *v1.NodeNetworkConfigurationPolicy, enactment *v1.NodeNetworkConfigurationEnactment, n Node) bool {
	if policy.Spec.Mode == "Plan" {
		return false
	}
	approved := enactment.Spec.ApprovedGeneration == policy.Generation && !n.unchanged
	switch n.Phase {
	case Available, Planned, Aborted:
		return false
	case Soaking, Changing, Confirm:
		return true
	}
	return approved
}
