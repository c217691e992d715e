package desired

import (
	"fmt"
	"slices"

	v1 "github.com/nmstate/kubernetes-nmstate/api/v1"
)

// Events about drift, on the policy whose leaf it is.
const (
	EventDriftFound     = "DriftFound"
	EventDriftCorrected = "DriftCorrected"
)

// DriftEvents are what is new about drift on a node, one event of a kind for
// each policy: before and after are the status of its NodeNetworkState. A leaf
// that a policy does not ask for any more was not corrected.
func DriftEvents(node string, before, after v1.NodeNetworkStateStatus) []Event {
	var events []Event
	for _, policy := range drifted(before.Drift, after.Drift) {
		var found, corrected []string
		for _, d := range after.Drift {
			if d.Policy == policy && isNews(before.Drift, d) {
				found = append(found, driftLine(d))
			}
		}
		for _, d := range before.Drift {
			if d.Policy == policy && findDrift(after.Drift, d) == nil && sameSource(before, after, policy) {
				corrected = append(corrected, d.Path+" is as it should be again")
			}
		}
		if found != nil {
			events = append(events, Event{Policy: policy, Warning: true, Reason: EventDriftFound, Message: summary(node, found)})
		}
		if corrected != nil {
			events = append(events, Event{Policy: policy, Reason: EventDriftCorrected, Message: summary(node, corrected)})
		}
	}
	return events
}

// drifted are the policies that either list is about, sorted.
func drifted(lists ...[]v1.Drift) []string {
	seen := map[string]bool{}
	for _, list := range lists {
		for _, d := range list {
			seen[d.Policy] = d.Policy != ""
		}
	}
	delete(seen, "")
	return sortedKeys(seen)
}

func findDrift(list []v1.Drift, like v1.Drift) *v1.Drift {
	i := slices.IndexFunc(list, func(d v1.Drift) bool {
		return d.Path == like.Path && d.Policy == like.Policy && d.Expected == like.Expected
	})
	if i < 0 {
		return nil
	}
	return &list[i]
}

// isNews: a new leaf, or one that is not corrected any more since it does not
// stay.
func isNews(before []v1.Drift, d v1.Drift) bool {
	old := findDrift(before, d)
	return old == nil || (d.Action == "Damped" && old.Action != "Damped")
}

func sameSource(before, after v1.NodeNetworkStateStatus, policy string) bool {
	source := func(status v1.NodeNetworkStateStatus) string {
		for _, s := range status.AppliedSources {
			if s.Policy == policy {
				return s.Hash
			}
		}
		return ""
	}
	hash := source(after)
	return hash != "" && hash == source(before)
}

func driftLine(d v1.Drift) string {
	line := d.Path + ": "
	switch {
	case d.Expected == "":
		line += "found " + d.Found + ", expected nothing"
	case d.Found == "":
		line += "expected " + d.Expected + ", found nothing"
	default:
		line += "expected " + d.Expected + ", found " + d.Found
	}
	switch d.Action {
	case "Correcting":
		return line + "; it is corrected"
	case "Damped":
		return line + "; it keeps coming back, so it is left alone for a while"
	}
	return line + "; it is only reported"
}

func summary(node string, lines []string) string {
	text := "node " + node + ": " + lines[0]
	suffix := ""
	if more := len(lines) - 1; more > 0 {
		suffix = fmt.Sprintf(" (and %d more)", more)
	}
	return oneLine(text, len(suffix)) + suffix
}
