package plan

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"

	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "github.com/nmstate/kubernetes-nmstate/api/v1"
)

// state is what a policy's conditions tell together.
type state int

const (
	progressing state = iota
	success
	failed
	unmatched
	// reviewable: mode Plan, and all plans are there.
	reviewable
)

const (
	messageUnmatched = "Policy does not match any node"
	messageUnmanaged = "Policy does not match any node that is managed"
)

// row is a row of the table of policy conditions, which is the older
// project's: people wait for its types and reasons.
type row struct {
	degraded, available, progressing, ignored metav1.ConditionStatus
	reason                                    v1.ConditionReason
}

const (
	yes     = metav1.ConditionTrue
	no      = metav1.ConditionFalse
	unknown = metav1.ConditionUnknown
)

func (s state) row() row {
	return map[state]row{
		progressing: {unknown, unknown, yes, no, v1.ReasonConfigurationProgressing},
		success:     {no, yes, no, no, v1.ReasonSuccessfullyConfigured},
		failed:      {yes, no, no, no, v1.ReasonFailedToConfigure},
		unmatched:   {no, no, no, yes, v1.ReasonNoMatchingNode},
		reviewable:  {no, no, no, no, v1.ReasonPlanned},
	}[s]
}

// progressingReason is the reason of the Progressing condition alone: a failed
// policy keeps the one that it had while it progressed.
func (s state) progressingReason() v1.ConditionReason {
	if s == failed {
		return v1.ReasonConfigurationProgressing
	}
	return s.row().reason
}

// verdict is how the policy fares.
type verdict struct {
	state   state
	message string
	counts  v1.PolicyCounts
	// nodes is how many have it, of how many.
	nodes string
	// detail is what the message leaves open, for status.message.
	detail string
	// goesOn is why it is not at its end, in kstatus's terms; empty where it is.
	goesOn v1.ConditionReason
}

// tally is the counts, and how many nodes match, Ready or not.
type tally struct {
	v1.PolicyCounts
	all int
	// finished of the Matched ones.
	finished int
}

// tally counts nodes. Outcomes count wherever they are; Matched, NotReady and
// Pending tell apart the nodes that the rollout waits for from the rest.
func (p *planning) tally() tally {
	var t tally
	for _, place := range p.places {
		if !place.Matches {
			continue
		}
		t.all++
		if place.unmanaged {
			t.NotManaged++
			continue
		}
		ignored := place.ignored()
		if ignored {
			t.NotReady++
		} else {
			t.Matched++
		}
		if place.Taken != "" { // It fails there, and stops nobody: nothing was tried.
			t.count(failing, ignored)
			continue
		}
		t.count(place.phase, ignored)
	}
	return t
}

func (t *tally) count(phase phase, ignored bool) {
	finished := false
	switch phase {
	case available:
		t.Available++
		finished = true
	case failing:
		t.Failing++
		finished = true
	case aborted:
		t.Aborted++
		finished = true
	case planned:
		t.Planned++
		finished = true
	case working:
		if !ignored {
			t.Progressing++
		}
	case waiting:
		if !ignored {
			t.Pending++
		}
	}
	if finished && !ignored {
		t.finished++
	}
}

func (p *planning) verdict(t tally) verdict {
	v := verdict{counts: t.PolicyCounts, nodes: fmt.Sprintf("%d/%d", t.Available, t.all)}
	switch {
	case t.all == 0:
		v.state, v.message = unmatched, messageUnmatched
	case t.nobody():
		v.state, v.message = unmatched, messageUnmanaged+notCounted(t)
	case t.Failing > 0 || t.Aborted > 0:
		v.state, v.message = failed, fmt.Sprintf("%d/%d nodes failed to configure", t.Failing, t.all)
		v.message += some(t.Aborted, ", %d nodes aborted configuration")
		v.detail, v.goesOn = p.firstCause(), p.retried()
	case t.finished < int(t.Matched) || t.Available == 0:
		// Where no node is Ready and none was ever configured nothing has
		// succeeded, although nothing is left to wait for.
		v.state, v.message = progressing, fmt.Sprintf("Policy is progressing %d/%d nodes finished", t.finished, t.Matched)
		v.message += some(t.Pending, ", %d pending") + notCounted(t)
		v.goesOn, v.detail = v1.ReasonConfigurationProgressing, p.lostCause()
		if t.Pending > 0 {
			v.goesOn, v.detail = p.held(t)
			v.detail = cmp.Or(v.detail, p.lostCause())
		}
		if t.Pending > 0 && p.steps.hold != "" {
			v.message += ": " + p.steps.hold
		}
	default:
		v.state, v.message = success, v.nodes+" nodes successfully configured"
		v.message += notCounted(t) + p.nothing()
		v.detail = p.lostCause()
	}
	v.message += p.meaning
	return v
}

func some(count int32, format string) string {
	if count == 0 {
		return ""
	}
	return fmt.Sprintf(format, count)
}

// notCounted tells of the nodes that are left out.
func notCounted(t tally) string {
	return some(t.NotReady, ", %d nodes ignored due to NotReady state") + some(t.NotManaged, ", %d not managed")
}

// nobody: all nodes that match are not managed.
func (t tally) nobody() bool { return t.all > 0 && int(t.NotManaged) == t.all }

// setStatus works out the status and what of it is new. The message stands on
// the condition that is True.
func (p *planning) setStatus(v verdict) {
	old := p.in.Policy.Status
	p.out.Status = v1.NodeNetworkConfigurationPolicyStatus{
		ObservedGeneration: p.out.Generation,
		Counts:             v.counts,
		Nodes:              v.nodes,
		Message:            shortened(v.detail),
		Plans:              p.plans(),
		Slots:              p.slots(),
	}
	p.setUnavailable(old)
	p.out.StatusUrgent = old.ObservedGeneration != p.out.Generation
	for _, condition := range p.conditions(v) {
		before := v1.FindCondition(old.Conditions, condition.Type)
		if before == nil || before.Status != condition.Status || before.Reason != condition.Reason {
			p.out.StatusUrgent = true
		}
		if before == nil || before.Message != condition.Message || before.ObservedGeneration != condition.ObservedGeneration {
			p.out.StatusChanged = true
		}
		if before != nil && before.Status == condition.Status && !before.LastTransitionTime.IsZero() {
			condition.LastTransitionTime = before.LastTransitionTime
		}
		p.out.Status.Conditions = append(p.out.Status.Conditions, condition)
	}
	p.out.StatusChanged = p.out.StatusChanged || p.out.StatusUrgent || old.Counts != v.counts ||
		old.Nodes != v.nodes || old.Message != p.out.Status.Message ||
		len(old.Conditions) != len(p.out.Status.Conditions) || !slices.Equal(old.Plans, p.out.Status.Plans) ||
		!equality.Semantic.DeepEqual(old.Slots, p.out.Status.Slots) ||
		old.UnavailableNodeCount != p.out.Status.UnavailableNodeCount
	if !p.out.StatusChanged {
		p.out.Status = old
	}
	p.note("status: %s", v.message)
}

// setUnavailable tells the slots that are taken by the names of the older project,
// whose scripts read them.
func (p *planning) setUnavailable(old v1.NodeNetworkConfigurationPolicyStatus) {
	status := &p.out.Status
	if status.Slots != nil {
		status.UnavailableNodeCount = status.Slots.Taken
		status.UnavailableNodeCountMap = map[string]int64{strconv.FormatInt(p.out.Generation, 10): int64(status.Slots.Taken)}
	}
	status.LastUnavailableNodeCountUpdate = old.LastUnavailableNodeCountUpdate
	if status.UnavailableNodeCount != old.UnavailableNodeCount {
		now := p.in.Now
		status.LastUnavailableNodeCountUpdate = &now
	}
}

func (p *planning) conditions(v verdict) []v1.Condition {
	condition := func(conditionType v1.ConditionType, status metav1.ConditionStatus, reason v1.ConditionReason) v1.Condition {
		c := v1.Condition{
			Type: conditionType, Status: status, Reason: reason, ObservedGeneration: p.out.Generation,
			LastHeartbeatTime: p.in.Now, LastTransitionTime: p.in.Now,
		}
		if status == yes {
			c.Message = shortened(v.message)
		}
		return c
	}
	row := v.state.row()
	conditions := []v1.Condition{
		condition(v1.PolicyDegraded, row.degraded, row.reason),
		condition(v1.PolicyAvailable, row.available, row.reason),
		condition(v1.PolicyProgressing, row.progressing, v.state.progressingReason()),
		condition(v1.PolicyIgnored, row.ignored, row.reason),
	}
	// Ours stand at the end and only while they are True: who reads the older
	// project's four does not meet them.
	switch {
	case v.goesOn != "":
		conditions = append(conditions, condition(v1.Reconciling, yes, v.goesOn))
	case v.state == failed:
		conditions = append(conditions, condition(v1.Stalled, yes, row.reason))
	case v.state == reviewable:
		conditions = append(conditions, condition(v1.Planned, yes, row.reason))
	}
	return conditions
}

// shortened keeps a message within the 1 KiB that a condition takes.
func shortened(message string) string {
	const limit, mark = 1024, "..."
	if len(message) <= limit {
		return message
	}
	cut := limit - len(mark)
	for cut > 0 && message[cut]&0xC0 == 0x80 { // not in the middle of a character
		cut--
	}
	return message[:cut] + mark
}
