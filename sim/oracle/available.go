package oracle

import (
	"fmt"
	"slices"
	"strings"
	"time"

	v1 "github.com/nmstate/kubernetes-nmstate/api/v1"
	"github.com/nmstate/kubernetes-nmstate/handler/desired"
	"github.com/nmstate/kubernetes-nmstate/handler/journal"
	"github.com/nmstate/kubernetes-nmstate/handler/probe"
	"github.com/nmstate/kubernetes-nmstate/handler/state"
)

// available: an enactment is Available only for what its node has committed, and
// what is committed is on the host: at the commit, and at rest, minus what
// drifted since and is told as drift.
type available struct{}

func (available) Name() string { return "available" }

func (a available) Observe(f *Facts, e Event) error {
	switch what := e.What.(type) {
	case CheckpointEnded:
		t := f.Node(e.Node).Trial
		if what.How != Committed || t == nil || t.Checkpoint != what.ID || t.Entry == nil || !f.Calm(e.Node, t.Made, Moves|Restarts) {
			return nil
		}
		if missing := state.Missing(parsed(t.Entry.Change), f.Network(e.Node)); len(missing) > 0 {
			return fmt.Errorf("%s was committed and the node lacks %s", what.ID, few(missing))
		}
	case Wrote:
		after, is := what.After.(*v1.NodeNetworkConfigurationEnactment)
		if !is || !what.Status || !conditionIs(after.Status.Conditions, v1.EnactmentAvailable) {
			return nil
		}
		if before, had := what.Before.(*v1.NodeNetworkConfigurationEnactment); had &&
			conditionIs(before.Status.Conditions, v1.EnactmentAvailable) && before.Status.Hash == after.Status.Hash {
			return nil
		}
		if role, _ := roleOf(what.Process); role == roleOutside {
			return nil // The older project's, say (sim/swarm).
		}
		return a.onDisk(f, after)
	}
	return nil
}

// onDisk: the node's own record has it, or had it until the policy left.
func (available) onDisk(f *Facts, e *v1.NodeNetworkConfigurationEnactment) error {
	node, policy := nodeAndPolicy(e)
	if !f.Has(node) || f.state(node) == nil || !f.Calm(node, 0, Stale|Hinders) {
		return nil
	}
	record := f.Record(node)
	if record.Committed != nil && slices.ContainsFunc(record.Committed.Sources, func(s v1.DesiredSource) bool {
		return s.Policy == policy && s.Hash == e.Status.Hash
	}) {
		return nil
	}
	return on(node, "the enactment of policy %s became Available for %s, which the node's record does not have", policy, e.Status.Hash)
}

// AtRest compares every Available enactment of a managed node with the host.
func (available) AtRest(f *Facts) error {
	var first error
	f.eachEnactment(func(e *v1.NodeNetworkConfigurationEnactment, node, policy string) {
		if first != nil {
			return
		}
		if missing := f.lacks(e, node, policy); len(missing) > 0 {
			first = on(node, "policy %s is Available and the node lacks %s", policy, few(missing))
		}
	})
	return first
}

// lacks is what a managed node lacks of a policy that is Available there, and does
// not tell as drift.
func (f *Facts) lacks(e *v1.NodeNetworkConfigurationEnactment, node, name string) []state.Difference {
	if !f.isAvailable(e, node, name) {
		return nil
	}
	missing := state.Missing(parsed(e.Status.DesiredState.Raw), f.Network(node))
	return slices.DeleteFunc(missing, func(d state.Difference) bool {
		// One item too many: what another policy left behind with onDelete Retain.
		return isTold(f.state(node), d) || d.Want == ""
	})
}

// isAvailable tells whether a policy is Available on a managed node in the generation
// that it has. A node that is out of reach for good can tell nothing: whether that is our
// doing, the rule reach says.
func (f *Facts) isAvailable(e *v1.NodeNetworkConfigurationEnactment, node, name string) bool {
	policy, nns := f.policy(name), f.state(node)
	return policy != nil && nns != nil && !f.IsTaken(node) && f.Has(node) && isManaged(nns) && !f.Open(node) && f.Reaches(node, probe.APIServer) &&
		conditionIs(e.Status.Conditions, v1.EnactmentAvailable) && e.Status.PolicyGeneration == policy.Generation && !isOlders(e, policy)
}

// isOlders tells whether it is the older project's word, which stays as long as it is not
// known how the policy comes out: what switches announce may never be heard (ADR 0032).
func isOlders(e *v1.NodeNetworkConfigurationEnactment, policy *v1.NodeNetworkConfigurationPolicy) bool {
	return len(policy.Spec.Match) > 0 && desired.IsOlderOf(e, policy.CreationTimestamp.Time)
}

// isTold tells whether the node says that it drifted so.
func isTold(nns *v1.NodeNetworkState, d state.Difference) bool {
	return slices.ContainsFunc(nns.Status.Drift, func(told v1.Drift) bool {
		return told.Path == d.Path.String() || state.ParsePath(told.Path).Subject() == d.Path.Subject()
	})
}

// kept: a change keeps what the rest of the desired state has on the node; in
// particular, what leaves takes nothing with it that stays wanted.
type kept struct{}

func (kept) Name() string { return "kept" }

func (kept) Observe(f *Facts, e Event) error {
	what, is := e.What.(CheckpointEnded)
	t := f.Node(e.Node).Trial
	if !is || what.How != Committed || t == nil || t.Checkpoint != what.ID || t.Entry == nil || !f.Calm(e.Node, t.Asked, Moves|Restarts) {
		return nil
	}
	wanted := parsed(t.Entry.Desired)
	lacked := map[string]bool{}
	for _, d := range state.Missing(wanted, t.Before) {
		lacked[d.Path.String()] = true
	}
	var lost []state.Difference
	for _, d := range state.Missing(wanted, f.Network(e.Node)) {
		if !lacked[d.Path.String()] && !lacked[d.Path.Subject().String()] {
			lost = append(lost, d)
		}
	}
	if len(lost) > 0 {
		return fmt.Errorf("%s was committed and took away what the desired state has: %s", what.ID, few(lost))
	}
	return nil
}

// takenBack: what was not committed is not there any more when the journal is
// closed, and its checkpoint is not alive; unless the record says that the way
// back is incomplete. What had drifted may be as it was committed again: the way back
// leads to the committed state (design §2, rule 1), and brings up its profiles.
type takenBack struct{}

// backMargin is for what comes back a moment later, a lease for instance.
const backMargin = 20 * time.Second

// closing is longer than a handler takes to close its journal, and shorter than any way back.
const closing = 10 * time.Millisecond

func (takenBack) Name() string { return "taken-back" }

func (b takenBack) Observe(f *Facts, e Event) error {
	what, is := e.What.(JournalClosed)
	t := f.Node(e.Node).Trial
	if !is || t == nil || t.Ended == Committed || !f.Has(e.Node) {
		return nil
	}
	var result v1.TransactionResult
	if what.Record.Last != nil {
		result = what.Record.Last.Result
	}
	if t.Entry == nil || len(t.Entry.Correction) > 0 || result == v1.TransactionRollbackIncomplete {
		return nil // How a correction ended is not in Last.
	}
	if t.Ended == "" && result != v1.TransactionRefused {
		return fmt.Errorf("the journal was closed (%s) while %s is alive", result, t.Checkpoint)
	}
	if result != v1.TransactionRolledBack && result != v1.TransactionSuperseded {
		return nil
	}
	began, before := t.Asked, t.Before
	if t.Entry != nil && len(t.Entry.Before) > 0 {
		before = parsed(t.Entry.Before) // What came between the read and the apply is nobody's fault.
	}
	f.later(b, backMargin, e.Node, func() error {
		if !f.Has(e.Node) || f.Node(e.Node).Trial != nil || f.Open(e.Node) || !f.Calm(e.Node, began, Moves) {
			return nil
		}
		if f.Node(e.Node).lastAsked != began {
			return nil
		}
		left := slices.DeleteFunc(state.Diff(before, f.Network(e.Node)), isCommittedAgain(f.Record(e.Node), before, f.Network(e.Node)))
		left = slices.DeleteFunc(left, isOfNoCarrier(before))
		left = slices.DeleteFunc(left, isOfAnotherMAC(f.Record(e.Node), before, f.Network(e.Node)))
		// What NetworkManager has in memory alone it forgets as it restarts: afterwards, or while
		// the journal was being closed.
		if len(left) > 0 && f.Calm(e.Node, e.At-closing, Restarts) {
			return fmt.Errorf("the change was taken back (%s), and the node is not as before: %s", result, few(left))
		}
		if t.Entry == nil {
			return nil
		}
		if name := leftBehind(before, parsed(t.Entry.Change), f.Network(e.Node)); name != "" {
			return fmt.Errorf("the change was taken back (%s), and %s, which it made, is there and nobody's", result, name)
		}
		return nil
	})
	return nil
}

// isOfAnotherMAC tells of an internal port of Open vSwitch to which nobody has given a MAC
// address: each activation gives it another one, and a server another lease by that (hack/adr/0036).
func isOfAnotherMAC(record journal.Record, before, now state.State) func(state.Difference) bool {
	var committed state.State
	if record.Committed != nil {
		committed = parsed(record.Committed.Desired)
	}
	return func(d state.Difference) bool {
		was, _ := before.Interface(d.Path.Interface)
		is, there := now.Interface(d.Path.Interface)
		given, _ := committed.Interface(d.Path.Interface)
		if !there || was.Type != "ovs-interface" || was.MACAddress() == is.MACAddress() ||
			given.MACAddress() != "" || given.Tree()["copy-mac-from"] != nil {
			return false
		}
		leased := was.Dynamic(state.IPv4) && is.Dynamic(state.IPv4) && len(was.Addresses(state.IPv4)) == len(is.Addresses(state.IPv4))
		return d.Path.Leaf == "mac-address" || leased && strings.HasPrefix(d.Path.Leaf, "ipv4.address")
	}
}

// isOfNoCarrier tells of the addresses of what stood on an interface that was down before the
// change. That one was up in the trial: when it goes down again, NetworkManager takes a device
// that loses its carrier for unavailable.
func isOfNoCarrier(before state.State) func(state.Difference) bool {
	return func(d state.Difference) bool {
		one, _ := before.Interface(d.Path.Interface)
		base, there := before.Interface(one.BaseInterface())
		return there && base.State == "down" && strings.HasPrefix(d.Path.Leaf, "ip")
	}
}

// isCommittedAgain tells of what the node has by now as it was committed, and had not
// before the change.
func isCommittedAgain(record journal.Record, before, now state.State) func(state.Difference) bool {
	if record.Committed == nil {
		return func(state.Difference) bool { return false }
	}
	committed := parsed(record.Committed.Desired)
	still := state.Missing(committed, now)
	again := slices.DeleteFunc(state.Missing(committed, before), func(d state.Difference) bool {
		return slices.ContainsFunc(still, func(s state.Difference) bool { return s.Path.String() == d.Path.String() })
	})
	return func(d state.Difference) bool {
		family, enabled := strings.CutSuffix(d.Path.Leaf, ".enabled") // By its having an address.
		return slices.ContainsFunc(again, func(a state.Difference) bool {
			return a.Path.Covers(d.Path) || enabled && d.Got == "true" && a.Path == d.Path.Subject().At(family+".address")
		})
	}
}

// leftBehind is an interface that a change asks for, that was not there before, and that
// NetworkManager does not manage: of those state.Diff says nothing.
func leftBehind(before, change, now state.State) string {
	for _, one := range now.Interfaces() {
		_, was := before.Interface(one.Name)
		if _, asked := change.Interface(one.Name); asked && !was && one.State == "ignore" {
			return one.Name
		}
	}
	return ""
}

func conditionIs(conditions []v1.Condition, kind v1.ConditionType) bool {
	return v1.TrueCondition(conditions, kind) != nil
}

// nodeAndPolicy that an enactment is about.
func nodeAndPolicy(e *v1.NodeNetworkConfigurationEnactment) (node, policy string) {
	return e.Node(), e.Policy()
}
