package state_test

import (
	"encoding/json"
	"testing"

	"github.com/nmstate/kubernetes-nmstate/handler/state"
)

// TestSharedStatesAreTheSame: a shared state says what one of its own would.
func TestSharedStatesAreTheSame(t *testing.T) {
	shared := state.NewShared()
	for name, raw := range samples(t) {
		want := parse(t, string(raw))
		for range 2 {
			if got := shared.FromTree(want.Tree()); !got.Equal(want) {
				t.Errorf("%s is another one when it is shared", name)
			}
		}
	}
	values := map[string]any{
		"int": 7, "int64": int64(7), "number": json.Number("7"), "text": "7", "yes": true, "no": false, "nothing": nil,
		"strings": []string{"a"}, "list": []any{"a"}, "empty list": []any{}, "empty object": map[string]any{}, "object": map[string]any{"a": 1, "b": 2},
		"turned": map[string]any{"a": 2, "b": 1}, "lists": []any{[]any{"a"}, []any{"b"}}, "turned lists": []any{[]any{"b"}, []any{"a"}},
	}
	if want, got := state.FromTree(values), shared.FromTree(values); !got.Equal(want) {
		t.Errorf("got %s, want %s", got.JSON(), want.JSON())
	}
	if got := shared.FromTree(nil); !got.Equal(state.FromTree(nil)) || !got.IsEmpty() {
		t.Errorf("of nothing there is %s", got.JSON())
	}
}
