package apiserver

import (
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"sort"
	"strconv"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/nmstate/kubernetes-nmstate/sim/world"
)

// Store is one API server with what it stores. It outlives every process.
type Store struct {
	// Faults decide what goes wrong; the zero value is a server without faults.
	Faults Faults

	world    *world.World
	kinds    [numKinds]*kind
	tables   [numKinds]*table
	merger   *merger
	literal  *merger
	differ   differ
	revision uint64
	uids     uint64
	chance   *rand.Rand
	written  []func(Write)
	counts   map[Count]int
	// owned are the dependents of each owner.
	owned map[types.UID]map[ref]bool
}

// ref names an object.
type ref struct {
	kind int
	name string
}

// table holds the objects of one kind.
type table struct {
	kind    *kind
	entries map[string]*entry
	// sorted are the names; nil after one came or went.
	sorted []string
	// log is what changed, oldest first, as far as it is not compacted.
	log   []change
	views viewers
	// labelled are the objects by the values of labels that some view selects
	// by: with thousands of views none may walk over all.
	labelled map[string]map[string]map[string]client.Object
}

// entry is a stored object, with what is beside it.
type entry struct {
	object client.Object
	// status: it was written, so that the stored JSON has one.
	status bool
	// owners of the parts of a NodeNetworkState's spec by field manager.
	owners fieldOwners
}

// change is one revision of an object; before is nil for the first, after
// for the last, which is deleted then.
type change struct {
	revision      uint64
	at            time.Duration
	before, after client.Object
	// last is what a watch tells of a deletion: before, at this revision.
	last client.Object
}

func (c change) name() string {
	if c.after != nil {
		return c.after.GetName()
	}
	return c.before.GetName()
}

// Write is one change of an object, for whoever judges it. The objects must
// not be changed.
type Write struct {
	At       time.Duration
	Revision uint64
	// Process that wrote, or who did of those outside.
	Process string
	// Verb: create, update, patch or delete.
	Verb, Kind, Name string
	// Subresource is "status" or empty.
	Subresource string
	// Before is nil for a create, After for the end of a delete.
	Before, After client.Object
	// Spec, Status and Metadata tell which parts changed. Of metadata that is
	// labels, annotations, owners, finalizers and the time of deletion.
	Spec, Status, Metadata bool
}

// Compaction is how long a server keeps what changed, as its etcd does.
const Compaction = 5 * time.Minute

// maxLog bounds it by number, for runs with thousands of nodes.
const maxLog = 2_000

// New makes an empty server.
func New(w *world.World) *Store {
	s := &Store{
		world: w, kinds: kinds(), revision: 1, chance: w.Rand("apiserver"),
		counts: map[Count]int{}, owned: map[types.UID]map[ref]bool{},
		merger:  &merger{fields: map[reflect.Type]map[string]member{}},
		literal: &merger{fields: map[reflect.Type]map[string]member{}, nulls: true},
		differ:  differ{fields: map[reflect.Type][]jsonField{}},
	}
	for i := range s.tables {
		s.tables[i] = &table{kind: s.kinds[i], entries: map[string]*entry{}, views: newViewers(), labelled: map[string]map[string]map[string]client.Object{}}
	}
	return s
}

// Written has f called at each change of an object, at its instant; it must
// not call back into the store to write.
func (s *Store) Written(f func(Write)) { s.written = append(s.written, f) }

// Revision is that of the last change.
func (s *Store) Revision() uint64 { return s.revision }

// Look is the stored object itself, nil for none; it must not be changed. like
// says the kind.
func (s *Store) Look(like client.Object, name string) client.Object {
	if e := s.tables[place(like)].entries[name]; e != nil {
		return e.object
	}
	return nil
}

// Each calls f for every stored object of a kind, by name; it must not change them.
func (s *Store) Each(like client.Object, f func(client.Object)) {
	t := s.tables[place(like)]
	for _, name := range slices.Clone(t.names()) {
		if e := t.entries[name]; e != nil {
			f(e.object)
		}
	}
}

func (t *table) names() []string {
	if t.sorted == nil && len(t.entries) > 0 {
		t.sorted = make([]string, 0, len(t.entries))
		for name := range t.entries {
			t.sorted = append(t.sorted, name)
		}
		slices.Sort(t.sorted)
	}
	return t.sorted
}

// uid makes one that no object had.
func (s *Store) uid() types.UID {
	s.uids++
	return types.UID(fmt.Sprintf("00000000-0000-4000-8000-%012x", s.uids))
}

// now in whole seconds, as it is stored.
func (s *Store) now() metav1.Time { return metav1.NewTime(s.world.Now().Truncate(time.Second).Local()) }

// stamp gives the object the next revision.
func (s *Store) stamp(o client.Object) {
	s.revision++
	o.SetResourceVersion(strconv.FormatUint(s.revision, 10))
}

// request is who writes what.
type request struct {
	process, verb, subresource, manager string
}

// commit stores an object that has its revision; after is nil when it is gone,
// and last says then what it was.
func (s *Store) commit(t *table, r request, before, after, last client.Object) {
	c := change{revision: s.revision, at: s.world.Elapsed(), before: before, after: after, last: last}
	name := c.name()
	s.follow(t, name, before, after)
	switch {
	case after == nil:
		delete(t.entries, name)
		t.sorted = nil
	case before == nil:
		t.entries[name] = &entry{object: after}
		t.sorted = nil
	default:
		t.entries[name].object = after
	}
	for label := range t.labelled {
		t.relabel(label, before, after)
	}
	t.remember(c)
	s.tell(t, r, c)
	t.views.publish(c)
	s.collect(before, after)
}

// withLabel are the objects with a label, by name.
func (t *table) withLabel(label, value string) map[string]client.Object {
	if t.labelled[label] == nil {
		t.labelled[label] = map[string]map[string]client.Object{}
		for _, e := range t.entries {
			t.relabel(label, nil, e.object)
		}
	}
	return t.labelled[label][value]
}

func (t *table) relabel(label string, before, after client.Object) {
	values := t.labelled[label]
	if before != nil {
		value := before.GetLabels()[label]
		delete(values[value], before.GetName())
		if len(values[value]) == 0 {
			delete(values, value)
		}
	}
	if after != nil {
		value := after.GetLabels()[label]
		if values[value] == nil {
			values[value] = map[string]client.Object{}
		}
		values[value][after.GetName()] = after
	}
}

// remember keeps the change for those who resume at an older revision.
func (t *table) remember(c change) {
	t.log = append(t.log, c)
	drop := 0
	if len(t.log) > maxLog {
		drop = maxLog / 2
	}
	drop = max(drop, sort.Search(len(t.log), func(i int) bool { return t.log[i].at >= c.at-Compaction }))
	if drop > len(t.log)/4 {
		t.log = slices.Clone(t.log[drop:])
	}
}

func (s *Store) tell(t *table, r request, c change) {
	if len(s.written) == 0 {
		return
	}
	w := Write{
		At: c.at, Revision: c.revision, Process: r.process, Verb: r.verb, Kind: t.kind.name, Name: c.name(),
		Subresource: r.subresource, Before: c.before, After: c.after,
	}
	w.Metadata, w.Spec, w.Status = true, true, true
	if c.before != nil && c.after != nil {
		w.Metadata, w.Spec, w.Status = t.kind.differs(c.before, c.after)
	}
	for _, f := range s.written {
		f(w)
	}
}

// differs tells which parts do.
func (k *kind) differs(a, b client.Object) (meta, spec, status bool) {
	metaA, specA, statusA := k.parts(a)
	metaB, specB, statusB := k.parts(b)
	return !sameMeta(metaA, metaB), !reflect.DeepEqual(specA, specB), !reflect.DeepEqual(statusA, statusB)
}

// sameMeta compares what a client can change.
func sameMeta(a, b *metav1.ObjectMeta) bool {
	return reflect.DeepEqual(a.Labels, b.Labels) && reflect.DeepEqual(a.Annotations, b.Annotations) &&
		reflect.DeepEqual(a.OwnerReferences, b.OwnerReferences) && reflect.DeepEqual(a.Finalizers, b.Finalizers) &&
		reflect.DeepEqual(a.DeletionTimestamp, b.DeletionTimestamp)
}
