package oracle

import (
	"slices"
	"strings"
	"time"

	v1 "github.com/nmstate/kubernetes-nmstate/api/v1"
	"github.com/nmstate/kubernetes-nmstate/handler/desired"
)

// leave: what a policy has configured is undone on as many nodes at a time as may be
// unavailable, of those that it leaves, and on none that was not let (ADR 0045).
type leave struct {
	// gone are the enactments that went a moment ago, of which the controllers may not have
	// heard.
	gone []goneEnactment
	// had is when an enactment lost its grant to leave: its node may have begun.
	had map[string]time.Duration
	// said is what policies said before they were edited or deleted, of which the controllers
	// may not have heard.
	said []goneWord
}

type goneWord struct {
	*v1.NodeNetworkConfigurationPolicy
	at time.Duration
}

func newLeave() *leave {
	return &leave{had: map[string]time.Duration{}}
}

type goneEnactment struct {
	*v1.NodeNetworkConfigurationEnactment
	at time.Duration
}

func (*leave) Name() string { return "leave" }

func (l *leave) Observe(f *Facts, e Event) error {
	switch what := e.What.(type) {
	case Wrote:
		if before, was := what.Before.(*v1.NodeNetworkConfigurationPolicy); was && (what.Spec || what.After == nil) {
			l.said = append(l.said, goneWord{before, f.Elapsed()})
		}
		before, had := what.Before.(*v1.NodeNetworkConfigurationEnactment)
		after, has := what.After.(*v1.NodeNetworkConfigurationEnactment)
		if had && !has {
			l.gone = append(l.gone, goneEnactment{before, f.Elapsed()})
		}
		if had && before.Spec.Leave {
			l.had[before.Name] = f.Elapsed()
		}
		role, _ := roleOf(what.Process)
		if has && what.Spec && role == roleControllers && after.Spec.Leave && !(had && before.Spec.Leave) {
			return l.let(f, after)
		}
	case CheckpointMade:
		if t := f.Node(e.Node).Trial; t != nil && t.Made == e.At {
			return l.begun(f, e.Node, t)
		}
	}
	return nil
}

// let: a node is let undo a policy.
func (l *leave) let(f *Facts, e *v1.NodeNetworkConfigurationEnactment) error {
	node, name := nodeAndPolicy(e)
	if _, is := f.notReady[node]; is || !f.Calm(Controllers, max(0, f.Elapsed()-quorumCalm), Stale|Hinders) {
		return nil // It is away, or what the controllers know is old.
	}
	var going, leaving []string
	newest := e
	f.eachEnactment(func(other *v1.NodeNetworkConfigurationEnactment, its, policy string) {
		if policy != name {
			return
		}
		if other.Spec.ApprovedGeneration > newest.Spec.ApprovedGeneration {
			newest = other
		}
		if !f.hasGone(other) {
			return
		}
		going = append(going, its)
		_, away := f.notReady[its]
		if other.Spec.Leave && f.node(its) != nil && !desired.SetAside(other) && !away && !f.isDead(its) && !f.IsTaken(its) {
			leaving = append(leaving, its)
		}
	})
	l.gone = slices.DeleteFunc(l.gone, func(g goneEnactment) bool { return f.Elapsed()-g.at > grantLag })
	for _, g := range l.gone {
		if g.Policy() != name {
			continue
		}
		going = append(going, "one that has left")
		if g.Spec.ApprovedGeneration > newest.Spec.ApprovedGeneration {
			newest = g.NodeNetworkConfigurationEnactment
		}
	}
	limit := f.mayLeave(name, newest, len(going))
	l.said = slices.DeleteFunc(l.said, func(w goneWord) bool { return f.Elapsed()-w.at > grantLag })
	for _, word := range l.said {
		if then, _ := limitOf(word.NodeNetworkConfigurationPolicy, len(going)); word.Name == name {
			limit = max(limit, then)
		}
	}
	if len(leaving) > limit {
		slices.Sort(leaving)
		return on(node, "policy %s: %d nodes may undo it at a time (%s), and %d are to", name, len(leaving), strings.Join(leaving, ", "), limit)
	}
	return nil
}

// hasGone tells whether the enactment is of a policy that is not its node's.
func (f *Facts) hasGone(e *v1.NodeNetworkConfigurationEnactment) bool {
	node, name := nodeAndPolicy(e)
	p := f.policy(name)
	return p == nil || !ownedBy(e, p) || f.node(node) == nil || !f.selects(p, node)
}

// mayLeave is how many of so many nodes may undo the policy at once: as it says, or said as
// it was granted last.
func (f *Facts) mayLeave(policy string, e *v1.NodeNetworkConfigurationEnactment, of int) int {
	says := &v1.NodeNetworkConfigurationPolicy{}
	if says.Spec.MaxUnavailable = e.Spec.MaxUnavailable; f.policy(policy) != nil {
		says.Spec.MaxUnavailable = f.policy(policy).Spec.MaxUnavailable
	}
	limit, known := limitOf(says, of)
	if !known {
		return of
	}
	return limit
}

// begun: a node undoes a policy.
func (l *leave) begun(f *Facts, node string, t *Trial) error {
	if t.Entry == nil || len(t.Entry.Correction) > 0 || !f.Calm(node, max(0, t.Asked-time.Minute), everything) || !f.Calm(Controllers, max(0, t.Asked-time.Minute), everything) {
		return nil
	}
	has := f.Record(node).Committed
	if has == nil {
		return nil
	}
	for _, source := range has.Sources {
		stays := slices.ContainsFunc(t.Entry.Sources, func(s v1.DesiredSource) bool { return s.Policy == source.Policy })
		e := f.enactment(node, source.Policy)
		if stays || source.OnDelete != v1.OnDeleteRevert || e == nil || e.Spec.Leave || !e.Status.WaitsToLeave {
			continue
		}
		if had, was := l.had[e.Name]; was && t.Asked-had < time.Minute {
			continue
		}
		// Of another hash it is in the middle of its own change, and goes with that.
		if committed := e.Status.Committed; committed != nil && committed.Hash == source.Hash {
			return on(node, "policy %s is undone, and its enactment was not let leave", source.Policy)
		}
	}
	return nil
}

// mayWaitToLeave tells whether a node may wait for ever for its turn to undo a policy: the
// control plane has none to spare, or who has taken a node over does not give its turn back.
func (f *Facts) mayWaitToLeave(e *v1.NodeNetworkConfigurationEnactment) bool {
	if !e.Status.WaitsToLeave || e.Spec.Leave {
		return false
	}
	node, name := nodeAndPolicy(e)
	may := f.node(node) != nil && f.waitsForPlane(f.node(node))
	f.eachEnactment(func(other *v1.NodeNetworkConfigurationEnactment, its, policy string) {
		may = may || policy == name && other.Spec.Leave && f.IsTaken(its)
	})
	return may
}

// mayWaitOn tells whether what another policy has configured on the node may wait to be
// undone for ever: who cannot be beside it waits, too.
func (f *Facts) mayWaitOn(node string) bool {
	may := false
	f.eachEnactment(func(e *v1.NodeNetworkConfigurationEnactment, its, _ string) {
		may = may || its == node && f.mayWaitToLeave(e)
	})
	return may
}
