package view

import (
	"cmp"
	"fmt"
	"strings"

	v1 "github.com/nmstate/kubernetes-nmstate/api/v1"
)

// HistoryTable is one line for each transaction that a node remembers, the newest first.
func HistoryTable(history []v1.PastTransaction, paint Paint) []string {
	rows := [][]string{{"ENDED", "TOOK", "RESULT", "WHAT", "MESSAGE"}}
	for _, one := range history {
		took := "-"
		if !one.Since.IsZero() && one.Attempts < 2 {
			took = Duration(max(0, one.Ended.Sub(one.Since.Time))).String()
		}
		result := string(one.Result)
		if one.Attempts > 1 {
			result += fmt.Sprintf(" %d times", one.Attempts)
		}
		rows = append(rows, []string{one.Ended.UTC().Format("2006-01-02T15:04:05Z"), took, result, whatOf(one), cmp.Or(one.Message, "-")})
	}
	return columns(rows, func(row, column int, text string) string {
		if row > 0 && column == 2 {
			return paint(toneOf(history[row-1].Result), text)
		}
		return text
	})
}

func toneOf(result v1.TransactionResult) Tone {
	switch result {
	case v1.TransactionCommitted:
		return Good
	case v1.TransactionSuperseded:
		return Faint
	}
	return Bad
}

// whatOf tells what a transaction was about.
func whatOf(one v1.PastTransaction) string {
	var parts []string
	if one.Policy != "" {
		parts = append(parts, one.Policy)
		if one.PolicyGeneration > 0 {
			parts[0] += fmt.Sprintf(" generation %d", one.PolicyGeneration)
		}
	}
	if len(one.Removed) > 0 {
		parts = append(parts, "without "+strings.Join(one.Removed, ", "))
	}
	if len(one.Corrected) > 0 {
		parts = append(parts, "drift of "+strings.Join(one.Corrected, ", "))
	}
	return cmp.Or(strings.Join(parts, ", "), "no policy")
}
