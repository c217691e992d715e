package rollout

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "write testdata/*.golden anew")

// Every transcript in testdata tells a rollout step by step: read it like a
// log. To see what a change of Plan does to it: go test -update, git diff.
func TestTranscripts(t *testing.T) {
	three := []string{"node1", "node2", "node3"}
	turns := func(w *world, nodes ...string) {
		for _, node := range nodes {
			before := w.host(node).open
			w.turn(node)
			if now := w.host(node).open; now != 0 && now != before {
				w.turn(node) // tells that it has begun
			}
		}
	}
	tests := map[string]func(w *world){
		"a regular rollout of 3 nodes at 50%": func(w *world) {
			w.plan()
			turns(w, three...)
			w.plan()
			turns(w, three...)
			w.plan()
			turns(w, "node2")
			w.plan()
			turns(w, "node1", "node3")
			w.plan()
			turns(w, "node3")
			w.plan()
			w.plan()
		},
		"a bad policy aborts the rest": func(w *world) {
			w.fails = func(node string, _ int64, _ int) bool { return true }
			turns(w, three...)
			w.plan()
			turns(w, "node1", "node2", "node3", "node1")
			w.plan()
			turns(w, "node2")
			w.plan()
			turns(w, "node3")
			w.plan()
		},
		"a retry succeeds and the aborted node gets its turn": func(w *world) {
			w.fails = func(_ string, _ int64, try int) bool { return try == 0 }
			w.retries = true
			turns(w, three...)
			w.plan()
			turns(w, "node1", "node2", "node1", "node2")
			w.plan()
			turns(w, "node3", "node1", "node1")
			w.plan()
			turns(w, "node3")
		},
		"an edit in mid-rollout": func(w *world) {
			turns(w, three...)
			w.plan()
			turns(w, "node1", "node1", "node2")
			w.plan()
			w.edit()
			w.plan()
			turns(w, "node2", "node2", "node2")
			w.plan()
			turns(w, "node1", "node2", "node3")
			w.plan()
			turns(w, "node3", "node3", "node1", "node1", "node3", "node3")
			w.plan()
		},
		"a node is deleted in mid-rollout": func(w *world) {
			turns(w, three...)
			w.plan()
			turns(w, "node1", "node2")
			w.remove("node1")
			w.plan()
			turns(w, "node2")
			w.plan()
			turns(w, "node3", "node3")
			w.plan()
		},
		"a node is not Ready": func(w *world) {
			w.say("node2 is not Ready")
			w.host("node2").Ready = false
			turns(w, "node1", "node3")
			w.plan()
			turns(w, "node1", "node1", "node3", "node3")
			w.plan()
			w.say("node2 is Ready")
			w.host("node2").Ready = true
			turns(w, "node2")
			w.plan()
			turns(w, "node2")
			w.say("node2 is not Ready, since the change has cut it off for a moment")
			w.host("node2").Ready = false
			w.plan()
			turns(w, "node2")
			w.plan()
			w.say("node2 is Ready")
			w.host("node2").Ready = true
			w.plan()
		},
	}
	for name, play := range tests {
		t.Run(name, func(t *testing.T) {
			w := newWorld("50%", three...)
			w.say("the policy is created: generation 1, maxUnavailable 50%%; 3 nodes match")
			play(w)
			compareGolden(t, name, w.log.String())
		})
	}
}

func compareGolden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", name+".golden")
	if *update {
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(fmt.Errorf("%w; write it with: go test ./controllers/rollout -update", err))
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("differs from %s (-want +got), see -update:\n%s", path, diff)
	}
}
