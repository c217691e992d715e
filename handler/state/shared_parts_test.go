package state

import (
	"reflect"
	"testing"
)

// TestWhatIsAlikeIsSharedAndWhatIsGivenIsNot: two states have one copy of what is alike,
// and none of it is the caller's, who may change it.
func TestWhatIsAlikeIsSharedAndWhatIsGivenIsNot(t *testing.T) {
	shared := NewShared()
	given := map[string]any{"interfaces": []any{
		map[string]any{"name": "a", "ipv4": map[string]any{"enabled": false}},
		map[string]any{"name": "b", "ipv4": map[string]any{"enabled": false}},
	}}
	one := shared.FromTree(given)
	given["interfaces"].([]any)[0].(map[string]any)["ipv4"].(map[string]any)["enabled"] = true
	other := shared.FromTree(given)
	of := func(s State, i int) map[string]any { return objects(s.tree["interfaces"])[i] }
	pointer := func(part any) uintptr { return reflect.ValueOf(part).Pointer() }
	switch {
	case of(one, 0)["ipv4"].(map[string]any)["enabled"] != false:
		t.Error("it changes with what it was made of")
	case pointer(of(one, 0)["ipv4"]) != pointer(of(one, 1)["ipv4"]):
		t.Error("two parts of a state that are alike are there twice")
	case pointer(of(one, 1)) != pointer(of(other, 1)):
		t.Error("an interface that two states have alike is there twice")
	case pointer(of(one, 0)) == pointer(of(other, 0)):
		t.Error("an interface that differs is shared")
	}
}
