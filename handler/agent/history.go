package agent

import (
	"slices"

	v1 "github.com/nmstate/kubernetes-nmstate/api/v1"
	"github.com/nmstate/kubernetes-nmstate/handler/idle"
	"github.com/nmstate/kubernetes-nmstate/handler/txn"
)

// past is how a transaction ended, as the history keeps it. What is committed is still
// what was before it.
func (a *Agent) past(outcome txn.Outcome) v1.PastTransaction {
	one := v1.PastTransaction{Ended: *idle.InSeconds(a.Clock.Now()), Since: *idle.InSeconds(a.entry.Since), Result: outcome.Result}
	if outcome.Message != "" {
		one.Message = inShort(shortened(outcome.Message))
	}
	if len(a.entry.Correction) > 0 {
		for _, subject := range a.entry.Correction[:min(len(a.entry.Correction), v1.HistoryLimit)] {
			one.Corrected = append(one.Corrected, inShort(subject))
		}
		return one
	}
	one.Policy = outcome.Change.Policy
	for _, source := range a.entry.Sources {
		if one.Policy != "" && source.Policy == one.Policy {
			one.PolicyGeneration = source.Generation
		}
	}
	if a.record.Committed != nil {
		for _, source := range a.record.Committed.Sources {
			if len(one.Removed) < v1.HistoryLimit && !slices.ContainsFunc(a.entry.Sources, func(s v1.DesiredSource) bool { return s.Policy == source.Policy }) {
				one.Removed = append(one.Removed, source.Policy)
			}
		}
	}
	return one
}

// remembered puts a transaction before the others. One that came to the same as the one
// before it is one more attempt; so a node that tries again and again keeps the rest.
func remembered(history []v1.PastTransaction, one v1.PastTransaction) []v1.PastTransaction {
	if len(history) > 0 && isAttempt(history[0], one) {
		one.Since, one.Attempts = history[0].Since, max(history[0].Attempts, 1)+1
		history = history[1:]
	}
	all := append([]v1.PastTransaction{one}, history...)
	return all[:min(len(all), v1.HistoryLimit)]
}

func isAttempt(before, one v1.PastTransaction) bool {
	same := before.Policy == one.Policy && before.PolicyGeneration == one.PolicyGeneration && before.Result == one.Result &&
		slices.Equal(before.Removed, one.Removed) && slices.Equal(before.Corrected, one.Corrected)
	return same && (one.Result != v1.TransactionCommitted || len(one.Corrected) > 0)
}
