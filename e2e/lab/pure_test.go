//go:build linux

package lab

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestOutageIsTheGapsBetweenAnswers(t *testing.T) {
	at := func(i int) time.Time { return time.Unix(int64(i), 0) }
	for name, tt := range map[string]struct {
		answers string // one letter for each ping; the last never counts
		want    []Gap
	}{
		"no ping, no gap":               {"", nil},
		"all answered, no gap":          {"yyyn", nil},
		"a gap ends at the next answer": {"ynnyy", []Gap{{From: at(1), To: at(3), Lost: 2}}},
		"a gap may be open at the end":  {"ynny"[:3] + "n", []Gap{{From: at(1), To: at(3), Lost: 2, Open: true}}},
		"two gaps are two":              {"nynyy", []Gap{{From: at(0), To: at(1), Lost: 1}, {From: at(2), To: at(3), Lost: 1}}},
	} {
		t.Run(name, func(t *testing.T) {
			var sent []time.Time
			var answered []bool
			for i, c := range tt.answers {
				sent, answered = append(sent, at(i)), append(answered, c == 'y')
			}
			if diff := cmp.Diff(tt.want, outage(sent, answered).Gaps); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestPeerNamesFitTheKernel(t *testing.T) {
	for _, node := range []string{"n", "a-node-with-quite-a-long-name"} {
		if name := peerName(node, "enp0s31f6"); len(name) > 15 {
			t.Errorf("%s has %d characters", name, len(name))
		}
	}
}
