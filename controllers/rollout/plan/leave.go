package plan

import (
	"time"

	"k8s.io/apimachinery/pkg/util/intstr"

	v1 "github.com/nmstate/kubernetes-nmstate/api/v1"
	"github.com/nmstate/kubernetes-nmstate/handler/desired"
)

// leavePause is when to look again for nodes that still wait to undo a policy, if no event
// asks for it.
const leavePause = time.Minute

// Leave decides which nodes may undo a policy that there is not any more: Input has no
// Policy, and the enactments that it has left.
func Leave(in Input) Output {
	p := planning{in: in}
	p.places = placesOf(in)
	p.look()
	p.letLeave()
	return p.out
}

// readLeave reads how far the node is with undoing the policy.
func (p *place) readLeave(enactment *v1.NodeNetworkConfigurationEnactment) {
	setAside := desired.SetAside(enactment)
	p.goes = !p.Matches || !p.enacted
	p.waitsToLeave = p.goes && enactment.Status.WaitsToLeave && !enactment.Spec.Leave && !setAside
	p.undoes = p.goes && enactment.Spec.Leave && !setAside
	p.stays = !p.goes && enactment.Spec.Leave
}

// letLeave grants the nodes that wait to undo the policy: of those that it leaves so many at
// a time as may be unavailable, and of the control plane's so many as its quorum allows. A
// node that is away already takes nothing from the others: the policy may be why, and
// undoing it may bring the node back.
func (p *planning) letLeave() {
	p.out.Stays = p.names(func(p place) bool { return p.stays })
	if len(p.names(isWaitingToLeave)) == 0 {
		return
	}
	limit, busy := p.leaveLimit(), len(p.names(func(p place) bool { return p.undoes }))
	quorum := p.quorumBut(place.hasFailed)
	for i := range p.places {
		place := &p.places[i]
		switch {
		case !place.waitsToLeave:
		case !place.Ready:
			p.grantLeave(place, quorum)
		case busy < limit && quorum.admits(place):
			busy++
			p.grantLeave(place, quorum)
		}
	}
	if len(p.out.Leaves) > 0 {
		p.note("let the policy leave %s", list(p.out.Leaves))
	}
	if wait := p.names(isWaitingToLeave); len(wait) > 0 {
		p.note("wait to leave %s: %d of %d undo it", list(wait), busy, limit)
		p.planAfter(leavePause)
	}
	if spared := quorum.String(); spared != "" {
		p.note("wait to leave %s", spared)
	}
}

// hasFailed: it keeps its slot, and is as it was before.
func (p place) hasFailed() bool { return p.phase == failing && !p.inMidChange && !p.changing }

func isWaitingToLeave(p place) bool { return p.waitsToLeave }

func (p *planning) grantLeave(place *place, quorum *quorum) {
	place.waitsToLeave, place.undoes, place.changing = false, true, true
	p.out.Leaves = append(p.out.Leaves, place.Name)
	quorum.grant(place)
}

// leaveLimit is how many nodes may undo the policy at once: maxUnavailable, as the policy
// says, or said as it was granted last, of those that it leaves.
func (p *planning) leaveLimit() int {
	says := &v1.NodeNetworkConfigurationPolicy{}
	says.Spec.MaxUnavailable = p.said()
	going := len(p.names(func(p place) bool { return p.goes }))
	limit, _, err := maxUnavailable(says, going)
	if err != nil { // As if it said nothing.
		says.Spec.MaxUnavailable = nil
		limit, _, _ = maxUnavailable(says, going)
	}
	return limit
}

func (p *planning) said() *intstr.IntOrString {
	if p.in.Policy != nil {
		return p.in.Policy.Spec.MaxUnavailable
	}
	var said *intstr.IntOrString
	newest := int64(-1)
	for i := range p.in.Enactments {
		if spec := &p.in.Enactments[i].Spec; spec.ApprovedGeneration > newest {
			said, newest = spec.MaxUnavailable, spec.ApprovedGeneration
		}
	}
	return said
}
