package state_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/nmstate/kubernetes-nmstate/handler/state"
)

// samples are the documents in testdata by their names.
func samples(t testing.TB) map[string][]byte {
	t.Helper()
	paths, err := filepath.Glob("testdata/*.json")
	if err != nil || len(paths) == 0 {
		t.Fatalf("no samples in testdata: %v", err)
	}
	found := map[string][]byte{}
	for _, path := range paths {
		raw, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		found[strings.TrimSuffix(filepath.Base(path), ".json")] = raw
	}
	return found
}

func parse(t testing.TB, raw string) state.State {
	t.Helper()
	parsed, err := state.Parse([]byte(raw))
	if err != nil {
		t.Fatal(err)
	}
	return parsed
}

// changed is the state with one value replaced; nil takes the key away. Path
// elements are keys of objects and indexes of lists.
func changed(t testing.TB, s state.State, value any, path ...any) state.State {
	t.Helper()
	tree := s.Tree()
	var at any = tree
	for _, step := range path[:len(path)-1] {
		switch step := step.(type) {
		case string:
			at = at.(map[string]any)[step]
		case int:
			at = at.([]any)[step]
		}
	}
	last := path[len(path)-1].(string)
	if value == nil {
		delete(at.(map[string]any), last)
	} else {
		at.(map[string]any)[last] = value
	}
	return state.FromTree(tree)
}

func lines(differences []state.Difference) []string {
	var all []string
	for _, one := range differences {
		all = append(all, one.String())
	}
	return all
}

func indented(s state.State) string {
	raw, err := json.MarshalIndent(s.Tree(), "", " ")
	if err != nil {
		return err.Error()
	}
	return string(raw)
}
