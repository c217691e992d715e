package desired

import (
	"fmt"
	"strings"

	v1 "github.com/nmstate/kubernetes-nmstate/api/v1"
)

// Events on a NodeNetworkState about a change that others were told of while it ran.
const (
	EventChangeWaiting = "ChangeWaiting"
	EventChangeEnded   = "ChangeEnded"
)

// TransactionEvents are what is new about the change of a node's network: that one
// runs, and that it has ended. Before and after are its status.transaction. One
// that has ended before others were told of it is in neither.
func TransactionEvents(before, after *v1.Transaction) []Event {
	ran, runs := before.IsUnderWay(), after.IsUnderWay()
	if ran && runs && sameTransaction(before, after) {
		return nil
	}
	var events []Event
	if ran {
		events = append(events, endOf(before, after))
	}
	if runs {
		line := changeOf(after) + " has run since " + clockTime(after) + " and is in phase " + after.Phase
		if len(after.WaitingFor) > 0 {
			line += ", waiting for " + strings.Join(after.WaitingFor, ", ")
		}
		if after.Message != "" {
			line += ": " + after.Message
		}
		events = append(events, Event{Policy: after.Policy, Reason: EventChangeWaiting, Message: oneLine(line, 0)})
	}
	return events
}

// endOf a change: a correction of drift leaves the last transaction as it was, so
// what is reported then is not about it.
func endOf(before, after *v1.Transaction) Event {
	e := Event{Policy: before.Policy, Reason: EventChangeEnded}
	line := changeOf(before) + ", begun at " + clockTime(before) + ", has ended"
	if !after.IsUnderWay() && sameTransaction(before, after) {
		line += " as " + string(after.Result)
		if after.Message != "" {
			line += ": " + after.Message
		}
		e.Warning = after.Result != v1.TransactionCommitted && after.Result != v1.TransactionSuperseded
	}
	e.Message = oneLine(line, 0)
	return e
}

func sameTransaction(a, b *v1.Transaction) bool {
	return a != nil && b != nil && a.Generation == b.Generation && a.Since.Equal(&b.Since)
}

func changeOf(t *v1.Transaction) string {
	if t.Policy != "" {
		return "the change for policy " + t.Policy
	}
	return fmt.Sprintf("the change for generation %d", t.Generation)
}

func clockTime(t *v1.Transaction) string { return t.Since.UTC().Format("15:04:05Z") }
