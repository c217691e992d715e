package oracle

import (
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "github.com/nmstate/kubernetes-nmstate/api/v1"
	"github.com/nmstate/kubernetes-nmstate/handler/desired"
	"github.com/nmstate/kubernetes-nmstate/handler/probe"
	"github.com/nmstate/kubernetes-nmstate/handler/state"
	"github.com/nmstate/kubernetes-nmstate/handler/txn"
	"github.com/nmstate/kubernetes-nmstate/sim/world"
)

// Facts are what is known of the past, and by Truth of the present.
type Facts struct {
	Truth
	// likeNode says which kind is looked up: once for each node at each grant.
	likeNode *corev1.Node
	later    func(rule Oracle, d time.Duration, node string, look func() error)
	nodes    map[string]*Node
	reads    map[*world.Process]map[string]reading
	probes   map[*world.Process]map[string]answers
	faults   atWork
	quiet    bool
	// matched are the policies' numbers of nodes, nodesChanged counts what may change them.
	matched      map[string]matched
	nodesChanged int64
	// joined and left are when nodes came to the cluster, and left it.
	joined map[string]time.Duration
	left   []time.Duration
	// relabelled are nodes as they were before their labels changed.
	relabelled []relabelled
	// aside are the enactments that say that nobody manages their node.
	aside map[string]bool
	notReady
	// granted is when a node was granted its turn last, or had a policy.
	granted time.Duration
	// readied is when a node's readiness changed last.
	readied time.Duration
	// planned is when the last of the policies came: the controllers look at the nodes as
	// they plan, and may not have done so since a node that no policy selected fell silent.
	planned time.Duration
}

// Node is what is known of one.
type Node struct {
	Name string
	// Trial is the change that is being tried, from its apply until the journal
	// is closed; nil for none. The way back by the journal's revert is none.
	Trial *Trial
	// corrected is the last correction of drift that was tried.
	corrected *Trial
	// asked is the apply that was asked for and has no checkpoint yet.
	asked *Trial
	// setAside is when its NodeNetworkState began to say that it is not managed.
	setAside time.Duration
	// lastAsked is when the last apply was asked for, whatever for.
	lastAsked time.Duration
	// written is when its journal's entry was, the last time.
	written time.Duration
}

// reading is what a process read last of an object.
type reading struct {
	at     time.Duration
	object client.Object
	live   bool
}

// answers of a probe, the last one last.
type answers []bool

// targets are what a node reaches that probes are about.
var targets = [...]string{probe.DefaultGateway, probe.APIServer}

func newFacts(truth Truth) *Facts {
	return &Facts{
		Truth: truth, likeNode: &corev1.Node{}, nodes: map[string]*Node{}, faults: atWork{}, matched: map[string]matched{}, joined: map[string]time.Duration{}, notReady: notReady{}, aside: map[string]bool{},
		reads: map[*world.Process]map[string]reading{}, probes: map[*world.Process]map[string]answers{},
	}
}

// Node that an event is about.
func (f *Facts) Node(name string) *Node {
	n := f.nodes[name]
	if n == nil {
		n = &Node{Name: name}
		f.nodes[name] = n
	}
	return n
}

// Calm tells whether no fault of the classes has been at work on the node, or
// the controllers, since then.
func (f *Facts) Calm(target string, since time.Duration, classes Class) bool {
	last, ever := f.faults.last(target, f.Elapsed(), classes)
	return !ever || last < since
}

// Disturbed is when a fault of the classes was at work the last time; zero for
// never.
func (f *Facts) Disturbed(target string, classes Class) time.Duration {
	last, _ := f.faults.last(target, f.Elapsed(), classes)
	return last
}

// before takes in what the rules look at.
func (f *Facts) before(e Event) {
	switch what := e.What.(type) {
	case Fault:
		f.faults.note(e.Node, e.At, what)
	case Quiet:
		f.quiet = !what.Over
	case Read:
		f.noteRead(e, what)
	case Probed:
		f.noteProbe(e, what)
	case Died:
		delete(f.reads, e.Process)
		delete(f.probes, e.Process)
		for name, n := range f.nodes {
			switch {
			case n.Trial == nil || n.Trial.Process != e.Process && name != e.Node:
			case !f.Open(name):
				n.Trial = nil // It was closed, and the process died before it could say so.
			case n.Trial.Process == e.Process:
				n.Trial.Interrupted = true
			}
		}
	default:
		if w, is := what.(Wrote); is {
			f.noteWrite(w)
		}
		if e.Node != "" {
			f.Node(e.Node).before(f, e)
		}
	}
}

// after forgets what is over.
func (f *Facts) after(e Event) {
	if _, closed := e.What.(JournalClosed); closed {
		n := f.Node(e.Node)
		if t := n.Trial; t != nil && t.Entry != nil && len(t.Entry.Correction) > 0 {
			n.corrected = t
		}
		n.Trial = nil
	}
}

func (f *Facts) noteRead(e Event, r Read) {
	if f.reads[e.Process] == nil {
		f.reads[e.Process] = map[string]reading{}
	}
	key := kindOf(r.Like) + "/" + r.Name
	f.reads[e.Process][key] = reading{at: e.At, object: r.Object, live: r.Live}
	if r.Agent {
		first := e.At
		if before := f.reads[e.Process]["agent "+key]; before.object != nil && r.Object != nil && before.object.GetGeneration() == r.Object.GetGeneration() {
			first = before.at // When it first read this generation.
		}
		f.reads[e.Process]["agent "+key] = reading{at: first, object: r.Object}
	}
	if r.Live {
		f.reads[e.Process]["live "+key] = reading{at: e.At, object: r.Object, live: true}
		if r.Object != nil {
			f.reads[e.Process][generationKey(key, r.Object.GetGeneration())] = reading{at: e.At, object: r.Object, live: true}
		}
	}
}

// lastRead of an object by a process; live: past its cache.
func (f *Facts) lastRead(p *world.Process, like client.Object, name string, live bool) (reading, bool) {
	key := kindOf(like) + "/" + name
	if live {
		key = "live " + key
	}
	r, is := f.reads[p][key]
	return r, is
}

func kindOf(o client.Object) string {
	switch o.(type) {
	case *corev1.Node:
		return "Node"
	case *v1.NodeNetworkState:
		return "NodeNetworkState"
	case *v1.NodeNetworkConfigurationPolicy:
		return "NodeNetworkConfigurationPolicy"
	case *v1.NodeNetworkConfigurationEnactment:
		return "NodeNetworkConfigurationEnactment"
	}
	return ""
}

func (f *Facts) noteProbe(e Event, p Probed) {
	if f.probes[e.Process] == nil {
		f.probes[e.Process] = map[string]answers{}
	}
	const kept = 3
	last := append(f.probes[e.Process][p.Name], p.Err == nil)
	f.probes[e.Process][p.Name] = last[max(0, len(last)-kept):]
	n := f.Node(e.Node)
	if t := n.Trial; t != nil && p.Err == nil && t.Process == e.Process && t.Applied > 0 && p.Began >= t.Applied {
		t.Passed[p.Name] = true
	}
}

func (n *Node) before(f *Facts, e Event) {
	switch what := e.What.(type) {
	case Applying:
		n.lastAsked = e.At
		entry := f.Journal(n.Name)
		if entry != nil && (entry.Transaction.Phase == txn.RollingBack || parsed(entry.Revert).Hash() == what.Desired.Hash()) {
			n.asked = nil
			return
		}
		n.asked = &Trial{
			Process: e.Process, Entry: entry, Asked: e.At, Life: what.Life, Before: f.Network(n.Name), Reached: map[string]bool{},
			Passed: map[string]bool{},
		}
		for _, target := range targets {
			n.asked.Reached[target] = f.Reaches(n.Name, target)
		}
		for _, family := range bothFamilies() {
			n.asked.Reached[gatewayOf(family)] = f.Reaches(n.Name, gatewayOf(family))
		}
	case CheckpointMade:
		if t := n.asked; t != nil && what.Owner == t.Process.Name {
			t.Made, t.Checkpoint, n.asked, n.Trial = e.At, what.ID, nil, t
		}
	case Applied:
		if n.tries(what.ID) {
			n.Trial.Applied = e.At
		}
	case CheckpointEnded:
		if n.tries(what.ID) {
			n.Trial.Ended, n.Trial.EndedAt = what.How, e.At
		}
	case Shown:
		if t := n.Trial; t != nil && t.Process == e.Process && t.Applied > 0 && what.Began >= t.Applied {
			t.ReadBack = true
		}
	case Wrote:
		if after, is := what.After.(*v1.NodeNetworkState); is && what.Spec {
			n.wants(e, what, after)
		}
	case JournalSaved:
		n.written = e.At
		if n.Trial != nil {
			entry := what.Entry
			n.Trial.Entry = &entry
			if n.Trial.Proven == 0 && entry.Transaction.Proven {
				n.Trial.Proven = e.At
			}
		}
	}
}

// wants notes what the node's desired state says from now on.
func (n *Node) wants(e Event, w Wrote, after *v1.NodeNetworkState) {
	if t := n.Trial; t != nil && t.Entry != nil {
		t.Unwanted = t.Unwanted || !isManaged(after) || hashOf(after.Spec.DesiredState) != t.Entry.Transaction.Change.Hash
	}
	if before, had := w.Before.(*v1.NodeNetworkState); !isManaged(after) && (!had || isManaged(before)) {
		n.setAside = e.At
	}
}

func (n *Node) tries(checkpoint string) bool {
	return n.Trial != nil && n.Trial.Checkpoint == checkpoint
}

// policy is the stored policy; nil for none.
func (f *Facts) policy(name string) *v1.NodeNetworkConfigurationPolicy {
	p, _ := f.Look(&v1.NodeNetworkConfigurationPolicy{}, name).(*v1.NodeNetworkConfigurationPolicy)
	return p
}

func (f *Facts) node(name string) *corev1.Node {
	n, _ := f.Look(f.likeNode, name).(*corev1.Node)
	return n
}

func (f *Facts) state(name string) *v1.NodeNetworkState {
	s, _ := f.Look(&v1.NodeNetworkState{}, name).(*v1.NodeNetworkState)
	return s
}

// selects tells whether a policy selects a node, both as they are stored.
func (f *Facts) selects(policy *v1.NodeNetworkConfigurationPolicy, node string) bool {
	n := f.node(node)
	if policy == nil || n == nil || !policy.DeletionTimestamp.IsZero() {
		return false
	}
	is, err := desired.Selects(policy, n)
	return err == nil && is
}

func isManaged(s *v1.NodeNetworkState) bool { return s.Spec.Managed == nil || *s.Spec.Managed }

// Roles of processes, by their names.
const (
	roleHandler     = "handler"
	roleControllers = "controllers"
	roleOutside     = "outside"
)

// roleOf a process, and the node of a handler.
func roleOf(process string) (role, node string) {
	for _, prefix := range []string{"handler/", "once/"} {
		if rest, is := strings.CutPrefix(process, prefix); is {
			return roleHandler, rest
		}
	}
	if strings.HasPrefix(process, "controllers") {
		return roleControllers, ""
	}
	return roleOutside, ""
}

// hashOf a desired state, as a transaction names it.
func hashOf(desired v1.State) string {
	parsed, err := state.Parse(desired.Raw)
	if err != nil {
		return "unreadable"
	}
	return parsed.Hash()
}

func parsed(raw []byte) state.State {
	s, err := state.Parse(raw)
	if err != nil {
		return state.State{}
	}
	return s
}

// few keeps a message short.
func few[T interface{ String() string }](all []T) string {
	const most = 3
	var lines []string
	for i, one := range all {
		if i == most {
			lines = append(lines, "...")
			break
		}
		lines = append(lines, one.String())
	}
	return strings.Join(lines, "; ")
}

func sortedKeys[V any](m map[string]V) []string {
	keys := make([]string, 0, len(m))
	for key := range m {
		keys = append(keys, key)
	}
	slices.Sort(keys)
	return keys
}
