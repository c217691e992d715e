package plan

import (
	"cmp"
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "github.com/nmstate/kubernetes-nmstate/api/v1"
	"github.com/nmstate/kubernetes-nmstate/handler/desired"
)

// phase is how far a node is with the policy's generation, see doc.go.
type phase int

const (
	waiting phase = iota
	working
	available
	failing
	aborted
	planned
)

func (p phase) String() string {
	return [...]string{"waiting", "progressing", "available", "failing", "aborted", "planned"}[p]
}

// place is a node's place in the rollout.
type place struct {
	Node
	// enacted: the node has an enactment, and it is of this very policy, not
	// of a deleted one of the same name.
	enacted bool
	phase   phase
	// approved for the policy's generation, as it comes out on the node.
	approved bool
	// changing: a transaction may be open on the node that no slot of this
	// generation stands for: an older one, or the node no longer matches.
	changing bool
	// inMidChange: the enactment shows that one is.
	inMidChange bool
	// reported: the node tells of the policy's generation.
	reported bool
	// committed: the node has some generation of the policy.
	committed bool
	// hash of the policy's generation as it comes out on the node, once it is
	// reported.
	hash string
	// unchanged: that is what the node has committed of an older generation.
	unchanged bool
	// wantsAgain: the node has committed the generation, which now comes out as
	// something else there and is not approved as that.
	wantsAgain bool
	// retrying: the node is at the generation again, after a failure.
	retrying bool
	// soak is how long a configured node still holds its slot.
	soak time.Duration
	// cause is how it failed, where it does; nextTry is when it is tried again by itself,
	// nil for never.
	cause   string
	nextTry *metav1.Time
	// setAside: the enactment tells that nobody manages the node.
	setAside bool
	// unmanaged: nobody manages the node, and it is not in the middle of anything, or its
	// handler died there.
	unmanaged bool
	// lost: it was granted, and has not been Ready, or has had no handler, for so long
	// that it died.
	lost bool
	// matchless: spec.match selects no interface there.
	matchless bool
	// goes: the policy is gone from the node, and its enactment is still there.
	goes bool
	// waitsToLeave: there is something to undo, which waits for a grant; undoes: it has one.
	waitsToLeave, undoes bool
	// stays: it had one, and is selected again.
	stays bool
	// plan of the node in mode Plan.
	plan *v1.EnactmentPlan
}

// holdsSlot of the policy's generation.
func (p place) holdsSlot() bool {
	if p.phase == available {
		return p.Matches && p.soak > 0
	}
	return p.Matches && p.approved && !p.unchanged && !p.lost
}

// leaves: the policy no longer selects the node, which has not told that it has gone
// back. Should it be selected again, it may go on with its grant.
func (p place) leaves() bool { return !p.Matches && p.changing }

// occupies one of the slots, of this generation or of an older one.
func (p place) occupies() bool { return p.holdsSlot() || p.changing }

// has: what the policy's generation comes to is on the node.
func (p place) has() bool { return p.Matches && (p.phase == available || p.unchanged) }

// done: nobody has to wait for the node.
func (p place) done() bool { return p.has() && p.Ready && p.soak == 0 }

// begun counts the node as one of those that go first.
func (p place) begun() bool { return p.Matches && p.approved || p.has() }

// grantedRendering is the rendering that a grant is for, empty where the generation is new
// to the node.
func (p place) grantedRendering() string {
	if p.wantsAgain {
		return p.hash
	}
	return ""
}

// ignored: the rollout does not wait for the node. Once it has begun, or
// failed, it is no longer left out, whatever the node's condition tells: a
// policy is not finished while a node is in the middle of it.
func (p place) ignored() bool { return p.Matches && !p.Ready && !p.holdsSlot() && p.phase != failing }

func (p place) absent() bool {
	return p.Matches && p.Ready && !p.enacted && !p.unmanaged && p.Taken == ""
}

func (p place) mayBeWritten() bool { return p.Matches && p.enacted }

// mayBegin: the node could be granted the generation.
func (p place) mayBegin() bool {
	return p.mayBeWritten() && p.Ready && !p.unmanaged && !p.Unreported && (p.phase == waiting || p.phase == aborted)
}

// silent: the node has an older generation, and has not told how this one comes
// out there. Only then it is known whether it needs a slot.
func (p place) silent() bool {
	return p.mayBegin() && p.committed && !p.reported && !p.changing
}

// failsAsCanary leaves out the nodes that failed without being granted.
func (p place) failsAsCanary() bool { return p.fails() && p.approved || p.lost }

// fails until it has succeeded: while a failed node tries again, nobody else is
// let go on, only to be stopped again.
func (p place) fails() bool { return isFailing(p) || p.Matches && p.retrying }

func isFailing(p place) bool { return p.Matches && p.phase == failing }

func isAborted(p place) bool { return p.Matches && p.phase == aborted }

// placesOf puts nodes and enactments together, in the order of the names. An
// enactment without a node in the input is of a deleted node: it has no place.
func placesOf(in Input) []place {
	enactments := in.ByNode()
	places := make([]place, len(in.Nodes))
	for i, node := range in.Nodes {
		places[i].Node = node
		if enactment, found := enactments[node.Name]; found {
			places[i].read(enactment, in.Policy)
			places[i].doubt(in.Unsure[node.Name])
			places[i].readSoak(enactment, in)
		}
	}
	slices.SortFunc(places, func(a, b place) int { return cmp.Compare(a.Name, b.Name) })
	return places
}

// doubt: a grant that is there or not occupies a slot like a change that is.
func (p *place) doubt(unsure bool) {
	switch {
	case !unsure:
	case p.waitsToLeave:
		p.waitsToLeave, p.undoes, p.changing = false, true, true
	case p.Matches && !p.approved && p.phase != available:
		p.changing = true
	}
}

// ByNode are the enactments by the node that they are about. Admission leaves no way
// to two of one node; if there are two all the same it is always the same one of them.
func (in Input) ByNode() map[string]*v1.NodeNetworkConfigurationEnactment {
	found := make(map[string]*v1.NodeNetworkConfigurationEnactment, len(in.Enactments))
	for i := range in.Enactments {
		enactment := &in.Enactments[i]
		if other, there := found[enactment.Node()]; !there || other.Name < enactment.Name {
			found[enactment.Node()] = enactment
		}
	}
	return found
}

// OfItsNode: the node that owns the enactment is the one in its label, by which the
// node's handler finds it, so that no node speaks for another.
func OfItsNode(enactment *v1.NodeNetworkConfigurationEnactment) bool {
	label := enactment.Labels[v1.EnactmentNodeLabel]
	return !slices.ContainsFunc(enactment.OwnerReferences, func(o metav1.OwnerReference) bool {
		return o.Kind == "Node" && desired.NodeLabel(o.Name) != label
	})
}

func (p *place) read(enactment *v1.NodeNetworkConfigurationEnactment, policy *v1.NodeNetworkConfigurationPolicy) {
	p.enacted = policy != nil && ownedBy(enactment, policy)
	p.readLeave(enactment)
	p.inMidChange = isTrue(enactment, v1.EnactmentProgressing)
	// A node that the policy does not select, and that was granted nothing, takes
	// nobody's turn, whatever it tells.
	p.changing = p.undoes || mayBeChanging(enactment) && (p.Matches || enactment.Spec.ApprovedGeneration > 0)
	if !p.enacted {
		return
	}
	generation := policy.Generation
	p.readRendering(enactment, generation)
	p.setAside = desired.SetAside(enactment)
	p.cause = desired.CauseOf(enactment)
	p.nextTry = nextTry(enactment.Status)
	// A node that is out of reach does not know that the policy no longer selects it,
	// and may begin its next try.
	p.changing = p.changing || !p.Matches && p.nextTry != nil && !p.setAside && !p.waitsToLeave && enactment.Spec.ApprovedGeneration > 0
	p.matchless = len(policy.Spec.Match) > 0 && len(enactment.Status.MatchedInterfaces) == 0
	if policy.Spec.Mode == modePlan {
		p.readPlan(enactment)
		return
	}
	p.approved = enactment.Spec.ApprovedGeneration == generation && !p.wantsAgain && !p.approvedAsOther(enactment)
	switch {
	case p.reported && isTrue(enactment, v1.EnactmentAvailable) && !p.wantsAgain:
		p.phase = available
	case p.reported && isTrue(enactment, v1.EnactmentFailing):
		p.phase = failing
	case p.approved:
		p.phase = working
	case enactment.Spec.AbortedGeneration == generation:
		p.phase = aborted
	}
	p.retrying = p.phase == working && p.reported && enactment.Status.Retry != nil
	if p.unchanged || p.wantsAgain {
		// Nothing begins without a new approval, whatever the last one was.
		p.changing = isTrue(enactment, v1.EnactmentProgressing)
	}
	// What this generation does is told by its slot, where the node has one.
	p.changing = p.changing && !(p.approved && p.Matches && !p.unchanged)
}

// readRendering compares what the generation comes to on the node with what is
// committed there.
func (p *place) readRendering(enactment *v1.NodeNetworkConfigurationEnactment, generation int64) {
	status := &enactment.Status
	p.reported = status.PolicyGeneration == generation
	p.committed = status.Committed != nil
	if !p.reported || status.Hash == "" {
		return
	}
	p.hash = status.Hash
	if p.committed && status.Committed.Generation == generation {
		p.wantsAgain = status.Committed.Hash != p.hash && enactment.Spec.ApprovedHash != p.hash
	} else if p.committed {
		p.unchanged = status.Committed.Hash == p.hash
	}
}

// approvedAsOther: the approval is for a rendering that is over.
func (p *place) approvedAsOther(enactment *v1.NodeNetworkConfigurationEnactment) bool {
	return p.hash != "" && enactment.Spec.ApprovedHash != "" && enactment.Spec.ApprovedHash != p.hash
}

// mayBeChanging tells whether a transaction that the enactment allowed may be
// open on the node: it shows Progressing, or does not yet tell how what was
// approved last has ended.
func mayBeChanging(enactment *v1.NodeNetworkConfigurationEnactment) bool {
	approved, reported := enactment.Spec.ApprovedGeneration, enactment.Status.PolicyGeneration
	switch {
	case isTrue(enactment, v1.EnactmentProgressing):
		return true
	case desired.SetAside(enactment): // It would stand in the way for as long as nobody manages it.
		return false
	case enactment.Spec.Leave: // What the policy has configured is undone.
		return true
	case enactment.Status.WaitsToLeave: // It begins nothing any more.
		return false
	case approved == 0 || reported > approved:
		return false
	case reported < approved:
		return true
	}
	return !isTrue(enactment, v1.EnactmentAvailable) && !isTrue(enactment, v1.EnactmentFailing) &&
		!isTrue(enactment, v1.EnactmentAborted)
}

// ownedBy tells an enactment of this policy from one of a deleted policy that
// had the same name and is not collected yet.
func ownedBy(enactment *v1.NodeNetworkConfigurationEnactment, policy *v1.NodeNetworkConfigurationPolicy) bool {
	for _, owner := range enactment.OwnerReferences {
		if owner.Kind == "NodeNetworkConfigurationPolicy" {
			return owner.UID == policy.UID
		}
	}
	// Of one whose policy was deleted the garbage collector leaves the Node.
	return len(enactment.OwnerReferences) == 0
}

func isTrue(enactment *v1.NodeNetworkConfigurationEnactment, conditionType v1.ConditionType) bool {
	return v1.TrueCondition(enactment.Status.Conditions, conditionType) != nil
}
