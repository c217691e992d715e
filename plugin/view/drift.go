package view

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	v1 "github.com/nmstate/kubernetes-nmstate/api/v1"
)

// NodeDrift is something on a node that is not as it was brought to.
type NodeDrift struct {
	Node     string `json:"node"`
	v1.Drift `json:",inline"`
}

// Drifts are those of the nodes, by node and path.
func Drifts(states []v1.NodeNetworkState) []NodeDrift {
	found := []NodeDrift{}
	for i := range states {
		for _, drift := range states[i].Status.Drift {
			found = append(found, NodeDrift{states[i].Name, drift})
		}
	}
	slices.SortStableFunc(found, func(a, b NodeDrift) int {
		return cmp.Or(cmp.Compare(a.Node, b.Node), cmp.Compare(a.Path, b.Path))
	})
	return found
}

// DriftTable is one line for each; of how many nodes is said where there is none.
func DriftTable(found []NodeDrift, nodes int, now time.Time) []string {
	if len(found) == 0 {
		return []string{fmt.Sprintf("nothing has drifted on %d nodes", nodes)}
	}
	rows := [][]string{{"NODE", "PATH", "EXPECTED", "FOUND", "POLICY", "ACTION", "FOR"}}
	for _, one := range found {
		since := "-"
		if !one.Since.IsZero() {
			since = Duration(max(0, now.Sub(one.Since.Time))).String()
		}
		rows = append(rows, []string{one.Node, one.Path, cmp.Or(one.Expected, "-"), cmp.Or(one.Found, "-"), cmp.Or(one.Policy, "-"), cmp.Or(one.Action, "-"), since})
	}
	return columns(rows, func(_, _ int, text string) string { return text })
}
