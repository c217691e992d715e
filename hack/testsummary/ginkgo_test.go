package main

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestAFailedSpecIsToldFromItsCauseOn(t *testing.T) {
	timeline := func(lines int) string {
		text := ""
		for i := range lines {
			text += fmt.Sprintf("  line %d\n", i)
		}
		return text
	}
	tests := map[string]struct{ block, want string }{
		"what failed stands before what led to it": {
			block: "• [FAILED] [2.5 seconds]\nA reader [It] plays\n\n  Timeline >>\n" + timeline(2) + "  << Timeline\n\n  [FAILED] want a, got b\n  In [It] at: a_test.go:7",
			want:  "• [FAILED] [2.5 seconds]\nA reader [It] plays\n  [FAILED] want a, got b\n  In [It] at: a_test.go:7\n\n  Timeline:\n  line 0\n  line 1",
		},
		"of a long timeline the end is told": {
			block: "• [FAILED] [2.5 seconds]\n\n  Timeline >>\n" + timeline(told+1) + "  << Timeline\n\n  [FAILED] want a, got b",
			want: "• [FAILED] [2.5 seconds]\n  [FAILED] want a, got b\n\n  Timeline, without its first 1 lines:\n" +
				strings.TrimRight(strings.TrimPrefix(timeline(told+1), "  line 0\n"), "\n"),
		},
		"a block without a timeline stays as it is": {
			block: "• [FAILED] [2.5 seconds]\n  [FAILED] want a, got b",
			want:  "• [FAILED] [2.5 seconds]\n  [FAILED] want a, got b",
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			if difference := cmp.Diff(test.want, causeFirst(test.block)); difference != "" {
				t.Errorf("told (-want +got):\n%s", difference)
			}
		})
	}
}
