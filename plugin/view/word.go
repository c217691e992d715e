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
	c := condition(policy.Status.Conditions, v1.Reconciling)
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
	case rules != nil && rules.PauseAfterCanary && policy.Status.ObservedGeneration == policy.Generation && condition(policy.Status.Conditions, v1.PolicyAvailable) == nil:
		return Word{}, errors.New("policy " + policy.Name + " is not paused yet: its canary nodes are not done")
	}
	return Word{Says: fmt.Sprintf("policy %s: it is not paused", policy.Name)}, nil
}
