package view

import (
	"errors"
	"fmt"
	"strconv"

	v1 "github.com/nmstate/kubernetes-nmstate/api/v1"
)

// Word is what a person says to a rollout: one patch of the policy, and what it comes
// to in one line. Where there is nothing to say the patch is empty.
type Word struct {
	// Patch is a JSON merge patch.
	Patch string
	Says  string
}

// ConfirmWord confirms the change of the policy's generation. It is of that generation
// only: should the policy be edited meanwhile, it confirms nothing.
func ConfirmWord(p Policy) (Word, error) {
	waiting := p.names(Confirm)
	if len(waiting) == 0 {
		return Word{}, fmt.Errorf("no node waits for somebody to confirm generation %d of policy %s; kubectl nmstate status %s tells how it fares", p.Generation, p.Name, p.Name)
	}
	generation := strconv.FormatInt(p.Generation, 10)
	return Word{
		Patch: fmt.Sprintf(`{"metadata":{"annotations":{%q:%q}}}`, v1.ConfirmAnnotation, generation),
		Says:  fmt.Sprintf("policy %s: generation %s is confirmed, the change is kept on %s", p.Name, generation, names(waiting)),
	}, nil
}

// PauseWord lets no further node begin.
func PauseWord(policy *v1.NodeNetworkConfigurationPolicy) Word {
	if rules := policy.Spec.Rollout; rules != nil && rules.Paused {
		return Word{Says: fmt.Sprintf("policy %s: it is paused already", policy.Name)}
	}
	return Word{
		Patch: `{"spec":{"rollout":{"paused":true}}}`,
		Says:  fmt.Sprintf("policy %s: paused, no further node begins; what is under way ends", policy.Name),
	}
}

// ResumeWord lets the rollout go on. A pause that is still to come, after the canary
// nodes, is left alone.
func ResumeWord(policy *v1.NodeNetworkConfigurationPolicy) (Word, error) {
	rules := policy.Spec.Rollout
	c := v1.TrueCondition(policy.Status.Conditions, v1.Reconciling)
	held := c != nil && c.Reason == v1.ReasonPaused && policy.Status.ObservedGeneration == policy.Generation
	switch {
	case rules != nil && rules.Paused:
		says := fmt.Sprintf("policy %s: resumed", policy.Name)
		if rules.PauseAfterCanary {
			says += "; it pauses after the canary nodes"
		}
		return Word{Patch: `{"spec":{"rollout":{"paused":null}}}`, Says: says}, nil
	case rules != nil && rules.PauseAfterCanary && held:
		return Word{
			Patch: `{"spec":{"rollout":{"pauseAfterCanary":null}}}`,
			Says:  fmt.Sprintf("policy %s: resumed, the nodes after the canary nodes begin", policy.Name),
		}, nil
	case rules != nil && rules.PauseAfterCanary && policy.Status.ObservedGeneration == policy.Generation && v1.TrueCondition(policy.Status.Conditions, v1.PolicyAvailable) == nil:
		return Word{}, errors.New("policy " + policy.Name + " is not paused yet: its canary nodes are not done")
	}
	return Word{Says: fmt.Sprintf("policy %s: it is not paused", policy.Name)}, nil
}

// RetryWord is a new try on the nodes on which the policy fails, and on those that were
// spared: a new generation that says the same, since Apply is what no mode means.
func RetryWord(policy *v1.NodeNetworkConfigurationPolicy, p Policy) (Word, error) {
	again := append(p.names(Failing), p.names(Aborted)...)
	switch {
	case policy.Spec.Mode == "Plan":
		return Word{}, fmt.Errorf("policy %s is in mode Plan: there is nothing to try", p.Name)
	case policy.Status.ObservedGeneration != policy.Generation:
		return Word{Says: fmt.Sprintf("policy %s: generation %d is a new try already", p.Name, p.Generation)}, nil
	case len(again) == 0:
		return Word{Says: fmt.Sprintf("policy %s: it fails on no node", p.Name)}, nil
	}
	mode := `"Apply"`
	if policy.Spec.Mode != "" {
		mode = "null"
	}
	return Word{
		Patch: `{"spec":{"mode":` + mode + `}}`,
		Says:  fmt.Sprintf("policy %s: generation %d is a new try on %s", p.Name, p.Generation+1, names(again)),
	}, nil
}

// UndoWord lets the policy's end bring back what was there before. It is empty where the
// policy says so already.
func UndoWord(policy *v1.NodeNetworkConfigurationPolicy) Word {
	if policy.Spec.OnDelete == v1.OnDeleteRevert {
		return Word{}
	}
	return Word{
		Patch: `{"spec":{"onDelete":"Revert"}}`,
		Says:  fmt.Sprintf("policy %s: spec.onDelete is Revert now", policy.Name),
	}
}

// KnowsRevert tells whether the node will bring back what was there before the policy,
// once it goes; on a node that has nothing of it there is nothing to bring back.
func KnowsRevert(policy string, state *v1.NodeNetworkState) bool {
	for _, source := range state.Spec.Sources {
		if source.Policy == policy {
			return source.OnDelete == v1.OnDeleteRevert && state.Status.ObservedGeneration >= state.Generation
		}
	}
	return true
}
