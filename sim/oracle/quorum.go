package oracle

import (
	"time"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "github.com/nmstate/kubernetes-nmstate/api/v1"
	"github.com/nmstate/kubernetes-nmstate/handler/desired"
)

// quorum: of the nodes on which the control plane runs fewer than half are changed at a
// time, so that an etcd that has its members there answers (ADR 0044). It is held against
// what the controllers had to know as they let a node begin.
type quorum struct {
	// changing is since when an enactment tells that its node is changing, by its name, and
	// changed when it told so the last time, by its node.
	changing, changed map[string]time.Duration
}

func newQuorum() *quorum {
	return &quorum{changing: map[string]time.Duration{}, changed: map[string]time.Duration{}}
}

func (*quorum) Name() string { return "quorum" }

func (q *quorum) Observe(f *Facts, e Event) error {
	what, is := e.What.(Wrote)
	if !is {
		return nil
	}
	before, had := what.Before.(*v1.NodeNetworkConfigurationEnactment)
	after, has := what.After.(*v1.NodeNetworkConfigurationEnactment)
	switch {
	case !had && !has:
		return nil
	case !has || !conditionIs(after.Status.Conditions, v1.EnactmentProgressing) && (!after.Spec.Leave || desired.SetAside(after) || !f.hasGone(after)):
		if _, was := q.changing[what.Name]; was {
			node, _ := nodeAndPolicy(before)
			q.changed[node] = f.Elapsed()
		}
		delete(q.changing, what.Name)
	case q.changing[what.Name] == 0:
		q.changing[what.Name] = f.Elapsed()
	}
	role, _ := roleOf(what.Process)
	granted := has && what.Spec && after.Spec.ApprovedGeneration > 0 && (!had || before.Spec.ApprovedGeneration != after.Spec.ApprovedGeneration)
	if granted && role == roleControllers && after.Spec.ApprovedHash == "" {
		return q.granted(f, after)
	}
	let := has && what.Spec && after.Spec.Leave && (!had || !before.Spec.Leave)
	if let && role == roleControllers && !f.isNotReady(after.Node()) {
		return q.granted(f, after)
	}
	return nil
}

// isNotReady tells whether the controllers may take the node for one that is not Ready:
// undoing a policy there takes nothing from the control plane.
func (f *Facts) isNotReady(node string) bool {
	_, is := f.notReady[node]
	return is || f.Elapsed()-f.readied < grantLag
}

func (q *quorum) granted(f *Facts, e *v1.NodeNetworkConfigurationEnactment) error {
	node, policy := nodeAndPolicy(e)
	total, away := 0, map[string]bool{}
	f.Each(f.likeNode, func(o client.Object) {
		if isOfPlane(o) {
			total++
			since, is := f.notReady[o.GetName()]
			away[o.GetName()] = is && f.Elapsed()-since >= grantLag
		}
	})
	if _, is := away[node]; !is || !f.Calm(Controllers, max(0, f.Elapsed()-quorumCalm), Stale|Hinders) {
		return nil
	}
	// What an enactment says of a node whose handler died long ago is over.
	f.Each(&v1.NodeNetworkConfigurationEnactment{}, func(o client.Object) {
		its, _ := nodeAndPolicy(o.(*v1.NodeNetworkConfigurationEnactment))
		since, is := q.changing[o.GetName()]
		if _, ofPlane := away[its]; ofPlane && is && !f.IsTaken(its) && !f.isDead(its) && (its == node || f.Elapsed()-since >= grantLag) {
			away[its] = true
		}
	})
	var others []string
	for _, name := range sortedKeys(away) {
		if away[name] && name != node {
			others = append(others, name)
		}
	}
	was, ever := q.changed[node]
	if away[node] || ever && f.Elapsed()-was < grantLag || len(others) < max(1, (total-1)/2) {
		return nil
	}
	return on(node, "policy %s: it is let begin on a node of the control plane, which has %d, and %v are away already", policy, total, others)
}

// waitsForPlane tells whether a node of the control plane may wait for another one of it for
// ever: that one is not Ready, or says what it likes.
func (f *Facts) waitsForPlane(node *corev1.Node) bool {
	waits := false
	f.Each(f.likeNode, func(o client.Object) {
		other := o.(*corev1.Node)
		waits = waits || other.Name != node.Name && isOfPlane(other) && (!isReady(other) || f.IsTaken(other.Name))
	})
	return waits && isOfPlane(node)
}

// quorumCalm is how far back a fault may have kept the controllers from knowing.
const quorumCalm = 5 * time.Minute

func isOfPlane(o client.Object) bool {
	_, is := o.(*corev1.Node).Labels["node-role.kubernetes.io/control-plane"]
	return is
}
