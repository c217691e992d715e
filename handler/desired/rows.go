package desired

import (
	"fmt"
	"regexp"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "github.com/nmstate/kubernetes-nmstate/api/v1"
)

// Messages of an enactment's conditions (api-contract).
const (
	messageProgressing = "Applying desired state"
	messageSuccess     = "successfully reconciled"
	messageNoMatch     = ": no interface of this node matches spec.match"
	messagePending     = "Waiting for progressing nodes to finish"
	messageUnmanaged   = "node is not managed (NodeNetworkState.spec.managed is false)"
	messageNoState     = "Waiting for the NodeNetworkState of this node"
	messageGoingBack   = "Waiting for this node to settle on its committed state"
	messageWaitsLeave  = "the policy is gone from this node, which waits for its turn to undo it (docs/undo.md)"
)

// messagesHeld say what a rollout waits for where that is not a slot.
var messagesHeld = map[v1.ConditionReason]string{
	v1.ReasonPaused:  "Waiting for a person to let the rollout go on: the policy's status says how",
	v1.ReasonCanary:  "Waiting for the nodes that go first (spec.rollout.canary)",
	v1.ReasonSoaking: "Waiting for configured nodes to stay so for a while (spec.rollout.soakSeconds)",
}

// HoldOf is why the policy's rollout lets no other node begin, as its status tells;
// empty where the nodes that are changing are all that is waited for.
func HoldOf(policy *v1.NodeNetworkConfigurationPolicy) v1.ConditionReason {
	for _, c := range policy.Status.Conditions {
		if c.Type != v1.Reconciling || c.ObservedGeneration != policy.Generation {
			continue
		}
		if _, is := messagesHeld[c.Reason]; is {
			return c.Reason
		}
	}
	return ""
}

// CauseOf is how the policy failed on the node, without the number of the attempt;
// empty where it did not.
func CauseOf(enactment *v1.NodeNetworkConfigurationEnactment) string {
	if c := v1.TrueCondition(enactment.Status.Conditions, v1.EnactmentFailing); c != nil {
		return attempt.ReplaceAllString(c.Message, "")
	}
	return ""
}

// attempt is what retryingRow adds to a cause.
var attempt = regexp.MustCompile(` Retrying \d+/\d+$`)

// row is one line of the enactment's condition table: all five conditions.
type row struct {
	failing, available, progressing, pending, aborted metav1.ConditionStatus

	reason v1.ConditionReason
	// abortedReason differs from reason in the failed rows: a quirk that
	// scripts for the older project compare exactly.
	abortedReason v1.ConditionReason
	// message stands on the conditions that are True.
	message string
	// planned adds Planned to the five: mode Plan is ours alone. Nothing else
	// stands beside them, since scripts of the older project compare the list.
	planned bool
}

const (
	yes     = metav1.ConditionTrue
	no      = metav1.ConditionFalse
	unknown = metav1.ConditionUnknown
)

func unknownRow() row {
	return row{unknown, unknown, unknown, unknown, unknown, "", "", "", false}
}

func progressingRow() row {
	const reason = v1.ReasonConfigurationProgressing
	return row{unknown, unknown, yes, no, no, reason, reason, messageProgressing, false}
}

// waitingRow is a change that is applied and waits for something.
func waitingRow(what string) row {
	next := progressingRow()
	next.message = oneLine(messageProgressing+": "+what, 0)
	return next
}

func successRow() row {
	const reason = v1.ReasonSuccessfullyConfigured
	return row{no, yes, no, no, no, reason, reason, messageSuccess, false}
}

func failedRow(cause string) row {
	return row{
		yes, no, no, no, no,
		v1.ReasonFailedToConfigure, v1.ReasonSuccessfullyConfigured, oneLine(cause, 0), false,
	}
}

func retryingRow(cause string, attempt int32) row {
	suffix := fmt.Sprintf(" Retrying %d/%d", attempt, shownRetries)
	return row{
		yes, no, yes, no, no,
		v1.ReasonRetrying, v1.ReasonSuccessfullyConfigured, oneLine(cause, len(suffix)) + suffix, false,
	}
}

func pendingRow(message string) row {
	return pendingFor(v1.ReasonMaxUnavailableLimitReached, message)
}

func pendingFor(reason v1.ConditionReason, message string) row {
	return row{no, no, no, yes, no, reason, reason, oneLine(message, 0), false}
}

// setAsideRow is of a node that nobody manages.
func setAsideRow() row { return pendingFor(v1.ReasonNotManaged, messageUnmanaged) }

// leavingRow is of a policy that is gone and not undone yet.
func leavingRow() row { return pendingFor(v1.ReasonLeaving, messageWaitsLeave) }

// heldRow is of a node that waits for the rollout.
func heldRow(hold v1.ConditionReason) row {
	if message, is := messagesHeld[hold]; is {
		return pendingFor(hold, message)
	}
	return pendingRow(messagePending)
}

func abortedRow(enactment, cause string) row {
	const reason = v1.ReasonConfigurationAborted
	message := fmt.Sprintf("reconciliation of enactment %q has aborted", enactment)
	if cause != "" {
		message += ": " + cause
	}
	return row{no, no, no, no, yes, reason, reason, oneLine(message, 0), false}
}

func plannedRow(message string) row {
	const reason = v1.ReasonPlanned
	return row{no, no, no, no, no, reason, reason, oneLine(message, 0), true}
}

// onto writes the row over the conditions that were. What does not change
// stays as it is, times included. The generation stands beside the conditions,
// not in them: the policy's would be taken for the enactment's by kubectl wait,
// which believes no condition of an older generation than the object's.
func (r row) onto(old []v1.Condition, now metav1.Time) []v1.Condition {
	conditions := make([]v1.Condition, 0, 6)
	set := func(kind v1.ConditionType, status metav1.ConditionStatus, reason v1.ConditionReason) {
		next := v1.Condition{Type: kind, Status: status, Reason: reason}
		if status == yes {
			next.Message = r.message
		}
		conditions = append(conditions, dated(next, old, now))
	}
	set(v1.EnactmentFailing, r.failing, r.reason)
	set(v1.EnactmentAvailable, r.available, r.reason)
	set(v1.EnactmentProgressing, r.progressing, r.reason)
	set(v1.EnactmentPending, r.pending, r.reason)
	set(v1.EnactmentAborted, r.aborted, r.abortedReason)
	if r.planned {
		set(v1.Planned, yes, r.reason)
	}
	return conditions
}

// dated stamps the condition: a transition only when the status changed.
func dated(next v1.Condition, old []v1.Condition, now metav1.Time) v1.Condition {
	next.LastHeartbeatTime, next.LastTransitionTime = now, now
	before := v1.FindCondition(old, next.Type)
	if before == nil {
		return next
	}
	if before.Status == next.Status {
		next.LastTransitionTime = before.LastTransitionTime
	}
	same := next
	same.LastHeartbeatTime = before.LastHeartbeatTime
	if same == *before {
		return same
	}
	return next
}

func isTrue(conditions []v1.Condition, kind v1.ConditionType) bool {
	return v1.TrueCondition(conditions, kind) != nil
}

// SetAside tells whether an enactment waits because nobody manages its node:
// until that changes, no change begins there.
func SetAside(enactment *v1.NodeNetworkConfigurationEnactment) bool {
	c := v1.TrueCondition(enactment.Status.Conditions, v1.EnactmentPending)
	// The reason was another one before there was this one.
	return c != nil && (c.Reason == v1.ReasonNotManaged || c.Message == messageUnmanaged)
}
