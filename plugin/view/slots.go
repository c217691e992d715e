package view

import (
	v1 "github.com/nmstate/kubernetes-nmstate/api/v1"
)

// Slots are the rights to be changing, as the policy's status tells.
type Slots struct {
	// Of is how many nodes may be changing at once, 0 where nobody has said.
	Of int `json:"of"`
	// Taken of them, and the nodes that have one, of many the first. A node that fails keeps
	// it, one that died in the middle of the change gives it back.
	Taken   int      `json:"taken"`
	Holders []string `json:"holders,omitempty"`
}

func slotsOf(policy *v1.NodeNetworkConfigurationPolicy) Slots {
	told := policy.Status.Slots
	if told == nil || policy.Status.ObservedGeneration != policy.Generation {
		return Slots{}
	}
	return Slots{Of: int(told.Limit), Taken: int(told.Taken), Holders: told.Holders}
}
