package scenario

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "github.com/nmstate/kubernetes-nmstate/api/v1"
)

// row is a line of the tables of conditions (api-contract): status and reason
// of each type.
type row map[v1.ConditionType]string

// policyRows are a policy's, by the condition that is True.
var policyRows = map[string]row{
	"Progressing": {
		v1.PolicyDegraded: "Unknown ConfigurationProgressing", v1.PolicyAvailable: "Unknown ConfigurationProgressing",
		v1.PolicyProgressing: "True ConfigurationProgressing", v1.PolicyIgnored: "False ConfigurationProgressing",
	},
	"Available": {
		v1.PolicyDegraded: "False SuccessfullyConfigured", v1.PolicyAvailable: "True SuccessfullyConfigured",
		v1.PolicyProgressing: "False SuccessfullyConfigured", v1.PolicyIgnored: "False SuccessfullyConfigured",
	},
	"Degraded": {
		v1.PolicyDegraded: "True FailedToConfigure", v1.PolicyAvailable: "False FailedToConfigure",
		v1.PolicyProgressing: "False ConfigurationProgressing", v1.PolicyIgnored: "False FailedToConfigure",
	},
	"Ignored": {
		v1.PolicyDegraded: "False NoMatchingNode", v1.PolicyAvailable: "False NoMatchingNode",
		v1.PolicyProgressing: "False NoMatchingNode", v1.PolicyIgnored: "True NoMatchingNode",
	},
	"Planned": {
		v1.PolicyDegraded: "False Planned", v1.PolicyAvailable: "False Planned",
		v1.PolicyProgressing: "False Planned", v1.PolicyIgnored: "False Planned", v1.Planned: "True Planned",
	},
}

// enactmentRows are an enactment's. Aborted has the older project's quirk in
// the rows of a failure.
var enactmentRows = map[string]row{
	"Progressing": {
		v1.EnactmentFailing: "Unknown ConfigurationProgressing", v1.EnactmentAvailable: "Unknown ConfigurationProgressing",
		v1.EnactmentProgressing: "True ConfigurationProgressing", v1.EnactmentPending: "False ConfigurationProgressing",
		v1.EnactmentAborted: "False ConfigurationProgressing",
	},
	"Available": {
		v1.EnactmentFailing: "False SuccessfullyConfigured", v1.EnactmentAvailable: "True SuccessfullyConfigured",
		v1.EnactmentProgressing: "False SuccessfullyConfigured", v1.EnactmentPending: "False SuccessfullyConfigured",
		v1.EnactmentAborted: "False SuccessfullyConfigured",
	},
	"Failing": {
		v1.EnactmentFailing: "True FailedToConfigure", v1.EnactmentAvailable: "False FailedToConfigure",
		v1.EnactmentProgressing: "False FailedToConfigure", v1.EnactmentPending: "False FailedToConfigure",
		v1.EnactmentAborted: "False SuccessfullyConfigured",
	},
	"Retrying": {
		v1.EnactmentFailing: "True Retrying", v1.EnactmentAvailable: "False Retrying",
		v1.EnactmentProgressing: "True Retrying", v1.EnactmentPending: "False Retrying",
		v1.EnactmentAborted: "False SuccessfullyConfigured",
	},
	"Pending": pendingRow(v1.ReasonMaxUnavailableLimitReached),
	// Beside the contract's: what is waited for is no other node's turn.
	"NotManaged": pendingRow(v1.ReasonNotManaged), "Paused": pendingRow(v1.ReasonPaused),
	"Canary": pendingRow(v1.ReasonCanary), "Soaking": pendingRow(v1.ReasonSoaking),
	"Aborted": {
		v1.EnactmentFailing: "False ConfigurationAborted", v1.EnactmentAvailable: "False ConfigurationAborted",
		v1.EnactmentProgressing: "False ConfigurationAborted", v1.EnactmentPending: "False ConfigurationAborted",
		v1.EnactmentAborted: "True ConfigurationAborted",
	},
	"Planned": {
		v1.EnactmentFailing: "False Planned", v1.EnactmentAvailable: "False Planned",
		v1.EnactmentProgressing: "False Planned", v1.EnactmentPending: "False Planned",
		v1.EnactmentAborted: "False Planned", v1.Planned: "True Planned",
	},
}

func pendingRow(reason v1.ConditionReason) row {
	no := "False " + string(reason)
	return row{
		v1.EnactmentFailing: no, v1.EnactmentAvailable: no, v1.EnactmentProgressing: no,
		v1.EnactmentPending: "True " + string(reason), v1.EnactmentAborted: no,
	}
}

func names(rows map[string]row) []string { return slices.Sorted(maps.Keys(rows)) }

// rowOfConditions are the conditions in that form; kstatus's words stand beside
// the table.
func rowOfConditions(conditions []v1.Condition) row {
	r := row{}
	for _, c := range conditions {
		if c.Type != v1.Reconciling && c.Type != v1.Stalled {
			r[c.Type] = strings.TrimSpace(string(c.Status) + " " + string(c.Reason))
		}
	}
	return r
}

func (r row) String() string {
	var parts []string
	for _, kind := range slices.Sorted(maps.Keys(r)) {
		parts = append(parts, fmt.Sprintf("%s=%s", kind, strings.Replace(r[kind], " ", " (", 1)+")"))
	}
	if len(parts) == 0 {
		return "no conditions"
	}
	return strings.Join(parts, " ")
}

// messages are those of the conditions that are True.
func messages(conditions []v1.Condition) string {
	var said []string
	for _, c := range conditions {
		if c.Status == metav1.ConditionTrue && c.Type != v1.Reconciling && c.Type != v1.Stalled && !slices.Contains(said, c.Message) {
			said = append(said, c.Message)
		}
	}
	return strings.Join(said, " | ")
}

// trueOnes are the conditions that are True with their reasons.
func trueOnes(conditions []v1.Condition) string {
	var parts []string
	for _, c := range conditions {
		if c.Status == metav1.ConditionTrue {
			parts = append(parts, string(c.Type)+" "+string(c.Reason))
		}
	}
	slices.Sort(parts)
	return strings.Join(parts, ", ")
}
