package apiserver

import (
	"bytes"
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"

	jsonpatch "github.com/evanphx/json-patch/v5"
	utiljson "k8s.io/apimachinery/pkg/util/json"

	v1 "github.com/nmstate/kubernetes-nmstate/api/v1"
)

// merger puts JSON into typed objects as a server does that keeps JSON: by
// RFC 7386, what the type does not know left out, and an nmstate state kept
// whole. What it changes is new; all else is shared with the object before.
type merger struct {
	// fields of each struct by their names in JSON.
	fields map[reflect.Type]map[string]member
	// nulls: keep them inside of states, as in what is not a patch.
	nulls bool
	// path to what is being merged, and the paths that have to be there in an
	// object that came, and are not. A type's JSON leaves out what is optional.
	path, missing []string
}

// start forgets what was missing before.
func (m *merger) start() { m.path, m.missing = m.path[:0], nil }

// required notes what an object that was not there lacks.
func (m *merger) required(t reflect.Type, has func(name string) bool) {
	for name, f := range m.fieldsOf(t) {
		if f.required && !has(name) {
			m.missing = append(m.missing, strings.Join(append(slices.Clone(m.path), name), "."))
		}
	}
	slices.Sort(m.missing)
}

func (m *merger) merge(into reflect.Value, raw []byte) error {
	if isNull(raw) {
		into.SetZero()
		return nil
	}
	if state, is := reflect.TypeAssert[*v1.State](into.Addr()); is {
		merged, err := mergeState(state.Raw, raw, m.nulls)
		state.Raw = merged
		return err
	}
	// What reads JSON by itself is replaced whole.
	unmarshaler := reflect.TypeFor[json.Unmarshaler]()
	switch {
	case into.Addr().Type().Implements(unmarshaler):
		return replace(into, raw)
	case into.Kind() == reflect.Struct, into.Kind() == reflect.Map,
		into.Kind() == reflect.Pointer && into.Type().Elem().Kind() == reflect.Struct && !into.Type().Implements(unmarshaler):
		var tree map[string]json.RawMessage
		if err := utiljson.Unmarshal(raw, &tree); err != nil {
			return err
		}
		branch := make(map[string]any, len(tree))
		for name, value := range tree {
			if branch[name] = value; isNull(value) {
				branch[name] = nil
			}
		}
		return m.mergeBranch(into, branch)
	case into.Kind() == reflect.Slice && !m.nulls:
		// A list is replaced whole, without the nulls of the objects in it.
		pruned, err := withoutNulls(raw)
		if err != nil {
			return err
		}
		return replace(into, pruned)
	}
	return replace(into, raw)
}

// withoutNulls is a value of a merge patch as a server keeps it.
func withoutNulls(raw []byte) ([]byte, error) {
	var value any
	if err := utiljson.Unmarshal(raw, &value); err != nil {
		return nil, err
	}
	return json.Marshal(pruned(value))
}

func pruned(value any) any {
	switch value := value.(type) {
	case map[string]any:
		for key, inner := range value {
			if inner == nil {
				delete(value, key)
				continue
			}
			value[key] = pruned(inner)
		}
	case []any:
		for i := range value {
			value[i] = pruned(value[i])
		}
	}
	return value
}

// mergeTree merges what a differ made.
func (m *merger) mergeTree(into reflect.Value, tree any) error {
	switch tree := tree.(type) {
	case nil:
		into.SetZero()
		return nil
	case json.RawMessage:
		return m.merge(into, tree)
	case map[string]any:
		return m.mergeBranch(into, tree)
	}
	value := reflect.ValueOf(tree)
	if objects := value.Kind() == reflect.Struct || value.Kind() == reflect.Pointer || value.Kind() == reflect.Map; !objects || into.IsZero() {
		into.Set(value)
		return nil
	}
	// It is new to whoever sent it and not to the server: objects merge.
	raw, err := json.Marshal(tree)
	if err != nil {
		return err
	}
	return m.merge(into, raw)
}

func (m *merger) mergeBranch(into reflect.Value, tree map[string]any) error {
	switch into.Kind() {
	case reflect.Struct:
		if into.IsZero() {
			m.required(into.Type(), func(name string) bool { return tree[name] != nil })
		}
		fields := m.fieldsOf(into.Type())
		for name, value := range tree {
			f, known := fields[name]
			if !known {
				continue
			}
			m.path = append(m.path, name)
			if err := m.mergeTree(into.FieldByIndex(f.index), value); err != nil {
				return fmt.Errorf("%s: %w", name, err)
			}
			m.path = m.path[:len(m.path)-1]
		}
		return nil
	case reflect.Pointer:
		made := reflect.New(into.Type().Elem())
		if !into.IsNil() {
			made.Elem().Set(into.Elem())
		}
		into.Set(made)
		return m.mergeBranch(made.Elem(), tree)
	case reflect.Map:
		made := reflect.MakeMapWithSize(into.Type(), into.Len()+len(tree))
		for _, key := range into.MapKeys() {
			made.SetMapIndex(key, into.MapIndex(key))
		}
		for name, value := range tree {
			key := reflect.ValueOf(name).Convert(into.Type().Key())
			if value == nil {
				made.SetMapIndex(key, reflect.Value{})
				continue
			}
			element := reflect.New(into.Type().Elem()).Elem()
			if old := into.MapIndex(key); old.IsValid() {
				element.Set(old)
			}
			m.path = append(m.path, name)
			if err := m.mergeTree(element, value); err != nil {
				return fmt.Errorf("%s: %w", name, err)
			}
			m.path = m.path[:len(m.path)-1]
			made.SetMapIndex(key, element)
		}
		into.Set(made)
		return nil
	}
	return fmt.Errorf("an object for a %s", into.Type()) //nolint:err113 // The types make it impossible.
}

func isNull(raw []byte) bool { return string(bytes.TrimSpace(raw)) == "null" }

func replace(into reflect.Value, raw []byte) error {
	made := reflect.New(into.Type())
	if err := utiljson.Unmarshal(raw, made.Interface()); err != nil {
		return err
	}
	into.Set(made.Elem())
	return nil
}

// member is a field of a struct.
type member struct {
	index    []int
	required bool
}

func (m *merger) fieldsOf(t reflect.Type) map[string]member {
	if known, ok := m.fields[t]; ok {
		return known
	}
	fields := map[string]member{}
	for i := range t.NumField() {
		f := t.Field(i)
		name, options, _ := strings.Cut(f.Tag.Get("json"), ",")
		switch {
		case f.Anonymous && name == "":
			for inner, below := range m.fieldsOf(f.Type) {
				fields[inner] = member{append([]int{i}, below.index...), below.required}
			}
		case name != "" && name != "-" && f.IsExported():
			fields[name] = member{f.Index, options == ""}
		}
	}
	m.fields[t] = fields
	return fields
}

// mergeState merges a patch into a state, keys sorted, as they come back from a
// server. What is no patch keeps its nulls.
func mergeState(old, patch []byte, nulls bool) ([]byte, error) {
	if !nulls && isObject(patch) {
		if !isObject(old) {
			old = []byte("{}")
		}
		merged, err := jsonpatch.MergePatch(old, patch)
		if err != nil {
			return nil, err
		}
		patch = merged
	}
	var value any
	if err := utiljson.Unmarshal(patch, &value); err != nil {
		return nil, err
	}
	return json.Marshal(value)
}

func isObject(raw []byte) bool {
	raw = bytes.TrimSpace(raw)
	return len(raw) > 0 && raw[0] == '{'
}
