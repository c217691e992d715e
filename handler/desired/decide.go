package desired

import (
	"bytes"
	"encoding/json"
	"fmt"
	"reflect"
	"time"

	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "github.com/nmstate/kubernetes-nmstate/api/v1"
	"github.com/nmstate/kubernetes-nmstate/handler/state"
)

// approvalGrace is how long a new enactment may wait for its approval before
// it is said to be Pending: mostly it comes at once, and the write is saved.
const approvalGrace = 2 * time.Second

// behindRetry is when to look whether the policies are as new as their enactments
// by then, if no event says so.
const behindRetry = time.Second

const policyKind = "NodeNetworkConfigurationPolicy"

// turn is one decision in the making.
type turn struct {
	in      Input
	members []*member // In merge order.
	byName  map[string]*member

	// inFlight is the policy whose change is under way and still wanted.
	inFlight *member
	// superseded: what is in flight is not wanted any more.
	superseded bool
	// goBack: what was in flight is over and is not committed.
	goBack bool
	// unrecorded: it failed, and there is no enactment (that a cache shows) to say
	// so. The spec stays until there is: it is all that tells of the failure.
	unrecorded bool
	// byHand is what committedByHand found, nil until it looked.
	byHand *bool
	// chosen is the policy whose change begins with this decision.
	chosen *member
	// base is the committed aggregate.
	base aggregate
	// current is the node's report, once it was read.
	current *state.State
	// waiting is why no other policy begins now; empty when one could.
	waiting string

	decision Decision
}

// Decide says what to write now for one node. It depends on nothing but its
// input; once everything it says is written, it says nothing.
func Decide(in Input) Decision {
	t := &turn{in: in, members: members(in), byName: map[string]*member{}}
	for _, m := range t.members {
		t.byName[m.name] = m
	}
	if behind := t.behind(); len(behind) > 0 {
		return Decision{RequeueAfter: behindRetry, Behind: behind}
	}
	t.dropFailed()
	t.settle()
	t.settleLate()
	t.comeBack()
	t.withhold()
	t.moveOn()
	t.arrive()
	t.plan()
	t.choose()
	t.confirm()
	for _, m := range t.members {
		switch {
		case m.policy == nil:
			t.leave(m)
		case m.enactment == nil:
			t.create(m)
		default:
			t.describe(m)
			t.write(m)
		}
	}
	return t.decision
}

// behind are the policies that were read at an older generation than their
// enactments tell of. A process that has just started may be shown the policies as
// they were long ago beside newer enactments: for an older generation it would
// forget how the newer one failed, and try that again. Where the policy is sure to be
// the newest, somebody else wrote the enactment, and it is put right.
func (t *turn) behind() []string {
	var names []string
	for _, m := range t.members {
		if m.policy == nil || m.enactment == nil || m.policy.Newest {
			continue
		}
		told := max(m.enactment.Spec.ApprovedGeneration, m.enactment.Spec.AbortedGeneration, m.enactment.Status.PolicyGeneration)
		if told > m.policy.Generation {
			names = append(names, m.name)
		}
	}
	return names
}

// moveOn: a new generation whose rendering is what is committed needs no
// transaction, where the node still has that.
func (t *turn) moveOn() {
	for _, m := range t.members {
		if m.readable() && !m.plans() && !m.changed() && m.approved() && m.held.Generation != m.policy.Generation && !t.hasLeft(m) {
			m.commit(m.rendered(), proof{m.status.GuardedBy, m.status.NotVerified}, t.in.Now)
			t.note("policy %s: generation %d changes nothing on the node", m.name, m.policy.Generation)
		}
	}
}

func (t *turn) create(m *member) {
	t.decision.Create = append(t.decision.Create, t.enactmentOf(m.policy))
}

func (t *turn) enactmentOf(policy *Policy) *v1.NodeNetworkConfigurationEnactment {
	object := &v1.NodeNetworkConfigurationEnactment{ObjectMeta: metav1.ObjectMeta{
		Name:   v1.EnactmentNames(t.in.Node, t.in.NodeUID, policy.Name)[0],
		Labels: map[string]string{v1.EnactmentPolicyLabel: policy.Name, v1.EnactmentNodeLabel: NodeLabel(t.in.Node)},
		OwnerReferences: []metav1.OwnerReference{
			{APIVersion: "v1", Kind: "Node", Name: t.in.Node, UID: t.in.NodeUID},
			{APIVersion: v1.GroupVersion.String(), Kind: policyKind, Name: policy.Name, UID: policy.UID},
		},
	}}
	object.Status.PolicyGeneration = policy.Generation
	object.Status.Conditions = unknownRow().onto(nil, metav1.Time{Time: t.in.Now})
	return object
}

// describe puts the policy's standing into its conditions.
func (t *turn) describe(m *member) {
	now := t.in.Now
	if t.stillChanging(m) {
		m.show(t.applying(m), now)
		return
	}
	if m.policy.Err != nil {
		t.refuse(m, failedRow(m.policy.Err.Error()))
		return
	}
	switch {
	case t.setAside() && !m.readable():
		m.show(setAsideRow(), now)
	case m.policy.Waiting != "":
		m.show(pendingRow(m.policy.Waiting), now)
	case m.plans():
		t.describePlan(m)
	case !m.changed() && m.held.Generation == m.policy.Generation:
		t.describeHeld(m)
	case m == t.inFlight && !t.managed():
		m.show(setAsideRow(), now)
	case m == t.inFlight || m == t.chosen:
		m.show(t.applying(m), now)
	case m.conflict != nil:
		t.refuse(m, failedRow(m.conflict.String()))
	case m.unpinned != "":
		t.refuse(m, failedRow(m.unpinned))
	case m.failed() && isTrue(m.status.Conditions, v1.EnactmentFailing):
		t.awaitRetry(m)
	case m.aborted():
		m.show(abortedRow(m.enactment.Name, m.enactment.Spec.AbortedCause), now)
	case t.setAside():
		m.show(setAsideRow(), now)
	case !m.approved():
		t.awaitApproval(m)
	case !m.changed(): // It has left the node (moveOn), and comes back.
		m.show(progressingRow(), now)
	case m.planWaits != "":
		m.show(pendingRow(m.planWaits), now)
	case t.waiting != "":
		m.show(pendingRow(t.waiting), now)
	default:
		t.awaitRetry(m)
	}
}

// stillChanging tells whether an older generation of the policy is not over on
// the node. As long as it is not, the node is one of those that are changing,
// whatever is to be said about the newer generation (controllers/rollout).
func (t *turn) stillChanging(m *member) bool {
	said := m.enactment.Status.Conditions
	// A loss that is told late (settleLate) is in the status only, until that is written.
	failed := isTrue(said, v1.EnactmentFailing) || isTrue(m.status.Conditions, v1.EnactmentFailing)
	return t.in.State != nil && !t.over() && isTrue(said, v1.EnactmentProgressing) && !failed
}

// over tells whether nothing is under way on the node. One that is set aside in the
// middle of a change goes back first, and then says that nobody manages it.
func (t *turn) over() bool {
	return t.done() || !t.managed() && t.in.State.SaysNotManaged()
}

func (t *turn) describeHeld(m *member) {
	if conflict, displaced := t.base.conflictOf(m.name); displaced {
		t.refuse(m, failedRow(conflict.String()))
		return
	}
	if t.awaitsReturn(m) {
		if t.setAside() {
			m.show(setAsideRow(), t.in.Now)
			return
		}
		m.show(progressingRow(), t.in.Now)
		return
	}
	done := successRow()
	if m.policy.MatchesNothing {
		done.message += messageNoMatch
	}
	done.message = oneLine(done.message+warningSuffix(t.warnings(m.held.State, t.base.state)), 0)
	if t.setAside() {
		// What was configured still is what was last known of the node, so it
		// stays Available: nothing waits for it, and no other node loses its turn.
		done.message += "; " + messageUnmanaged
	}
	m.show(done, t.in.Now)
}

// awaitsReturn is true of a policy that had given way to another one, which goes:
// it is Available again only when the node has it again.
func (t *turn) awaitsReturn(m *member) bool {
	said := m.enactment.Status.Conditions
	waits := isTrue(said, v1.EnactmentPending) && SetAside(m.enactment)
	if t.in.State == nil || !waits && !isTrue(said, v1.EnactmentFailing) && !isTrue(said, v1.EnactmentProgressing) {
		return false
	}
	source, is := t.source(m.name)
	return !is || source.Hash != m.held.Hash || !t.applied(source.Source) && !t.committedBefore(source.Source)
}

// setAside tells whether the node is known and not managed.
func (t *turn) setAside() bool { return t.in.State != nil && !t.managed() }

// refuse shows a failure that needs no attempt to be known.
func (t *turn) refuse(m *member, failed row) {
	if !isTrue(m.status.Conditions, v1.EnactmentFailing) {
		t.event(Event{
			Policy: m.name, Warning: true, Reason: EventReconcileFailed,
			Message: oneLine("node "+t.in.Node+": "+failed.message, 0),
		})
	}
	m.show(failed, t.in.Now)
}

func (t *turn) awaitRetry(m *member) {
	if wait, ever := m.retryIn(t.in.Now); ever && wait > 0 && m.approved() {
		t.requeue(wait)
	}
}

func (t *turn) awaitApproval(m *member) {
	age := t.in.Now.Sub(m.enactment.CreationTimestamp.Time)
	if len(m.enactment.Status.Conditions) == 0 && age >= 0 && age < approvalGrace && !m.keepsCaptures() {
		// Nothing is written yet, so nothing is said at all.
		m.status = m.enactment.Status
		t.requeue(approvalGrace - age)
		return
	}
	m.show(heldRow(m.policy.Hold), t.in.Now)
}

func (t *turn) write(m *member) {
	m.status.RetryCount = 0
	if m.status.Retry != nil {
		m.status.RetryCount = m.status.Retry.Attempts
	}
	if !sameStatus(m.status, m.enactment.Status) {
		t.decision.Statuses = append(t.decision.Statuses, StatusWrite{Name: m.enactment.Name, Status: m.status})
	}
}

// sameStatus compares the rendered state byte by byte: by reflection that would
// cost more than the rest.
func sameStatus(a, b v1.NodeNetworkConfigurationEnactmentStatus) bool {
	if !bytes.Equal(a.DesiredState.Raw, b.DesiredState.Raw) {
		return false
	}
	a.DesiredState, b.DesiredState = v1.State{}, v1.State{}
	// Mostly they are the same in every bit, which is found out at a third of the cost.
	return reflect.DeepEqual(a, b) || equality.Semantic.DeepEqual(a, b)
}

func (t *turn) requeue(after time.Duration) {
	if t.decision.RequeueAfter == 0 || after < t.decision.RequeueAfter {
		t.decision.RequeueAfter = after
	}
}

func (t *turn) note(format string, values ...any) {
	t.decision.Notes = append(t.decision.Notes, fmt.Sprintf(format, values...))
}

func (t *turn) event(e Event) { t.decision.Events = append(t.decision.Events, e) }

// sameOr keeps the old document when the new one says the same: the API server
// may have spelt it anew.
func sameOr(old, next v1.State) v1.State {
	if sameDocument(old.Raw, next.Raw) {
		return old
	}
	return next
}

func sameDocument(a, b []byte) bool {
	if bytes.Equal(a, b) {
		return true
	}
	if len(a) == 0 || len(b) == 0 {
		return false
	}
	var first, second any
	if json.Unmarshal(a, &first) != nil || json.Unmarshal(b, &second) != nil {
		return false
	}
	return reflect.DeepEqual(first, second)
}
