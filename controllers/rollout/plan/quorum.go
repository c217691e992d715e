package plan

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	v1 "github.com/nmstate/kubernetes-nmstate/api/v1"
)

// ControlPlane is what a plan has to know of the nodes on which the cluster's control
// plane runs. Its etcd mostly runs there, too, and answers while more than half of its
// members do. Without it no node reaches an API server that answers, and each takes its
// change back.
type ControlPlane struct {
	// Nodes is how many there are in the cluster.
	Nodes int
	// Away are those on which nobody can count now, for a reason that is not this policy's
	// change, in a few words by name.
	Away map[string]string
}

// mayBeAway is how many may be away at a time without the others being too few. Of one or
// two nodes none can be spared, and one has to be.
func (c ControlPlane) mayBeAway() int { return max(1, (c.Nodes-1)/2) }

// quorum keeps so many nodes of the control plane from changing that the others would be
// too few, whatever maxUnavailable says.
type quorum struct {
	limit int
	// nodes is how many nodes the control plane has.
	nodes int
	// away are the nodes that may not answer, and why.
	away map[string]string
	// failing are those on which the policy fails. As many as may be away are fails: the
	// others do not begin.
	failing []string
	fails   bool
	// waiting are those that would make too many.
	waiting []string
}

func (p *planning) quorum() *quorum { return p.quorumBut(func(place) bool { return false }) }

// quorumBut does not count some of the nodes that have a slot.
func (p *planning) quorumBut(some func(place) bool) *quorum {
	q := &quorum{limit: p.in.ControlPlane.mayBeAway(), nodes: p.in.ControlPlane.Nodes, away: map[string]string{}}
	maps.Copy(q.away, p.in.ControlPlane.Away)
	for _, place := range p.places {
		if place.ControlPlane && place.occupies() && !place.isUndecided() && !some(place) {
			q.away[place.Name] = place.doing()
		}
	}
	q.failing = p.names(func(p place) bool { return p.ControlPlane && p.fails() })
	q.fails = len(q.failing) >= q.limit
	return q
}

// isUndecided: the node has told that it does not know yet what the generation comes to there.
// What it was granted may take for ever, as a neighbour's announcement does (LLDP).
func (p place) isUndecided() bool {
	return p.reported && p.hash == "" && !p.inMidChange && !p.undoes
}

// MayChangeNode tells whether the enactment's policy may be changing its node now.
func MayChangeNode(e *v1.NodeNetworkConfigurationEnactment) bool {
	waits := isOpen(e) || needsGrant(e)
	return mayBeChanging(e) && (!waits || e.Spec.Leave || isTrue(e, v1.EnactmentProgressing))
}

// isOpen: the node does not know yet what it was granted comes to there.
func isOpen(e *v1.NodeNetworkConfigurationEnactment) bool {
	return e.Status.PolicyGeneration == e.Spec.ApprovedGeneration && e.Status.Hash == ""
}

// needsGrant: what the node was granted was another rendering, since a variable changed there.
func needsGrant(e *v1.NodeNetworkConfigurationEnactment) bool {
	hash, granted, committed := e.Status.Hash, e.Spec.ApprovedHash, e.Status.Committed
	if hash == "" || hash == granted || e.Status.PolicyGeneration != e.Spec.ApprovedGeneration {
		return false
	}
	return granted != "" || committed != nil && committed.Generation == e.Spec.ApprovedGeneration && committed.Hash != hash
}

func (q *quorum) reason() string {
	return fmt.Sprintf("%d of the %d nodes of the control plane fail, and %d may be away: %s", len(q.failing), q.nodes, q.limit, list(q.failing))
}

// spares tells whether the place does not begin at all, since others of the control plane fail.
func (q *quorum) spares(p place) bool { return q.fails && p.ControlPlane }

// admits tells whether the place may begin. One that is in the middle of an older
// generation is away in any case.
func (q *quorum) admits(p *place) bool {
	if !p.ControlPlane || p.inMidChange {
		return true
	}
	others := len(q.away)
	if _, counted := q.away[p.Name]; counted {
		others--
	}
	if others < q.limit {
		return true
	}
	q.waiting = append(q.waiting, p.Name)
	return false
}

func (q *quorum) grant(p *place) {
	if p.ControlPlane {
		q.away[p.Name] = p.doing()
	}
}

// String is empty where no node waits.
func (q *quorum) String() string {
	if len(q.waiting) == 0 {
		return ""
	}
	var away []string
	for _, name := range slices.Sorted(maps.Keys(q.away)) {
		away = append(away, fmt.Sprintf("%s (%s)", name, q.away[name]))
	}
	return fmt.Sprintf("%s of the control plane: of its %d nodes %d may be away at a time, and %s", list(q.waiting), q.nodes, q.limit, strings.Join(away, ", ")+" "+are(len(away)))
}

func are(count int) string {
	if count == 1 {
		return "is"
	}
	return "are"
}
