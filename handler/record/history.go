package record

import (
	"slices"

	v1 "github.com/nmstate/kubernetes-nmstate/api/v1"
	"github.com/nmstate/kubernetes-nmstate/handler/idle"
	"github.com/nmstate/kubernetes-nmstate/handler/journal"
)

// past is how the transaction ended, as the history keeps it. What the record has committed
// is still what was before it.
func (e Ended) past(record journal.Record) v1.PastTransaction {
	one := v1.PastTransaction{
		Ended: *idle.InSeconds(e.At), Since: *idle.InSeconds(e.Entry.Since), Result: e.Outcome.Result,
		Message: idle.Value(idle.Message(e.Outcome.Message)),
	}
	if subjects := e.Entry.Correction; len(subjects) > 0 {
		for _, subject := range subjects[:min(len(subjects), v1.HistoryLimit)] {
			one.Corrected = append(one.Corrected, idle.Value(subject))
		}
		return one
	}
	one.Policy = e.Outcome.Change.Policy
	for _, source := range e.Entry.Sources {
		if one.Policy != "" && source.Policy == one.Policy {
			one.PolicyGeneration = source.Generation
		}
	}
	if leaving := e.leaving(record); len(leaving) > 0 {
		one.Removed = leaving[:min(len(leaving), v1.HistoryLimit)]
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
