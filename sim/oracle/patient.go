package oracle

import (
	"fmt"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "github.com/nmstate/kubernetes-nmstate/api/v1"
	"github.com/nmstate/kubernetes-nmstate/handler/desired"
)

// longestCall is how long a write may be on its way when the API server is ill: what it
// says was true when it set out.
const longestCall = 2 * time.Minute

// nodeGrace is the controllers' --node-grace.
const nodeGrace = 10 * time.Minute

// patient: a node that has just joined gets the time for its handler to come before a
// policy counts it as not managed and no longer waits for it (design §2, rule 11:
// silence is a condition).
type patient struct {
	// reported is when a node's first NodeNetworkState came, aside when its enactment last
	// said that nobody manages it, and removed when its Node went.
	reported, aside, removed map[string]time.Duration
}

func newPatient() *patient {
	return &patient{map[string]time.Duration{}, map[string]time.Duration{}, map[string]time.Duration{}}
}

func (*patient) Name() string { return "patient" }

func (p *patient) Observe(f *Facts, e Event) error {
	w, is := e.What.(Wrote)
	if !is {
		return nil
	}
	switch before := w.Before.(type) {
	case *corev1.Node:
		if w.After == nil {
			p.removed[before.Name] = f.Elapsed()
		}
	case *v1.NodeNetworkConfigurationEnactment:
		p.says(f, before) // Until now, where it goes.
	}
	switch after := w.After.(type) {
	case *v1.NodeNetworkState:
		if w.Before == nil {
			p.reported[w.Name] = f.Elapsed()
		}
	case *v1.NodeNetworkConfigurationEnactment:
		p.says(f, after)
	case *v1.NodeNetworkConfigurationPolicy:
		return p.counts(f, w, after)
	}
	return nil
}

// says notes an enactment that says that nobody manages its node.
func (p *patient) says(f *Facts, e *v1.NodeNetworkConfigurationEnactment) {
	if desired.SetAside(e) {
		node, _ := nodeAndPolicy(e)
		p.aside[node] = f.Elapsed()
	}
}

// counts compares with the nodes that may be counted.
func (p *patient) counts(f *Facts, w Wrote, policy *v1.NodeNetworkConfigurationPolicy) error {
	told := int(policy.Status.Counts.NotManaged)
	if !w.Status || told == 0 || !f.Calm(Controllers, f.Elapsed()-longestCall, Stale|Hinders|Clock) {
		return nil
	}
	before, had := w.Before.(*v1.NodeNetworkConfigurationPolicy)
	if had && int(before.Status.Counts.NotManaged) >= told {
		return nil
	}
	may, moved := 0, f.movedFrom(policy)
	f.Each(&corev1.Node{}, func(o client.Object) {
		if node := o.GetName(); (f.selects(policy, node) || moved[node]) && (p.isSilent(f, node) || p.isAside(f, node, policy.Name)) {
			may++
		}
	})
	for _, at := range p.removed {
		if f.Elapsed()-at < grantLag { // The controllers hear of it in this moment.
			may++
		}
	}
	if told > may {
		return fmt.Errorf("policy %s counts %d nodes as not managed; %d are, or have had %s to get a handler", policy.Name, told, may, nodeGrace)
	}
	return nil
}

// isSilent: the node has been there for long, by a clock of whole seconds, and has not
// reported, but for just now; or its handler died.
func (p *patient) isSilent(f *Facts, node string) bool {
	if since, is := f.notReady[silence+node]; is && f.Elapsed()-since >= nodeGrace-time.Second {
		return true
	}
	reported, has := p.reported[node]
	return f.Elapsed()-f.joined[node] >= nodeGrace-time.Second && (f.state(node) == nil || has && f.Elapsed()-reported < grantLag)
}

// isAside: the node says, or has said just now, that nobody manages it.
func (p *patient) isAside(f *Facts, node, policy string) bool {
	if e := f.enactment(node, policy); e != nil && desired.SetAside(e) {
		return true
	}
	said, has := p.aside[node]
	return has && f.Elapsed()-said < grantLag
}

// notReady is since when nodes are not Ready, or their handlers' pods are not.
type notReady map[string]time.Duration

// isDead tells of a node that has not been Ready, or has had no handler, for so long that the rollout gives its
// slot to another one (design §2, rule 11: silence is a condition), whatever the
// controllers' wall clock is set to.
func (f *Facts) isDead(node string) bool {
	since, is := f.notReady.since(node)
	return is && f.Elapsed()-since >= nodeGrace
}

func (f *Facts) someAreDead() bool {
	for key := range f.notReady {
		if f.isDead(strings.TrimPrefix(key, silence)) {
			return true
		}
	}
	return false
}

// willBeDead tells of a node that is not Ready and may still be so for too long: a
// policy's own window comes on top of the grace. A leader counts from its own first look at
// the node, and that may be at the last policy that came.
func (f *Facts) willBeDead(node string) bool {
	since, is := f.notReady.since(node)
	if looks := max(f.LeaderSince(), f.planned); looks > since {
		since = looks + grantLag
	}
	patience := nodeGrace
	f.Each(&v1.NodeNetworkConfigurationPolicy{}, func(o client.Object) {
		if window := o.(*v1.NodeNetworkConfigurationPolicy).Spec.ProbeTimeoutSeconds; window != nil {
			patience = max(patience, nodeGrace+time.Duration(*window)*time.Second)
		}
	})
	return is && f.Elapsed()-since < patience+grantLag // When it is over, that is told in a moment.
}

// hasYetToReport tells of a node that has joined, has not reported, and may yet be given
// up for that.
func (f *Facts) hasYetToReport(node string) bool {
	return f.node(node) != nil && f.state(node) == nil && f.Elapsed()-f.joined[node] < nodeGrace+grantLag
}

// predecessorWindow is how long a change of a deleted policy may still be on trial.
const predecessorWindow = 30 * time.Minute

// hasPredecessor tells of an enactment of a deleted policy, beside which there is another
// one of that name: where no handler removes it, its change is over after the longest
// window that there is.
func (f *Facts) hasPredecessor() bool {
	found := false
	f.eachEnactment(func(e *v1.NodeNetworkConfigurationEnactment, _, policy string) {
		p := f.policy(policy)
		found = found || p != nil && !ownedBy(e, p)
	})
	return found && f.Elapsed()-f.planned < nodeGrace+predecessorWindow+grantLag
}

// since is when the first of both began that lasts.
func (n notReady) since(node string) (time.Duration, bool) {
	first, is := n[node]
	if silent, too := n[silence+node]; too && (!is || silent < first) {
		return silent, true
	}
	return first, is
}

// silence comes before the name of a node whose handler's pod is not Ready.
const silence = "pod of "

// notePod notes since when a node's handler does not run.
func (f *Facts) notePod(pod *corev1.Pod) {
	if pod == nil || pod.Spec.NodeName == "" {
		return
	}
	key := silence + pod.Spec.NodeName
	ready := slices.ContainsFunc(pod.Status.Conditions, func(c corev1.PodCondition) bool { return c.Type == corev1.PodReady && c.Status == corev1.ConditionTrue })
	if _, was := f.notReady[key]; ready {
		delete(f.notReady, key)
	} else if !was {
		f.notReady[key] = f.Elapsed()
	}
}

// noteReady notes since when a node is not Ready. One that comes back has yet to start
// its handler.
func (f *Facts) noteReady(name string, node *corev1.Node) {
	if node == nil {
		delete(f.notReady, silence+name)
	}
	_, was := f.notReady[name]
	is := node != nil && !isReady(node)
	if was != is {
		f.readied = f.Elapsed()
	}
	switch _, silent := f.notReady[silence+name]; {
	case is && !was:
		f.notReady[name] = f.Elapsed()
	case was && !is:
		delete(f.notReady, name)
		if silent {
			f.notReady[silence+name] = f.Elapsed()
		}
	}
}

// aGrantedIsDead tells whether a node that was granted some generation of the policy is
// dead, begun or not, beside the given one.
func (f *Facts) aGrantedIsDead(p *v1.NodeNetworkConfigurationPolicy, node string) bool {
	if !f.someAreDead() {
		return false // As in most runs, whose nodes may be thousands.
	}
	dead := false
	f.eachEnactment(func(e *v1.NodeNetworkConfigurationEnactment, of, policy string) {
		dead = dead || policy == p.Name && of != node && ownedBy(e, p) && e.Spec.ApprovedGeneration > 0 && f.isDead(of)
	})
	return dead
}

// anotherIsDead tells whether one of the nodes is dead, beside the given one.
func anotherIsDead[V any](f *Facts, nodes map[string]V, node string) bool {
	for other := range nodes {
		if other != node && f.isDead(other) {
			return true
		}
	}
	return false
}
