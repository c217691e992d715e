package agent

import (
	"testing"

	v1 "github.com/nmstate/kubernetes-nmstate/api/v1"
)

// An etcd that was restored from a backup counts generations from an older number on: the
// same number is then about something else.
func TestAGenerationThatIsAboutSomethingElseAfterTheClusterWasRestoredIsApplied(t *testing.T) {
	t.Parallel()
	for name, rows := range map[string][]struct {
		generation int64
		link       string
	}{
		"an older generation":                           {{2, "one"}, {3, "two"}, {2, "one"}},
		"the same number, another state":                {{2, "one"}, {3, "two"}, {3, "three"}},
		"a smaller number, another state":               {{2, "one"}, {5, "two"}, {3, "three"}},
		"an older generation, and then the same number": {{2, "one"}, {3, "two"}, {2, "one"}, {3, "three"}},
		"the same number, after a failure":              {{2, "one"}, {3, "bad"}, {3, "three"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			n := newNode(t)
			n.host.forbids = "bad"
			n.handler()
			for _, row := range rows {
				n.want(row.generation, "", row.link)
				if row.link == "bad" {
					n.until("it was tried", func() bool {
						last := n.get().Status.Transaction
						return last != nil && last.Generation == row.generation && last.Result == v1.TransactionRolledBack
					})
					continue
				}
				n.until("the node has "+row.link, func() bool {
					last := n.get().Status.Transaction
					return last != nil && last.Generation == row.generation && last.Result == v1.TransactionCommitted && n.host.has(row.link)
				})
			}
		})
	}
}
