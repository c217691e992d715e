package apiserver

import (
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/selection"
	toolscache "k8s.io/client-go/tools/cache"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// view is one kind as a process sees it.
//
//	   start       list arrives        break, compacted
//	new ─────► listing ─────► live ──────────────────► listing (live all the same)
//	              ▲  no way     │ no way for long
//	              └── backoff ◄─┘ then it resumes, or lists where that is compacted
type view struct {
	cache *Cache
	kind  int
	table *table
	// name or label is what it selects by, both empty for all.
	name, label, value string
	// transform is nil where it would change nothing.
	transform toolscache.TransformFunc

	handlers []func(Change)
	onDelete []func(client.Object)

	// live: the first list is there. observed is the newest revision that
	// handlers were told.
	live     bool
	observed uint64
	items    map[string]*item
	order    list
	indexes  []*index

	stream
}

// item is an object in a view; lists and indexes share it.
type item struct {
	name   string
	object client.Object
}

// list is a list of items by name.
type list struct{ items []*item }

func (l *list) find(name string) (int, bool) {
	return slices.BinarySearchFunc(l.items, name, func(i *item, name string) int { return strings.Compare(i.name, name) })
}

func (l *list) insert(i *item) {
	if at, there := l.find(i.name); !there {
		l.items = slices.Insert(l.items, at, i)
	}
}

func (l *list) remove(i *item) {
	if at, there := l.find(i.name); there {
		l.items = slices.Delete(l.items, at, at+1)
	}
}

// index lists items by what a function makes of them.
type index struct {
	field   string
	extract client.IndexerFunc
	items   map[string]*list
}

func (x *index) insert(i *item) {
	for _, value := range x.extract(i.object) {
		if x.items[value] == nil {
			x.items[value] = &list{}
		}
		x.items[value].insert(i)
	}
}

func (x *index) remove(i *item) {
	for _, value := range x.extract(i.object) {
		if l := x.items[value]; l != nil {
			l.remove(i)
			if len(l.items) == 0 {
				delete(x.items, value)
			}
		}
	}
}

func newView(c *Cache, kind int) *view {
	v := &view{cache: c, kind: kind, table: c.connection.store.tables[kind], items: map[string]*item{}}
	transform := c.options.DefaultTransform
	for like, by := range c.options.ByObject {
		if place(like) == kind {
			transform = v.options(by, transform)
		}
	}
	// Stored objects have no managed fields, and most views leave out nothing else.
	strip := cache.TransformStripManagedFields()
	if transform != nil && reflect.ValueOf(transform).Pointer() != reflect.ValueOf(strip).Pointer() {
		v.transform = transform
	}
	c.connection.process.OnDeath(v.stop)
	return v
}

// options takes what selects, and returns the transform.
func (v *view) options(by cache.ByObject, transform toolscache.TransformFunc) toolscache.TransformFunc {
	if by.Transform != nil {
		transform = by.Transform
	}
	if by.Field != nil {
		wanted := by.Field.Requirements()
		if len(wanted) != 1 || wanted[0].Operator != selection.Equals || wanted[0].Field != "metadata.name" {
			lacks("cache by field " + by.Field.String())
		}
		v.name = wanted[0].Value
	}
	if len(by.Namespaces) == 1 && v.kind == pods { // The model has pods of one.
		for _, of := range by.Namespaces {
			by.Label = of.LabelSelector
		}
		by.Namespaces = nil
	}
	if by.Label != nil {
		wanted, selectable := by.Label.Requirements()
		if !selectable || len(wanted) != 1 || len(wanted[0].Values()) != 1 || v.name != "" {
			lacks("cache by label " + by.Label.String())
		}
		v.label, v.value = wanted[0].Key(), wanted[0].Values().List()[0]
	}
	by.Transform, by.Field, by.Label = nil, nil, nil
	if !reflect.DeepEqual(by, cache.ByObject{}) {
		lacks(fmt.Sprintf("option of a cache: %+v", by))
	}
	return transform
}

func (v *view) selects(o client.Object) bool {
	switch {
	case o == nil:
		return false
	case v.name != "":
		return o.GetName() == v.name
	case v.label != "":
		value, there := o.GetLabels()[v.label]
		return there && value == v.value
	}
	return true
}

// cut is the object as the view keeps it. A transform sets fields of the object
// that it is given; what it hangs there is its own, so that a copy of the
// outermost struct is enough.
func (v *view) cut(o client.Object) client.Object {
	if v.transform == nil || o == nil {
		return o
	}
	made, err := v.transform(v.table.kind.shallow(o))
	if err != nil {
		panic(fmt.Sprintf("apiserver: a cache's transform failed: %v", err))
	}
	return made.(client.Object)
}

// show makes the view hold o, nil for nothing, under the name, and tells it; last is
// what a watch said of one that is gone.
func (v *view) show(name string, o, last client.Object, initial bool) {
	was := v.items[name]
	c := Change{Initial: initial}
	switch {
	case o == nil && was == nil:
		return
	case o == nil:
		c.Old = was.object
		if last != nil {
			c.Old = v.cut(last)
		}
		v.drop(was)
	case was == nil:
		c.New = v.cut(o)
		v.hold(&item{name: name, object: c.New})
	default:
		c.Old, c.New = was.object, v.cut(o)
		v.drop(was)
		v.hold(&item{name: name, object: c.New})
	}
	newest := c.New
	if newest == nil {
		newest = c.Old
		for _, f := range v.onDelete {
			f(newest)
		}
	}
	v.observed = max(v.observed, revisionOf(newest))
	for _, f := range v.handlers {
		f(c)
	}
}

func (v *view) hold(i *item) {
	v.items[i.name] = i
	v.order.insert(i)
	for _, x := range v.indexes {
		x.insert(i)
	}
}

func (v *view) drop(i *item) {
	delete(v.items, i.name)
	v.order.remove(i)
	for _, x := range v.indexes {
		x.remove(i)
	}
}

func revisionOf(o client.Object) uint64 {
	revision, err := strconv.ParseUint(o.GetResourceVersion(), 10, 64)
	if err != nil {
		panic(err)
	}
	return revision
}

// viewers are the views of a kind, by what they select.
type viewers struct {
	all     []*view
	byName  map[string][]*view
	byLabel map[string]map[string][]*view
	labels  []string
}

func newViewers() viewers {
	return viewers{byName: map[string][]*view{}, byLabel: map[string]map[string][]*view{}}
}

func (w *viewers) add(v *view) {
	switch {
	case v.name != "":
		w.byName[v.name] = append(w.byName[v.name], v)
	case v.label != "":
		if w.byLabel[v.label] == nil {
			w.byLabel[v.label] = map[string][]*view{}
			w.labels = append(w.labels, v.label)
		}
		w.byLabel[v.label][v.value] = append(w.byLabel[v.label][v.value], v)
	default:
		w.all = append(w.all, v)
	}
}

func (w *viewers) remove(v *view) {
	without := func(views []*view) []*view {
		return slices.DeleteFunc(views, func(other *view) bool { return other == v })
	}
	switch {
	case v.name != "":
		w.byName[v.name] = without(w.byName[v.name])
	case v.label != "":
		if values := w.byLabel[v.label]; values != nil {
			values[v.value] = without(values[v.value])
		}
	default:
		w.all = without(w.all)
	}
}

// of are the views of some processes, in an order that is always the same.
func (w *viewers) of(is func(process string) bool) []*view {
	var found []*view
	keep := func(views []*view) {
		for _, v := range views {
			if is(v.cache.connection.process.Name) {
				found = append(found, v)
			}
		}
	}
	keep(w.all)
	for _, selected := range slices.Sorted(maps.Keys(w.byName)) {
		keep(w.byName[selected])
	}
	for _, label := range w.labels {
		for _, value := range slices.Sorted(maps.Keys(w.byLabel[label])) {
			keep(w.byLabel[label][value])
		}
	}
	return found
}

// publish tells a change to the views that it is about.
func (w *viewers) publish(c change) {
	for _, v := range w.all {
		v.push(c)
	}
	for _, v := range w.byName[c.name()] {
		v.push(c)
	}
	for _, label := range w.labels {
		before, after := valueOf(c.before, label), valueOf(c.after, label)
		for _, v := range w.byLabel[label][before] {
			v.push(c)
		}
		if after != before {
			for _, v := range w.byLabel[label][after] {
				v.push(c)
			}
		}
	}
}

func valueOf(o client.Object, label string) string {
	if o == nil {
		return ""
	}
	return o.GetLabels()[label]
}
