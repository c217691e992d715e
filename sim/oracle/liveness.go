package oracle

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "github.com/nmstate/kubernetes-nmstate/api/v1"
	"github.com/nmstate/kubernetes-nmstate/handler/probe"
	"github.com/nmstate/kubernetes-nmstate/handler/state"
)

// liveness: once the faults are over everything comes to an end: no transaction
// is open, each node says of each policy that selects it how it fared, and the
// policy's status agrees.
type liveness struct{}

func (liveness) Name() string { return "liveness" }

func (liveness) Observe(*Facts, Event) error { return nil }

func (liveness) AtRest(f *Facts) error {
	if pending := f.pending(); len(pending) > 0 {
		const most = 5
		if more := len(pending) - most; more > 0 {
			pending = append(pending[:most:most], fmt.Sprintf("and %d more", more))
		}
		return fmt.Errorf("not done: %s", strings.Join(pending, "; "))
	}
	return nil
}

// Pending says what is not done and why, one line each; nothing when all is.
func (s *Set) Pending() []string { return s.facts.pending() }

func (f *Facts) pending() []string { return f.pendingBut(func(string) bool { return false }) }

// triesAgain tells of a node on which a policy has failed so often that nobody waits for
// its next attempt: every few minutes one is under way, as long as the policy is there.
func (f *Facts) triesAgain(node string) bool {
	const often = 10
	tries := false
	f.eachEnactment(func(e *v1.NodeNetworkConfigurationEnactment, of, _ string) {
		tries = tries || of == node && e.Status.Retry != nil && e.Status.Retry.Attempts >= often
	})
	return tries
}

// pendingBut is pending without what is not done on some nodes.
func (f *Facts) pendingBut(some func(node string) bool) []string {
	var lines []string
	say := func(format string, arguments ...any) { lines = append(lines, fmt.Sprintf(format, arguments...)) }
	for _, node := range f.Nodes() {
		switch {
		case f.IsTaken(node) || some(node):
			continue
		case !f.Has(node):
			say("node %s is off", node)
			continue
		}
		// Without the API server a kubelet starts no handler after a boot (design
		// §2, rule 7); whether the node is out of reach by our doing, reach says.
		if entry := f.Journal(node); entry != nil && f.HasPod(node) {
			say("node %s: a transaction is open in phase %s", node, entry.Transaction.Phase)
		}
		if nns := f.state(node); nns != nil && isManaged(nns) && !f.isAway(node) && driftIsPending(nns) && !f.isHeld(node, nns) {
			say("node %s: drift of %s is being corrected", node, nns.Status.Drift[0].Path)
		}
		if nns := f.state(node); nns != nil && isManaged(nns) && !f.isAway(node) && !hasEnded(nns) {
			say("node %s: it has not told what became of generation %d of its desired state", node, nns.Generation)
		}
	}
	f.Each(&v1.NodeNetworkConfigurationPolicy{}, func(o client.Object) {
		lines = append(lines, f.pendingOf(o.(*v1.NodeNetworkConfigurationPolicy), some)...)
	})
	f.eachEnactment(func(e *v1.NodeNetworkConfigurationEnactment, node, policy string) {
		if f.IsTaken(node) { // Its own words stay, but where there is no such policy.
			if f.policy(policy) == nil && e.Spec.ApprovedGeneration == 0 {
				say("enactment %s is there, and no policy %s", e.Name, policy)
			}
			return
		}
		// The control plane may have no node to spare for good.
		if p := f.policy(policy); (p == nil || !f.selects(p, node)) && !f.isAway(node) && !f.mayWaitToLeave(e) {
			say("enactment %s is there, and its policy does not select the node", e.Name)
		}
		// The model's clock has no second reading that never jumps, so a handler whose
		// clock went back looks again when it has caught up.
		if !f.Calm(node, 0, Clock) && len(f.lacks(e, node, policy))+len(f.lostHold(e, node, policy)) > 0 {
			say("policy %s: node %s lacks something, and its clock has jumped", policy, node)
		}
	})
	return lines
}

// isHeld tells whether drift is told and damped that no correction can end: somebody
// gave a NIC that has drifted to a bridge or bond which the desired state does not
// name, so NetworkManager leaves it alone, and so does the handler (docs/drift.md); or
// somebody lowered the MTU of a VLAN's base interface, of which the desired state says
// none, so that no kernel gives the VLAN a higher one; or another node has the address; or
// the name servers are dead, and were committed when none answered.
func (f *Facts) isHeld(node string, nns *v1.NodeNetworkState) bool {
	wanted, err := state.Parse(nns.Spec.DesiredState.Raw)
	if err != nil {
		return false
	}
	held := false
	for _, d := range nns.Status.Drift {
		if f.isElsewhere(node, d) || f.answersNobody(node, d) {
			held = true
			continue
		}
		if d.Action == "Correcting" {
			return false
		}
		nic, _ := f.Network(node).Interface(linkOf(d))
		controller, _ := nic.Controller()
		_, named := wanted.Interface(controller)
		held = held || controller != "" && !named || f.isAboveItsBase(node, wanted, nic, d)
	}
	return held
}

// isAboveItsBase tells of a VLAN that wants a higher MTU than its base interface has.
func (f *Facts) isAboveItsBase(node string, wanted state.State, vlan state.Interface, d v1.Drift) bool {
	if !strings.HasSuffix(d.Path, ".mtu") || vlan.BaseInterface() == "" {
		return false
	}
	base, _ := f.Network(node).Interface(vlan.BaseInterface())
	named, _ := wanted.Interface(vlan.BaseInterface())
	if _, said := named.MTU(); said {
		return false // The handler puts that back, and then the VLAN's.
	}
	has, _ := base.MTU()
	expected, err := strconv.ParseInt(d.Expected, 10, 64)
	return err == nil && has < expected
}

// isElsewhere tells of an address that has drifted since another node has it.
func (f *Facts) isElsewhere(node string, d v1.Drift) bool {
	if !strings.HasSuffix(d.Path, ".address") {
		return false
	}
	return slices.ContainsFunc(f.Nodes(), func(other string) bool {
		if other == node || !f.Has(other) {
			return false
		}
		return slices.ContainsFunc(f.Network(other).Interfaces(), func(i state.Interface) bool {
			return slices.Contains(slices.Concat(i.Addresses(state.IPv4), i.Addresses(state.IPv6)), d.Expected)
		})
	})
}

// answersNobody tells of name servers whose last correction lost the probe that asks them,
// which passed before it. Each correction waits longer than the one before.
func (f *Facts) answersNobody(node string, d v1.Drift) bool {
	t := f.Node(node).corrected
	return state.ParsePath(d.Path).Section == "dns-resolver" && d.Action == "Damped" &&
		t != nil && t.Ended == RolledBack && slices.Contains(t.Entry.Correction, "dns-resolver") &&
		slices.Contains(t.Entry.Transaction.Guards, probe.DNS) && !t.Passed[probe.DNS]
}

// linkOf is the interface that has drifted, or that of a route that has.
func linkOf(d v1.Drift) string {
	if name := state.ParsePath(d.Path).Interface; name != "" {
		return name
	}
	_, link, _ := strings.Cut(d.Expected, " dev ")
	link, _, _ = strings.Cut(link, " ")
	return link
}

// hasEnded tells whether the node has said how the desired state as it is ended there.
func hasEnded(nns *v1.NodeNetworkState) bool {
	last := nns.Status.Transaction
	ended := last != nil && last.Generation == nns.Generation && last.Result != ""
	return nns.Status.ObservedGeneration >= nns.Generation || ended
}

// counted are the nodes by what their enactments say.
type counted struct{ available, failing, aborted, planned int32 }

// are tells whether they are so many, but for that many nodes that may say anything.
func (c counted) are(count counted, lying int32) bool {
	near := func(told, is int32) bool { return told >= is && told <= is+lying }
	return near(c.available, count.available) && near(c.failing, count.failing) && near(c.aborted, count.aborted) && near(c.planned, count.planned)
}

func (f *Facts) pendingOf(p *v1.NodeNetworkConfigurationPolicy, some func(node string) bool) []string {
	var lines []string
	var count counted
	var bare, lying int32
	held := false
	f.Each(&corev1.Node{}, func(o client.Object) {
		if !f.selects(p, o.GetName()) {
			return
		}
		if f.IsTaken(o.GetName()) {
			lying++
			return
		}
		// The controllers may tell without a handler that a policy is refused there.
		e := f.enactment(o.GetName(), p.Name)
		refused := e != nil && conditionIs(e.Status.Conditions, v1.EnactmentFailing)
		if f.IsBare(o.GetName()) && !refused {
			if isReady(o.(*corev1.Node)) {
				bare++
			}
			return
		}
		line, waits := f.pendingOn(p, o.(*corev1.Node), &count)
		if line != "" && (f.isAway(o.GetName()) || some(o.GetName())) {
			line, waits = "", true
		}
		if line != "" {
			lines = append(lines, line)
		}
		held = held || waits
	})
	status := p.Status
	told := counted{status.Counts.Available, status.Counts.Failing, status.Counts.Aborted, status.Counts.Planned}
	switch {
	case len(lines) > 0:
	case status.ObservedGeneration != p.Generation:
		lines = append(lines, fmt.Sprintf("policy %s: its status is about generation %d, it has %d", p.Name, status.ObservedGeneration, p.Generation))
	case !told.are(count, lying) && !conditionIs(status.Conditions, v1.PolicyDegraded):
		lines = append(lines, fmt.Sprintf("policy %s: its status counts %+v, its enactments say %+v", p.Name, told, count))
	case status.Counts.NotManaged < bare && f.hasHandlers():
		lines = append(lines, fmt.Sprintf("policy %s: %d nodes have no handler, and it counts %d that are not managed", p.Name, bare, status.Counts.NotManaged))
	case !held && lying == 0 && conditionIs(status.Conditions, v1.PolicyProgressing) && count != (counted{}):
		lines = append(lines, fmt.Sprintf("policy %s: it says Progressing, and no node is at work", p.Name))
	}
	return lines
}

// pendingOn is why a node is not done with a policy, if it is not; waits: it
// waits for a person or for another node, for ever as it seems.
func (f *Facts) pendingOn(p *v1.NodeNetworkConfigurationPolicy, node *corev1.Node, count *counted) (line string, waits bool) {
	e := f.enactment(node.Name, p.Name)
	switch {
	case e == nil && f.state(node.Name) == nil:
		return fmt.Sprintf("policy %s: node %s has no NodeNetworkState", p.Name, node.Name), false
	case e == nil:
		return fmt.Sprintf("policy %s: node %s has no enactment", p.Name, node.Name), false
	case e.Status.PolicyGeneration != p.Generation && f.isAway(node.Name):
		return "", true
	case !ownedBy(e, p) && f.mayWaitToLeave(e):
		return "", true
	}
	if !ownedBy(e, p) && f.isAway(node.Name) {
		return "", true // It is that of an earlier policy of the name.
	}
	is := func(kind v1.ConditionType) bool { return conditionIs(e.Status.Conditions, kind) }
	switch {
	case e.Status.PolicyGeneration != p.Generation:
		return fmt.Sprintf("policy %s: the enactment of node %s is about generation %d, not %d", p.Name, node.Name, e.Status.PolicyGeneration, p.Generation), false
	case isOlders(e, p):
		return "", true
	case is(v1.EnactmentAvailable):
		count.available++
	case is(v1.EnactmentFailing):
		count.failing++
	case is(v1.EnactmentAborted) && f.isAway(node.Name) && e.Spec.AbortedGeneration != p.Generation:
		return "", true // It waits again, and cannot say so.
	case is(v1.EnactmentAborted):
		count.aborted++
	case is(v1.Planned):
		count.planned++
	case is(v1.EnactmentPending) && (f.isAway(node.Name) || !isReady(node) || f.holds(p) || waitsForNeighbours(e) || f.heldUp(p) || f.waitsForPlane(node) || f.mayWaitOn(node.Name)):
		return "", true
	default:
		return fmt.Sprintf("policy %s: node %s is not done: %s", p.Name, node.Name, said(e)), false
	}
	return "", false
}

// isAway tells whether a node is not managed, or out of reach for good: whether
// that is our doing, the rule reach says.
func (f *Facts) isAway(node string) bool {
	return f.isSetAside(node) || f.Has(node) && !f.Reaches(node, probe.APIServer)
}

func ownedBy(e *v1.NodeNetworkConfigurationEnactment, p *v1.NodeNetworkConfigurationPolicy) bool {
	return slices.ContainsFunc(e.OwnerReferences, func(o metav1.OwnerReference) bool { return o.UID == p.UID })
}

// waitsForNeighbours tells whether nobody has announced yet what the policy asks for.
func waitsForNeighbours(e *v1.NodeNetworkConfigurationEnactment) bool {
	return strings.Contains(said(e), "Waiting for LLDP neighbours")
}

// heldUp tells whether a node has the policy's turn and does not come to its end:
// nobody manages it, or it waits for neighbours. One that is out of reach since it
// was granted an older generation may still be changing, so it has a turn, too. So has one
// that goes first and was cut off after its turn: it is configured, and not Ready.
func (f *Facts) heldUp(p *v1.NodeNetworkConfigurationPolicy) bool {
	held := false
	f.eachEnactment(func(e *v1.NodeNetworkConfigurationEnactment, node, policy string) {
		has := e.Spec.ApprovedGeneration == p.Generation || f.isAway(node) && (conditionIs(e.Status.Conditions, v1.EnactmentProgressing) ||
			e.Status.PolicyGeneration <= e.Spec.ApprovedGeneration && !conditionIs(e.Status.Conditions, v1.EnactmentFailing) &&
				!conditionIs(e.Status.Conditions, v1.EnactmentAborted))
		if f.IsTaken(node) {
			held = held || policy == p.Name && f.mayHold(p, e, node)
			return
		}
		goesFirst := p.Spec.Rollout != nil && p.Spec.Rollout.Canary != nil
		open := !conditionIs(e.Status.Conditions, v1.EnactmentAvailable)
		held = held || policy == p.Name && has && (f.isAway(node) && (open || goesFirst) || open && waitsForNeighbours(e))
	})
	return held
}

// mayHold tells whether a node that somebody has taken over may keep a slot of the policy:
// one that it has been granted, or that its selection gives it a right to. One that the
// policy does not select has none, whatever it says.
func (f *Facts) mayHold(p *v1.NodeNetworkConfigurationPolicy, e *v1.NodeNetworkConfigurationEnactment, node string) bool {
	return f.selects(p, node) || e.Spec.ApprovedGeneration > 0 && ownedBy(e, p)
}

// holds tells whether the rollout of a policy waits for a person.
func (f *Facts) holds(p *v1.NodeNetworkConfigurationPolicy) bool {
	// A policy that is Degraded does not say so.
	if rules := p.Spec.Rollout; rules != nil && (rules.Paused || rules.PauseAfterCanary && rules.Canary != nil &&
		p.Status.Counts.Available >= *rules.Canary && conditionIs(p.Status.Conditions, v1.PolicyDegraded)) {
		return true
	}
	c := v1.TrueCondition(p.Status.Conditions, v1.Reconciling)
	return c != nil && c.Reason == v1.ReasonPaused
}

// hasHandlers tells whether the cluster has one at all: where none has spoken yet, or
// the last has left, all nodes are waited for.
func (f *Facts) hasHandlers() bool {
	has := false
	f.Each(&v1.NodeNetworkState{}, func(client.Object) { has = true })
	return has
}

// isSetAside tells whether a node is not managed.
func (f *Facts) isSetAside(node string) bool {
	nns := f.state(node)
	return nns != nil && !isManaged(nns)
}

func isReady(node *corev1.Node) bool {
	for _, c := range node.Status.Conditions {
		if c.Type == corev1.NodeReady {
			return c.Status == corev1.ConditionTrue
		}
	}
	return false
}

// said is what an enactment tells.
func said(e *v1.NodeNetworkConfigurationEnactment) string {
	for _, c := range e.Status.Conditions {
		if c.Status == "True" && c.Message != "" {
			return fmt.Sprintf("%s: %s", c.Type, c.Message)
		}
	}
	return fmt.Sprintf("nothing is said yet (approved %d)", e.Spec.ApprovedGeneration)
}

func (f *Facts) eachEnactment(look func(e *v1.NodeNetworkConfigurationEnactment, node, policy string)) {
	f.Each(&v1.NodeNetworkConfigurationEnactment{}, func(o client.Object) {
		e := o.(*v1.NodeNetworkConfigurationEnactment)
		node, policy := nodeAndPolicy(e)
		look(e, node, policy)
	})
}
