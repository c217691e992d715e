package oracle

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/intstr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "github.com/nmstate/kubernetes-nmstate/api/v1"
	"github.com/nmstate/kubernetes-nmstate/handler/foreign"
	"github.com/nmstate/kubernetes-nmstate/handler/journal"
	"github.com/nmstate/kubernetes-nmstate/handler/probe"
	"github.com/nmstate/kubernetes-nmstate/handler/state"
	"github.com/nmstate/kubernetes-nmstate/handler/txn"
	"github.com/nmstate/kubernetes-nmstate/sim/apiserver"
	"github.com/nmstate/kubernetes-nmstate/sim/world"
)

// stage is a truth that a test tells, with one rule that looks on.
type stage struct {
	t       *testing.T
	world   *world.World
	set     *Set
	found   []string
	objects map[string]client.Object
	hosts   map[string]*fakeHost
	process map[string]*world.Process
	central bool
	// leads is since when the controllers lead.
	leads time.Duration
}

type fakeHost struct {
	network  string
	kernel   foreign.Snapshot
	revision uint64
	// bare: no handler ever runs there. taken: somebody has taken it over.
	cut, off, bare, taken bool
	entry                 *journal.Entry
	record                journal.Record
	disk                  Disk
	// gone are the devices that NetworkManager does not hold up.
	gone []string
}

func newStage(t *testing.T, rule Oracle, nodes ...string) *stage {
	s := &stage{
		t: t, world: world.New(1), objects: map[string]client.Object{}, hosts: map[string]*fakeHost{}, process: map[string]*world.Process{},
	}
	s.set = New(s, func(err error) { s.found = append(s.found, err.Error()) }, rule)
	for _, node := range nodes {
		s.hosts[node] = &fakeHost{network: before}
		s.store(&corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: node, UID: types.UID(node)}})
		s.process["handler/"+node] = s.world.Process("handler/" + node)
	}
	return s
}

const (
	before = `{"interfaces":[{"name":"eth1","type":"ethernet","state":"up","mtu":1500}]}`
	wanted = `{"interfaces":[{"name":"eth1","type":"ethernet","state":"up","mtu":1400}]}`
)

func (s *stage) Elapsed() time.Duration               { return s.world.Elapsed() }
func (s *stage) After(d time.Duration, action func()) { s.world.After(d, action) }
func (s *stage) Centralized() bool                    { return s.central }
func (s *stage) LeaderSince() time.Duration           { return s.leads }
func (s *stage) Has(node string) bool                 { return s.hosts[node] != nil && !s.hosts[node].off }
func (s *stage) Nodes() []string                      { return sortedKeys(s.hosts) }
func (s *stage) Network(node string) state.State      { return parsed([]byte(s.hosts[node].network)) }
func (s *stage) Kernel(node string) foreign.Snapshot  { return s.hosts[node].kernel }
func (s *stage) Revision(node string) uint64          { return s.hosts[node].revision }
func (s *stage) HasPod(string) bool                   { return true }
func (s *stage) IsBare(node string) bool              { return s.hosts[node].bare }
func (s *stage) IsTaken(node string) bool             { return s.hosts[node] != nil && s.hosts[node].taken }
func (s *stage) Reaches(node, _ string) bool          { return !s.hosts[node].cut }
func (s *stage) Open(node string) bool                { return s.hosts[node].entry != nil }
func (s *stage) Journal(node string) *journal.Entry   { return s.hosts[node].entry }
func (s *stage) Disconnected(node string) []string    { return s.hosts[node].gone }
func (s *stage) Disk(node string) Disk                { return s.hosts[node].disk }
func (s *stage) Record(node string) journal.Record    { return s.hosts[node].record }

func (s *stage) Look(like client.Object, name string) client.Object {
	return s.objects[kindOf(like)+"/"+name]
}

func (s *stage) Each(like client.Object, f func(client.Object)) {
	for _, key := range sortedKeys(s.objects) {
		if strings.HasPrefix(key, kindOf(like)+"/") {
			f(s.objects[key])
		}
	}
}

func (s *stage) store(o client.Object) { s.objects[kindOf(o)+"/"+o.GetName()] = o }

func (s *stage) run(d time.Duration) {
	if err := s.world.RunFor(d); err != nil {
		s.t.Fatal(err)
	}
}

func (s *stage) tell(node string, what What) {
	s.set.Tell(Event{Node: node, Process: s.process["handler/"+node], What: what})
}

// wrote stores an object and tells the write.
func (s *stage) wrote(process string, o client.Object, parts string) {
	was := s.Look(o, o.GetName())
	s.store(o)
	w := apiserver.Write{
		At: s.Elapsed(), Process: process, Verb: "patch", Kind: kindOf(o), Name: o.GetName(), After: o,
		Spec: strings.Contains(parts, "spec"), Status: strings.Contains(parts, "status"), Metadata: strings.Contains(parts, "meta"),
	}
	if was != nil {
		w.Before = was
	}
	_, node := roleOf(process)
	if e, is := o.(*v1.NodeNetworkConfigurationEnactment); is {
		node, _ = nodeAndPolicy(e)
	}
	s.set.Tell(Event{Node: node, Process: s.process[process], What: Wrote{w}})
}

// policy "p" of generation 1, on all nodes.
func (s *stage) policy(maxUnavailable int) *v1.NodeNetworkConfigurationPolicy {
	most := intstr.FromInt(maxUnavailable)
	p := &v1.NodeNetworkConfigurationPolicy{ObjectMeta: metav1.ObjectMeta{Name: "p", UID: "policy", Generation: 1}}
	p.Spec.MaxUnavailable = &most
	s.store(p)
	return p
}

func (s *stage) enacted(node string, approved int64, is v1.ConditionType) *v1.NodeNetworkConfigurationEnactment {
	e := &v1.NodeNetworkConfigurationEnactment{ObjectMeta: metav1.ObjectMeta{
		Name: v1.EnactmentName(node, "p"), Labels: map[string]string{v1.EnactmentPolicyLabel: "p", v1.EnactmentNodeLabel: node},
		OwnerReferences: []metav1.OwnerReference{{Kind: "NodeNetworkConfigurationPolicy", Name: "p", UID: "policy"}},
	}}
	e.Spec.ApprovedGeneration = approved
	e.Status.PolicyGeneration, e.Status.Hash, e.Status.DesiredState = 1, "h", v1.NewState([]byte(wanted))
	if is != "" {
		e.Status.Conditions = []v1.Condition{{Type: is, Status: metav1.ConditionTrue}}
	}
	return e
}

// nns is a node that has told how its desired state ended.
func (s *stage) nns(node string, managed bool, desired string, generation int64) *v1.NodeNetworkState {
	o := &v1.NodeNetworkState{ObjectMeta: metav1.ObjectMeta{Name: node, Generation: generation}}
	o.Spec.Managed, o.Spec.DesiredState = &managed, v1.NewState([]byte(desired))
	o.Status.ObservedGeneration = generation
	return o
}

// change is the journal's entry of policy p's change.
func change(guards ...string) *journal.Entry {
	raw := []byte(wanted)
	return &journal.Entry{
		Transaction: txn.State{
			Phase:  txn.Applying,
			Change: txn.Change{Generation: 2, Hash: parsed(raw).Hash(), Policy: "p", Window: 2 * time.Minute},
			Guards: guards,
		},
		Sources: []v1.DesiredSource{{Source: v1.Source{Policy: "p", Generation: 1, Hash: "h"}}},
		Desired: raw, Change: raw, Before: []byte(before), Revert: []byte(before),
	}
}

const checkpointLife = 150 * time.Second

// try begins the entry's trial on a node, up to the end of its apply.
func (s *stage) try(node string, entry *journal.Entry) { s.trySlowly(node, entry, time.Second) }

func (s *stage) trySlowly(node string, entry *journal.Entry, takes time.Duration) {
	s.hosts[node].entry = entry
	s.tell(node, Applying{Desired: parsed(entry.Change), Life: checkpointLife})
	s.tell(node, CheckpointMade{ID: "1", Owner: "handler/" + node})
	s.hosts[node].network = wanted
	s.run(takes)
	s.tell(node, Applied{ID: "1"})
}

// prove lets probes pass and the node be read back.
func (s *stage) prove(node string, names ...string) {
	began := s.Elapsed()
	s.run(time.Second)
	for _, name := range names {
		s.tell(node, Probed{Name: name, Began: began})
	}
	s.tell(node, Shown{Began: began})
}

func (s *stage) end(node string, how Ending) {
	by := ""
	if how == Committed || how == RolledBack {
		by = "handler/" + node
	}
	if how == RolledBack || how == Expired {
		s.hosts[node].network = before
	}
	s.tell(node, CheckpointEnded{ID: "1", Owner: "handler/" + node, By: by, How: how})
}

func (s *stage) close(node string, result v1.TransactionResult) {
	entry := s.hosts[node].entry
	record := journal.Record{
		Last:      &v1.Transaction{Generation: 2, Policy: "p", Result: result, Since: metav1.NewTime(s.world.Now())},
		Committed: s.hosts[node].record.Committed,
	}
	if entry != nil {
		record.Last.Generation = entry.Transaction.Change.Generation
		record.Last.Sources = v1.PlainSources(entry.Sources)
		if result == v1.TransactionCommitted {
			record.Committed = &journal.Committed{Sources: entry.Sources, Desired: entry.Desired}
		}
	}
	s.hosts[node].entry, s.hosts[node].record = nil, record
	s.tell(node, JournalClosed{Record: record})
}

// history is a sequence of events for one rule.
type history struct {
	play func(s *stage)
	// want is a part of the violation; empty for none.
	want string
}

// judge plays histories, each before a rule of its own.
func judge(t *testing.T, rule func() Oracle, nodes []string, histories map[string]history) {
	t.Helper()
	for name, h := range histories {
		t.Run(name, func(t *testing.T) {
			s := newStage(t, rule(), nodes...)
			h.play(s)
			s.run(time.Hour)
			if err := s.set.AtRest(); err != nil {
				s.found = append(s.found, err.Error())
			}
			switch {
			case h.want == "" && len(s.found) > 0:
				t.Errorf("found %q, want nothing", s.found)
			case h.want != "" && !slices.ContainsFunc(s.found, func(f string) bool { return strings.Contains(f, h.want) }):
				t.Errorf("found %q, want %q", s.found, h.want)
			}
		})
	}
}

var errNoAnswer = errors.New("no answer")

const gateway = probe.DefaultGateway
