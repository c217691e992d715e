package apiserver

import (
	"cmp"
	"maps"
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// collector is who deletes what has no owner any more.
const collector = "garbage-collector"

// Bounds of how long after an owner's end its dependents are looked at.
const (
	soonestCollection = 50 * time.Millisecond
	latestCollection  = 2 * time.Second
)

// follow keeps the dependents of each owner.
func (s *Store) follow(t *table, name string, before, after client.Object) {
	me := ref{t.kind.place, name}
	for _, owner := range owners(before) {
		delete(s.owned[owner.UID], me)
		if len(s.owned[owner.UID]) == 0 {
			delete(s.owned, owner.UID)
		}
	}
	for _, owner := range owners(after) {
		if s.owned[owner.UID] == nil {
			s.owned[owner.UID] = map[ref]bool{}
		}
		s.owned[owner.UID][me] = true
	}
}

func owners(o client.Object) []metav1.OwnerReference {
	if o == nil {
		return nil
	}
	return o.GetOwnerReferences()
}

// collect looks, later, at what the change may have left without an owner: the
// dependents of what is gone, and what came with an owner that is not there.
func (s *Store) collect(before, after client.Object) {
	switch {
	case after == nil && len(s.owned[before.GetUID()]) > 0:
		uid := before.GetUID()
		s.world.After(s.between(soonestCollection, latestCollection), func() { s.collectOf(uid) })
	case before == nil && s.orphan(after):
		me := ref{place(after), after.GetName()}
		s.world.After(s.between(soonestCollection, latestCollection), func() { s.collectOne(me) })
	}
}

func (s *Store) between(least, most time.Duration) time.Duration {
	return least + time.Duration(s.chance.Int64N(int64(most-least)))
}

func (s *Store) collectOf(owner types.UID) {
	left := slices.SortedFunc(maps.Keys(s.owned[owner]), func(a, b ref) int {
		return cmp.Or(cmp.Compare(a.kind, b.kind), cmp.Compare(a.name, b.name))
	})
	for _, me := range left {
		s.collectOne(me)
	}
}

// orphan tells whether the object has owners, and not all of them are there.
func (s *Store) orphan(o client.Object) bool {
	refs := o.GetOwnerReferences()
	return len(s.alive(refs)) < len(refs)
}

func (s *Store) alive(refs []metav1.OwnerReference) []metav1.OwnerReference {
	var there []metav1.OwnerReference
	for _, r := range refs {
		for kind := range numKinds {
			e := s.tables[kind].entries[r.Name]
			if s.kinds[kind].name == r.Kind && e != nil && e.object.GetUID() == r.UID {
				there = append(there, r)
			}
		}
	}
	return there
}

// collectOne deletes an object of whose owners none is there. Where some are it
// only drops the others from the list.
func (s *Store) collectOne(me ref) {
	t := s.tables[me.kind]
	e := t.entries[me.name]
	if e == nil || !s.orphan(e.object) {
		return
	}
	there := s.alive(e.object.GetOwnerReferences())
	if len(there) == 0 {
		_, _ = s.delete(request{process: collector, verb: "delete"}, e.object, nil)
		return
	}
	next := t.kind.shallow(e.object)
	next.SetOwnerReferences(there)
	_, _ = s.replace(t, request{process: collector, verb: "patch"}, e, next, false)
}
