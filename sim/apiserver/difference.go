package apiserver

import (
	"bytes"
	"encoding/json"
	"reflect"
	"slices"
	"strings"

	jsonpatch "github.com/evanphx/json-patch/v5"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "github.com/nmstate/kubernetes-nmstate/api/v1"
)

// differ makes what client.MergeFrom makes of two objects, without turning all
// of both into JSON first: that is most of what a write costs, and most of an
// object does not change. Its test compares the two.
type differ struct {
	fields map[reflect.Type][]jsonField
}

// jsonField is a field of a struct as JSON has it.
type jsonField struct {
	name  string
	index int
	// omit leaves it out when it is empty, or zero.
	omitEmpty, omitZero bool
	// inline: its fields stand beside the others.
	inline bool
}

// patchData is patch.Data(o).
func (d *differ) patchData(patch client.Patch, o client.Object) ([]byte, error) {
	from, lock := d.from(patch, o)
	if from == nil {
		return patch.Data(o)
	}
	tree, err := d.structs(reflect.ValueOf(from).Elem(), reflect.ValueOf(o).Elem())
	if err != nil {
		return nil, err
	}
	// The lock is in the data whatever the revisions are, and without it they
	// count as any field does.
	if lock {
		meta, _ := tree["metadata"].(map[string]any)
		if meta == nil {
			meta = map[string]any{}
			tree["metadata"] = meta
		}
		meta["resourceVersion"] = from.GetResourceVersion()
	}
	return json.Marshal(tree)
}

// from is the object that a patch of MergeFrom compares with; nil for another
// patch. The type is not exported, hence the reflection.
func (d *differ) from(patch client.Patch, o client.Object) (from client.Object, lock bool) {
	v := reflect.ValueOf(patch)
	if v.Kind() != reflect.Pointer || v.Type().String() != "*client.mergeFromPatch" || !d.merges(patch) {
		return nil, false
	}
	inner, options := v.Elem().FieldByName("from"), v.Elem().FieldByName("opts")
	if !inner.IsValid() || !options.IsValid() || inner.IsNil() || inner.Elem().Type() != reflect.TypeOf(o) {
		return nil, false
	}
	object := reflect.NewAt(inner.Elem().Type().Elem(), inner.Elem().UnsafePointer()).Interface()
	from = object.(client.Object)
	lock = options.FieldByName("OptimisticLock").Bool()
	return from, lock && from.GetResourceVersion() != ""
}

func (d *differ) merges(patch client.Patch) bool {
	return patch.Type() == "application/merge-patch+json"
}

func (d *differ) structs(a, b reflect.Value) (map[string]any, error) {
	tree := map[string]any{}
	for _, f := range d.fieldsOf(a.Type()) {
		x, y := a.Field(f.index), b.Field(f.index)
		if f.inline {
			inner, err := d.structs(x, y)
			if err != nil {
				return nil, err
			}
			for name, value := range inner {
				tree[name] = value
			}
			continue
		}
		value, changed, err := d.values(x, y, f.absent(x), f.absent(y))
		if err != nil {
			return nil, err
		}
		if changed {
			tree[f.name] = value
		}
	}
	return tree, nil
}

// values is what changes a into b; null removes.
func (d *differ) values(a, b reflect.Value, noA, noB bool) (value any, changed bool, err error) {
	switch {
	case noA && noB:
		return nil, false, nil
	case noB:
		return nil, true, nil
	case noA:
		return b.Interface(), true, nil
	}
	switch _, custom := a.Interface().(json.Marshaler); {
	case a.Type() == reflect.TypeFor[v1.State]():
		return d.states(a.Interface().(v1.State), b.Interface().(v1.State))
	case custom:
	case a.Kind() == reflect.Struct:
		return d.nested(d.structs(a, b))
	case a.Kind() == reflect.Map && a.Type().Key().Kind() == reflect.String && !a.IsNil() && !b.IsNil():
		return d.nested(d.maps(a, b))
	case a.Kind() == reflect.Pointer && a.Type().Elem().Kind() == reflect.Struct && !a.IsNil() && !b.IsNil():
		return d.values(a.Elem(), b.Elem(), false, false)
	}
	if reflect.DeepEqual(a.Interface(), b.Interface()) {
		return nil, false, nil
	}
	was, err := json.Marshal(a.Interface())
	if err != nil {
		return nil, false, err
	}
	is, err := json.Marshal(b.Interface())
	return json.RawMessage(is), !bytes.Equal(was, is), err
}

func (d *differ) nested(tree map[string]any, err error) (any, bool, error) {
	return tree, len(tree) > 0, err
}

func (d *differ) maps(a, b reflect.Value) (map[string]any, error) {
	tree := map[string]any{}
	for _, key := range append(a.MapKeys(), b.MapKeys()...) {
		x, y := a.MapIndex(key), b.MapIndex(key)
		value, changed, err := d.values(x, y, !x.IsValid(), !y.IsValid())
		if err != nil {
			return nil, err
		}
		if changed {
			tree[key.String()] = value
		}
	}
	return tree, nil
}

func (d *differ) states(a, b v1.State) (any, bool, error) {
	if bytes.Equal(a.Raw, b.Raw) {
		return nil, false, nil
	}
	if a.IsZero() || b.IsZero() {
		return b, true, nil
	}
	patch, err := jsonpatch.CreateMergePatch(a.Raw, b.Raw)
	return json.RawMessage(patch), string(patch) != "{}", err
}

// absent tells whether JSON leaves the field out.
func (f jsonField) absent(v reflect.Value) bool {
	if f.omitZero {
		if z, ok := v.Interface().(interface{ IsZero() bool }); ok && z.IsZero() || v.IsZero() {
			return true
		}
	}
	if !f.omitEmpty {
		return false
	}
	switch v.Kind() {
	case reflect.Slice, reflect.Map, reflect.Array:
		return v.Len() == 0
	case reflect.Struct:
		return false
	}
	return v.IsZero()
}

func (d *differ) fieldsOf(t reflect.Type) []jsonField {
	if known, ok := d.fields[t]; ok {
		return known
	}
	var made []jsonField
	for i := range t.NumField() {
		f := t.Field(i)
		name, rest, _ := strings.Cut(f.Tag.Get("json"), ",")
		if name == "-" || !f.IsExported() {
			continue
		}
		options := strings.Split(rest, ",")
		made = append(made, jsonField{
			name: name, index: i, inline: f.Anonymous && name == "",
			omitEmpty: slices.Contains(options, "omitempty"), omitZero: slices.Contains(options, "omitzero"),
		})
	}
	d.fields[t] = made
	return made
}
