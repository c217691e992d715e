package desired

import (
	"bytes"
	"cmp"
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	v1 "github.com/nmstate/kubernetes-nmstate/api/v1"
	"github.com/nmstate/kubernetes-nmstate/handler/state"
)

// member is one policy's standing on the node.
type member struct {
	name string
	// policy is nil when it does not select the node (any more), or when the
	// enactment is that of an earlier policy of the same name.
	policy *Policy
	// replaced: there is such a later policy, whose own enactment waits for this one to go.
	replaced bool
	// successor is that later policy, where the enactment is the older project's.
	successor *Policy
	// enactment is nil until it is created.
	enactment *v1.NodeNetworkConfigurationEnactment
	// status is the enactment's, as it shall be.
	status v1.NodeNetworkConfigurationEnactmentStatus
	// held is what of the policy the node has committed.
	held *Contribution
	// dropped: what it had of the policy did not come back with this transaction.
	dropped bool
	// conflict keeps the policy's rendering out.
	conflict *Conflict
	// planWaits is why there is no plan yet, or why it does not begin; unpinned why the plan
	// that there is may not be applied.
	planWaits, unpinned string
}

// members pairs policies and enactments, in merge order.
func members(in Input) []*member {
	byName := make(map[string]*member, len(in.Policies))
	var all []*member
	add := func(name string) *member {
		m := &member{name: name}
		byName[name] = m
		all = append(all, m)
		return m
	}
	for i := range in.Policies {
		add(in.Policies[i].Name).policy = &in.Policies[i]
	}
	for i := range in.Enactments {
		enactment := &in.Enactments[i]
		name := enactment.Policy()
		m := byName[name]
		if m == nil {
			m = add(name)
		}
		m.enactment = enactment
		if m.policy != nil && ownerUID(enactment) != m.policy.UID {
			if isOlder(enactment) {
				m.successor = m.policy
			}
			m.policy, m.replaced = nil, true
		}
		m.begin(in.Now)
		m.recount(in)
	}
	slices.SortFunc(all, func(a, b *member) int {
		return cmp.Or(Precedence(a.place(), b.place()), cmp.Compare(a.name, b.name))
	})
	return all
}

// ownerUID is the UID of the policy that the enactment belongs to, empty when
// it is not written down.
func ownerUID(enactment *v1.NodeNetworkConfigurationEnactment) types.UID {
	for _, owner := range enactment.OwnerReferences {
		if owner.Kind == policyKind {
			return owner.UID
		}
	}
	return ""
}

// begin takes over what the enactment says.
func (m *member) begin(now time.Time) {
	old := m.enactment.Status
	m.status = old
	if committed := old.Committed; committed != nil {
		m.held = m.heldFrom(committed)
	}
	if m.policy == nil {
		return
	}
	m.status.WaitsToLeave = false
	m.status.PolicyGeneration = m.policy.Generation
	m.status.ObservedGeneration = m.enactment.Generation
	m.status.SecretsKey = m.policy.SecretsKey
	if old.PolicyGeneration != m.policy.Generation || m.renderedAnew() {
		m.status.Retry, m.status.Rollback = nil, nil
		if m.changed() {
			m.status.GuardedBy, m.status.NotVerified = nil, nil
		}
	}
	if m.policy.Waiting == "" || old.PolicyGeneration != m.policy.Generation {
		m.status.DesiredState = sameOr(old.DesiredState, m.policy.Document)
		if !bytes.Equal(old.DesiredState.Raw, m.policy.Document.Raw) {
			m.status.DesiredStateMetaInfo = v1.CapturedStateMeta{Time: metav1.NewTime(now).Rfc3339Copy(), Version: "0"}
		}
		m.status.Hash = m.policy.Hash
		m.status.CapturedStates = m.policy.Captured
		m.status.MatchedInterfaces = m.policy.MatchedInterfaces
		m.status.Variables = m.policy.Variables
		m.status.Features = m.policy.Features
	}
}

// renderedAnew tells whether the policy came out differently from what the
// enactment shows, since something on the node changed.
func (m *member) renderedAnew() bool {
	old := m.enactment.Status.Hash
	return m.readable() && old != "" && old != m.policy.Hash
}

// heldFrom reads what was committed. A document that cannot be read any more
// holds nothing.
func (m *member) heldFrom(committed *v1.CommittedPolicy) *Contribution {
	held := &Contribution{
		Policy: m.name, Generation: committed.Generation, Hash: committed.Hash,
		Priority: committed.Priority, Created: committed.Created.Time,
	}
	if m.policy != nil && m.policy.Hash == committed.Hash {
		held.State = m.policy.State
		return held
	}
	parsed, err := state.Parse(committed.DesiredState.Raw)
	if err != nil {
		return nil
	}
	held.State = parsed
	return held
}

// place is the member's place in the merge order.
func (m *member) place() Contribution {
	switch {
	case m.policy != nil:
		return m.rendered()
	case m.held != nil:
		return *m.held
	}
	return Contribution{Policy: m.name}
}

// rendered is what the policy would put into the node's state now.
func (m *member) rendered() Contribution {
	p := m.policy
	return Contribution{
		Policy: p.Name, Generation: p.Generation, Hash: p.Hash,
		Priority: p.Priority, Created: p.Created, State: p.State,
	}
}

// readable tells whether the policy came out as a state.
func (m *member) readable() bool {
	return m.policy != nil && m.policy.Err == nil && m.policy.Waiting == ""
}

// changed tells whether the policy's rendering is to be applied and is not what
// is committed.
func (m *member) changed() bool {
	return m.readable() && !m.plans() && (m.held == nil || m.held.Hash != m.policy.Hash)
}

// approved tells whether the node may apply the policy as it is now. An
// approval that names a hash is for that rendering only; a generation that the
// node has committed needs one, when it comes out differently there.
func (m *member) approved() bool {
	if m.policy == nil || m.enactment == nil || m.enactment.Spec.ApprovedGeneration != m.policy.Generation {
		return false
	}
	if granted := m.enactment.Spec.ApprovedHash; granted != "" {
		return granted == m.policy.Hash
	}
	again := m.changed() && m.held != nil && m.held.Generation == m.policy.Generation
	return !again
}

func (m *member) aborted() bool {
	return !m.approved() && m.enactment != nil && m.enactment.Spec.AbortedGeneration == m.policy.Generation
}

// failed tells whether this generation was tried on the node and failed.
func (m *member) failed() bool { return m.status.Retry != nil }

// retryIn is how long until the policy may be tried again; false when never.
func (m *member) retryIn(now time.Time) (time.Duration, bool) {
	switch {
	case m.status.Retry == nil:
		return 0, true
	case m.status.Retry.After == nil:
		return 0, false
	}
	return max(0, m.status.Retry.After.Sub(now)), true
}

// proof is what guarded a change, and what of it nothing has proved.
type proof struct{ guardedBy, notVerified []string }

// commit records that the node has this state of the policy.
func (m *member) commit(held Contribution, proven proof, now time.Time) {
	since := metav1.Time{Time: now}
	if before := m.status.Committed; before != nil && before.Hash == held.Hash && !before.Since.IsZero() {
		since = before.Since
	}
	m.held = &held
	m.status.Committed = &v1.CommittedPolicy{
		Generation: held.Generation, Hash: held.Hash, Priority: held.Priority,
		Created: metav1.Time{Time: held.Created}, Since: since, DesiredState: v1.NewState(held.State.JSON()),
	}
	m.status.Retry, m.status.Rollback = nil, nil
	m.status.GuardedBy, m.status.NotVerified = proven.guardedBy, proven.notVerified
}

func (m *member) show(r row, now time.Time) {
	m.status.Conditions = r.onto(m.status.Conditions, metav1.Time{Time: now})
}
