package plan

import (
	"fmt"
	"slices"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/intstr"

	v1 "github.com/nmstate/kubernetes-nmstate/api/v1"
)

// host is a node with what is true on it, whatever the API tells.
type host struct {
	Node
	// open is the generation whose transaction is open, 0 if none, and openHash
	// its rendering.
	open     int64
	openHash string
	// variable is a value of the node that the rendering depends on.
	variable int
	// tries that failed in a row.
	tries int
	// silentSince is when its handler ended; zero while it runs.
	silentSince time.Time
}

// world is a policy, its nodes and a small stand-in for each node's handler.
type world struct {
	policy     *v1.NodeNetworkConfigurationPolicy
	hosts      []*host
	enactments map[string]*v1.NodeNetworkConfigurationEnactment
	// fails tells whether a try of the generation on the node fails.
	fails func(node string, generation int64, try int) bool
	// retries: a failure is tried again.
	retries bool
	// content tells what the policy comes to on a node, without its variable;
	// by default each generation is something else.
	content func(node string, generation int64) string
	now     time.Time
	// installed is when the first handler spoke.
	installed time.Time
	log       strings.Builder
}

func newWorld(maxUnavailable string, nodes ...string) *world {
	limit := intstr.Parse(maxUnavailable)
	w := &world{
		policy: &v1.NodeNetworkConfigurationPolicy{
			ObjectMeta: metav1.ObjectMeta{Name: "p", UID: types.UID("policy-1"), Generation: 1},
			Spec:       v1.NodeNetworkConfigurationPolicySpec{MaxUnavailable: &limit, DesiredState: v1.NewState([]byte(`{"hostname":{"config":"a"}}`))},
		},
		enactments: map[string]*v1.NodeNetworkConfigurationEnactment{},
		fails:      func(string, int64, int) bool { return false },
		content:    func(_ string, generation int64) string { return fmt.Sprint("state ", generation) },
		now:        time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC),
	}
	w.installed = w.now
	for _, name := range nodes {
		w.hosts = append(w.hosts, &host{Node: Node{Name: name, Ready: true, Matches: true}})
	}
	return w
}

func (w *world) say(format string, arguments ...any) { fmt.Fprintf(&w.log, format+"\n", arguments...) }

func (w *world) host(name string) *host {
	i := slices.IndexFunc(w.hosts, func(h *host) bool { return h.Name == name })
	return w.hosts[i]
}

func (w *world) remove(name string) {
	w.say("%s is deleted", name)
	w.hosts = slices.DeleteFunc(w.hosts, func(h *host) bool { return h.Name == name })
}

func (w *world) edit() {
	w.policy.Generation++
	w.say("the policy is edited: generation %d", w.policy.Generation)
}

// hash is of what the policy comes to on the node.
func (w *world) hash(h *host) string {
	return fmt.Sprintf("%s with %d", w.content(h.Name, w.policy.Generation), h.variable)
}

func (w *world) input() Input {
	in := Input{Policy: w.policy, Now: metav1.NewTime(w.now), Installed: w.installed, Grace: DefaultGrace}
	for _, h := range w.hosts {
		node := h.Node
		if !node.Ready {
			node.NotReadyFor = w.now.Sub(node.Since)
		}
		if !h.silentSince.IsZero() {
			node.Silent = &Silence{For: w.now.Sub(h.silentSince), Cause: "pod handler-" + h.Name + " is not Ready (CrashLoopBackOff)"}
		}
		in.Nodes = append(in.Nodes, node)
		if node.ControlPlane {
			in.ControlPlane.Nodes++
		}
		if node.ControlPlane && !node.Ready {
			if in.ControlPlane.Away == nil {
				in.ControlPlane.Away = map[string]string{}
			}
			in.ControlPlane.Away[node.Name] = "not Ready"
		}
	}
	for _, name := range slices.Sorted(mapKeys(w.enactments)) {
		in.Enactments = append(in.Enactments, *w.enactments[name].DeepCopy())
	}
	return in
}

func mapKeys[V any](m map[string]V) func(func(string) bool) {
	return func(yield func(string) bool) {
		for key := range m {
			if !yield(key) {
				return
			}
		}
	}
}

// ready sets the node's condition, as its kubelet and the node controller do.
func (w *world) ready(name string, ready bool) {
	h := w.host(name)
	if h.Ready != ready {
		h.Ready, h.Since = ready, w.now
	}
}

// plan plans and writes what the plan says.
func (w *world) plan() Output {
	w.now = w.now.Add(time.Second)
	out := Make(w.input())
	for _, node := range out.Grants {
		spec := &w.enactments[node].Spec
		spec.ApprovedGeneration, spec.AbortedGeneration, spec.ApprovedHash = out.Generation, 0, out.Hashes[node]
	}
	for _, node := range out.Aborts {
		w.enactments[node].Spec.AbortedGeneration = out.Generation
	}
	for _, node := range out.Unaborts {
		w.enactments[node].Spec.AbortedGeneration = 0
	}
	w.policy.Status = out.Status
	w.say("plan:")
	for _, note := range out.Notes {
		w.say("  - %s", note)
	}
	if out.Warning != (Warning{}) {
		w.say("  ! event %s: %s", out.Warning.Reason, out.Warning.Message)
	}
	if !out.StatusChanged {
		w.say("  = status unchanged")
	}
	if out.RequeueAfter > 0 {
		w.say("  > again in %v", out.RequeueAfter)
	}
	return out
}

func (w *world) report(h *host, e *v1.NodeNetworkConfigurationEnactment, conditions ...v1.ConditionType) {
	e.Status.PolicyGeneration, e.Status.Hash = w.policy.Generation, w.hash(h)
	e.Status.Conditions = nil
	for _, conditionType := range []v1.ConditionType{
		v1.EnactmentFailing, v1.EnactmentAvailable, v1.EnactmentProgressing, v1.EnactmentPending, v1.EnactmentAborted, v1.Planned,
	} {
		status := metav1.ConditionFalse
		if slices.Contains(conditions, conditionType) {
			status = metav1.ConditionTrue
		}
		e.Status.Conditions = append(e.Status.Conditions, v1.Condition{Type: conditionType, Status: status})
	}
}

// turn is one step of the policy handler and the state handler on a node. It
// tells whether anything happened.
func (w *world) turn(name string) bool {
	h, e := w.host(name), w.enactments[name]
	generation := w.policy.Generation
	switch {
	case h.Unreported || !h.silentSince.IsZero():
		return false
	case !h.Matches:
		return w.leave(h)
	case e == nil:
		e = &v1.NodeNetworkConfigurationEnactment{ObjectMeta: metav1.ObjectMeta{
			Name: v1.EnactmentName(name, "p"), Labels: map[string]string{v1.EnactmentPolicyLabel: "p", v1.EnactmentNodeLabel: name},
		}}
		w.enactments[name] = e
		w.say("%s: enactment created", name)
	case h.open != 0 && !w.wanted(h) && !w.tells(h, e):
		w.report(h, e, v1.EnactmentProgressing)
	case h.open != 0 && !w.wanted(h):
		w.say("%s: generation %d is taken back", name, h.open)
		h.open = 0
		w.report(h, e, v1.EnactmentPending)
	case w.policy.Spec.Mode == modePlan:
		return w.review(h, e)
	case w.approved(h, e):
		return w.apply(h, e)
	case e.Spec.AbortedGeneration == generation && !(w.tells(h, e) && w.shows(e, v1.EnactmentAborted)):
		w.say("%s: aborted", name)
		w.report(h, e, v1.EnactmentAborted)
	case e.Spec.AbortedGeneration != generation && !(w.tells(h, e) && w.shows(e, v1.EnactmentPending)):
		w.say("%s: pending", name)
		w.report(h, e, v1.EnactmentPending)
	default:
		return false
	}
	return true
}

// wanted tells whether what is open is still what the policy comes to.
func (w *world) wanted(h *host) bool { return h.open == w.policy.Generation && h.openHash == w.hash(h) }

// tells whether the enactment is about the generation as it comes out now.
func (w *world) tells(h *host, e *v1.NodeNetworkConfigurationEnactment) bool {
	return e.Status.PolicyGeneration == w.policy.Generation && e.Status.Hash == w.hash(h)
}

// approved as the policy handler reads it: the generation, and the rendering
// where one is named or where another one of the generation is committed.
func (w *world) approved(h *host, e *v1.NodeNetworkConfigurationEnactment) bool {
	hash := w.hash(h)
	if e.Spec.ApprovedGeneration != w.policy.Generation {
		return false
	}
	if c := e.Status.Committed; c != nil && c.Generation == w.policy.Generation && c.Hash != hash {
		return e.Spec.ApprovedHash == hash
	}
	return e.Spec.ApprovedHash == "" || e.Spec.ApprovedHash == hash || w.has(h, e)
}

func (w *world) has(h *host, e *v1.NodeNetworkConfigurationEnactment) bool {
	return e.Status.Committed != nil && e.Status.Committed.Hash == w.hash(h)
}

func (w *world) review(h *host, e *v1.NodeNetworkConfigurationEnactment) bool {
	if w.tells(h, e) && e.Status.Plan != nil && w.shows(e, v1.Planned) {
		return false
	}
	hash := w.hash(h)
	e.Status.Plan = &v1.EnactmentPlan{Hash: hash, Disruption: v1.DisruptionReapply}
	if w.has(h, e) {
		e.Status.Plan.Disruption = v1.DisruptionNone
	}
	w.say("%s: plan %q, disruption %s", h.Name, hash, e.Status.Plan.Disruption)
	w.report(h, e, v1.Planned)
	return true
}

func (w *world) shows(e *v1.NodeNetworkConfigurationEnactment, conditionType v1.ConditionType) bool {
	return e.Status.PolicyGeneration == w.policy.Generation && isTrue(e, conditionType)
}

func (w *world) leave(h *host) bool {
	if w.enactments[h.Name] == nil {
		return false
	}
	w.say("%s: no longer matches, enactment deleted", h.Name)
	h.open = 0
	delete(w.enactments, h.Name)
	return true
}

func (w *world) apply(h *host, e *v1.NodeNetworkConfigurationEnactment) bool {
	generation := w.policy.Generation
	finished := w.shows(e, v1.EnactmentAvailable) || w.shows(e, v1.EnactmentFailing) && !w.shows(e, v1.EnactmentProgressing)
	switch {
	case finished && w.tells(h, e):
		return false
	case h.open == 0 && w.has(h, e):
		w.say("%s: generation %d changes nothing", h.Name, generation)
		e.Status.Committed.Generation = generation
		w.report(h, e, v1.EnactmentAvailable)
	case h.open == 0:
		w.say("%s: begins generation %d", h.Name, generation)
		h.open, h.openHash = generation, w.hash(h)
		if !w.shows(e, v1.EnactmentFailing) {
			h.tries = 0
		}
	case !w.shows(e, v1.EnactmentProgressing):
		w.say("%s: progressing", h.Name)
		w.report(h, e, v1.EnactmentProgressing)
	case w.fails(h.Name, generation, h.tries):
		h.open = 0
		h.tries++
		if w.retries {
			w.say("%s: generation %d failed and is rolled back, retrying", h.Name, generation)
			w.report(h, e, v1.EnactmentFailing, v1.EnactmentProgressing)
		} else {
			w.say("%s: generation %d failed and is rolled back", h.Name, generation)
			w.report(h, e, v1.EnactmentFailing)
		}
	default:
		w.say("%s: generation %d is available", h.Name, generation)
		h.open = 0
		e.Status.Committed = &v1.CommittedPolicy{Generation: generation, Hash: h.openHash, Since: metav1.NewTime(w.now)}
		w.report(h, e, v1.EnactmentAvailable)
	}
	return true
}

// openTransactions are counted on the hosts.
func (w *world) openTransactions() []string {
	var open []string
	for _, h := range w.hosts {
		if h.open != 0 {
			open = append(open, fmt.Sprintf("%s (generation %d)", h.Name, h.open))
		}
	}
	return open
}

func (w *world) limit() int {
	matching := 0
	for _, h := range w.hosts {
		if h.Matches && !h.Unreported {
			matching++
		}
	}
	limit, _, err := maxUnavailable(w.policy, matching)
	if err != nil {
		panic(err)
	}
	return limit
}
