package record

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	v1 "github.com/nmstate/kubernetes-nmstate/api/v1"
	"github.com/nmstate/kubernetes-nmstate/handler/guard"
	"github.com/nmstate/kubernetes-nmstate/handler/idle"
	"github.com/nmstate/kubernetes-nmstate/handler/journal"
	"github.com/nmstate/kubernetes-nmstate/handler/txn"
)

var at = time.Unix(1_000_000, 0)

// from are sources of policies, each of which sets one interface of its own name.
func from(onDelete string, policies ...string) (sources []v1.DesiredSource) {
	for _, name := range policies {
		sources = append(sources, v1.DesiredSource{
			Source: v1.Source{Policy: name, Generation: 1, Hash: "h"}, OnDelete: onDelete, Paths: []string{"interfaces[" + name + "].mtu"},
		})
	}
	return sources
}

// mtu is a state of interfaces with an MTU each.
func mtu(size int, names ...string) json.RawMessage {
	var list []string
	for _, name := range names {
		list = append(list, fmt.Sprintf(`{"name": %q, "type": "ethernet", "state": "up", "mtu": %d}`, name, size))
	}
	return json.RawMessage(`{"interfaces": [` + strings.Join(list, ", ") + `]}`)
}

// ended is a change to the hash h2, by policies.
func ended(result v1.TransactionResult, sources []v1.DesiredSource, names ...string) Ended {
	return Ended{
		Entry: journal.Entry{
			Since: at, Sources: sources, Desired: mtu(9000, names...), Before: mtu(1500, "a", "b", "c"),
			Targets: map[string]guard.Before{"dns": {}},
		},
		Outcome: txn.Outcome{Change: txn.Change{Generation: 2, Hash: "h2"}, Result: result},
		At:      at, Node: "node1",
	}
}

// removal is an undo of policy a that ended.
func removal(result v1.TransactionResult, change func(*Ended)) Ended {
	e := ended(result, from("Revert", "b"), "b")
	e.Entry.Removal, e.Entry.Undo, e.Outcome.Message = true, true, "no answer"
	change(&e)
	return e
}

// tell is what a record says, one word for each thing.
func tell(r journal.Record) string {
	var words []string
	if r.Committed != nil {
		words = append(words, "committed "+r.Committed.Hash)
	}
	if last := r.Last; last != nil {
		words = append(words, string(last.Result))
		if last.Attempts > 0 {
			words = append(words, fmt.Sprint("attempt ", last.Attempts))
		}
		if last.RetryAfter != nil {
			words = append(words, fmt.Sprint("again after ", last.RetryAfter.Sub(at).Round(time.Second)))
		}
	}
	for _, name := range []string{"a", "b", "c"} {
		if strings.Contains(string(r.Originals), `"`+name+`":{"mtu":1500`) {
			words = append(words, "knows "+name)
		}
	}
	if len(r.Stays) > 0 {
		words = append(words, "stays "+string(r.Stays))
	}
	if r.Kept != nil {
		words = append(words, "kept: "+r.Kept.Message)
	}
	if r.Failed != nil {
		words = append(words, "failed "+r.Failed.Change.Hash)
	}
	if r.Interrupted != nil {
		words = append(words, fmt.Sprint("interrupted ", r.Interrupted.Times))
	}
	if len(r.Targets) > 0 {
		words = append(words, "targets")
	}
	for subject, past := range r.Corrections {
		words = append(words, fmt.Sprintf("%s corrected %d, failed %d %s", subject, past.Times, past.Failures, past.Message))
	}
	return strings.Join(words, "; ")
}

func TestWhatIsRecordedOfATransactionThatEnded(t *testing.T) {
	known, err := ended(v1.TransactionCommitted, from("Revert", "a", "b"), "a", "b").After(journal.Record{})
	if err != nil {
		t.Fatal(err)
	}
	known.Committed.Hash = "h1"
	const stays = "; its configuration stays, as with onDelete: Retain"
	tried := func(times int32) func(*journal.Record) {
		return func(r *journal.Record) {
			r.Last = &v1.Transaction{Generation: 2, Attempts: times, Result: v1.TransactionRefused}
		}
	}
	wanted := func(desired json.RawMessage) func(*journal.Record) {
		return func(r *journal.Record) {
			committed := *r.Committed
			committed.Desired, r.Committed = desired, &committed
		}
	}
	const staysB = `stays {"interfaces":[{"mtu":8000,"name":"b","state":"up","type":"ethernet"}]}`
	same := func(*Ended) {}
	for sentence, c := range map[string]struct {
		ended  Ended
		before func(*journal.Record)
		want   string
		// mayBeInVain: what the node can do is asked for.
		mayBeInVain bool
	}{
		"a commit remembers what was there before the policy that comes": {
			ended: ended(v1.TransactionCommitted, from("Revert", "a", "b", "c"), "a", "b", "c"),
			want:  "committed h2; Committed; knows a; knows b; knows c",
		},
		"a commit forgets what was there before a policy that was undone": {
			ended: removal(v1.TransactionCommitted, same),
			want:  "committed h2; Committed; knows b",
		},
		"nothing is undone later of a policy that leaves what it set": {
			ended: ended(v1.TransactionCommitted, from("", "b"), "a", "b"),
			before: func(r *journal.Record) {
				committed := *r.Committed
				committed.Sources = from("", "a", "b")
				r.Committed = &committed
			},
			want: "committed h2; Committed; knows b",
		},
		"a commit ends what failed, was interrupted and was kept before it": {
			ended: ended(v1.TransactionCommitted, from("Revert", "a", "b"), "a", "b"),
			before: func(r *journal.Record) {
				r.Failed = &idle.Failed{Change: txn.Change{Hash: "h2"}}
				r.Interrupted = &idle.Interrupted{Hash: "h2", Times: 1}
				r.Kept = &journal.Kept{Hash: "h0", Message: "m"}
			},
			want: "committed h2; Committed; knows a; knows b",
		},
		"a removal whose configuration was kept is still that once the rest is committed": {
			ended:  removal(v1.TransactionCommitted, func(e *Ended) { e.Entry.Undo = false }),
			before: func(r *journal.Record) { r.Kept = &journal.Kept{Hash: "h2", Message: "m"} },
			want:   "committed h2; Committed; knows b; kept: m",
		},
		"a change that is rolled back leaves what is committed as it was": {
			ended: ended(v1.TransactionRolledBack, from("Revert", "a", "b", "c"), "a", "b", "c"),
			want:  "committed h1; RolledBack; attempt 1; knows a; knows b; failed h2; targets",
		},
		"the next attempt of it counts": {
			ended:  ended(v1.TransactionRolledBack, from("Revert", "a", "b", "c"), "a", "b", "c"),
			before: tried(3),
			want:   "committed h1; RolledBack; attempt 4; knows a; knows b; failed h2; targets",
		},
		"one that was interrupted is counted as that": {
			ended: func() Ended {
				e := ended(v1.TransactionRolledBack, from("Revert", "a", "b", "c"), "a", "b", "c")
				e.Outcome.Interrupted, e.Outcome.Change.Interrupted = true, 1
				return e
			}(),
			want: "committed h1; RolledBack; attempt 1; knows a; knows b; failed h2; interrupted 2; targets",
		},
		"one that is not wanted any more has not failed": {
			ended: ended(v1.TransactionSuperseded, from("Revert", "a", "b", "c"), "a", "b", "c"),
			want:  "committed h1; Superseded; again after 2s; knows a; knows b; targets",
		},
		"an undo that lost a probe is kept, and the rest is tried at once": {
			ended: removal(v1.TransactionRolledBack, func(e *Ended) { e.Outcome.Final = true }),
			want:  "committed h1; RolledBack; attempt 1; again after 0s; knows a; knows b; kept: undo of policy a: no answer" + stays + "; failed h2; targets",
		},
		"a removal that lost a probe is over, and what was there before the rest is known still": {
			ended: removal(v1.TransactionRolledBack, func(e *Ended) { e.Outcome.Final, e.Entry.Undo = true, false }),
			want:  "committed h2; RolledBack; attempt 1; again after 10m1s; knows b; kept: removal of policy a: no answer" + stays + "; failed h2; targets",
		},
		"what was said first of a removal that is kept is said on": {
			ended:  removal(v1.TransactionRolledBack, func(e *Ended) { e.Outcome.Final, e.Entry.Undo = true, false }),
			before: func(r *journal.Record) { r.Kept = &journal.Kept{Hash: "h2", Message: "m"} },
			want:   "committed h2; RolledBack; attempt 1; again after 10m1s; knows b; kept: m; failed h2; targets",
		},
		"what both policies had set stays beside the rest": {
			ended:  removal(v1.TransactionRolledBack, func(e *Ended) { e.Outcome.Final, e.Entry.Undo = true, false }),
			before: wanted(mtu(8000, "a", "b")),
			want:   "committed h2; RolledBack; attempt 1; again after 10m1s; knows b; " + staysB + "; kept: removal of policy a: no answer" + stays + "; failed h2; targets",
		},
		"it stays as long as nothing else is wanted of that interface": {
			ended: ended(v1.TransactionCommitted, from("Revert", "b", "c"), "b", "c"),
			before: func(r *journal.Record) {
				wanted(mtu(9000, "b"))(r)
				r.Stays = []byte(strings.TrimPrefix(staysB, "stays "))
			},
			want: "committed h2; Committed; knows b; knows c; " + staysB,
		},
		"and no longer": {
			ended: ended(v1.TransactionCommitted, from("Revert", "b"), "b"),
			before: func(r *journal.Record) {
				wanted(mtu(7000, "b"))(r)
				r.Stays = []byte(strings.TrimPrefix(staysB, "stays "))
			},
			want: "committed h2; Committed; knows b",
		},
		"a removal that was refused is tried again": {
			ended:  removal(v1.TransactionRefused, same),
			before: tried(3),
			want:   "committed h1; Refused; attempt 4; again after 8s; knows a; knows b; failed h2; targets",
		},
		"one that was refused too often is over where the node is free": {
			ended:       removal(v1.TransactionRefused, func(e *Ended) { e.Free = true }),
			before:      tried(4),
			want:        "committed h1; Refused; attempt 5; again after 0s; knows a; knows b; kept: undo of policy a: no answer" + stays + "; failed h2; targets",
			mayBeInVain: true,
		},
		"one that was refused too often is tried on where nothing can be changed": {
			ended:       removal(v1.TransactionRefused, same),
			before:      tried(7),
			want:        "committed h1; Refused; attempt 8; again after 2m15s; knows a; knows b; failed h2; targets",
			mayBeInVain: true,
		},
		"one that is not wanted any more is not over": {
			ended:  removal(v1.TransactionSuperseded, func(e *Ended) { e.Free = true }),
			before: tried(7),
			want:   "committed h1; Superseded; again after 2s; knows a; knows b; targets",
		},
		"a change that was refused as often is not": {
			ended: func() Ended {
				e := ended(v1.TransactionRefused, from("Revert", "a", "b", "c"), "a", "b", "c")
				e.Free = true
				return e
			}(),
			before: tried(7),
			want:   "committed h1; Refused; attempt 8; knows a; knows b; failed h2; targets",
		},
		"a correction is counted, and nothing else is touched": {
			ended: correction(v1.TransactionCommitted),
			want:  "committed h1; Committed; knows a; knows b; interfaces[a] corrected 1, failed 0 ",
		},
		"a correction that failed says why": {
			ended: correction(v1.TransactionRolledBack),
			want:  "committed h1; Committed; knows a; knows b; interfaces[a] corrected 1, failed 1 no answer",
		},
		"a correction that is not wanted any more counts for nothing": {
			ended: correction(v1.TransactionSuperseded),
			want:  "committed h1; Committed; knows a; knows b",
		},
	} {
		t.Run(sentence, func(t *testing.T) {
			before := known
			if c.before != nil {
				c.before(&before)
			}
			if got := c.ended.MayBeInVain(before); got != c.mayBeInVain {
				t.Errorf("it may be in vain: %t", got)
			}
			told := tell(before)
			after, err := c.ended.After(before)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(c.want, tell(after)); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
			if got := tell(before); got != told {
				t.Errorf("the record before has changed to %s", got)
			}
		})
	}
}

func correction(result v1.TransactionResult) Ended {
	e := ended(result, from("Revert", "a", "b"), "a", "b")
	e.Entry.Correction, e.Outcome.Message = []string{"interfaces[a]"}, "no answer"
	return e
}

// What was there before that cannot be read is no reason to forget what the node has.
func TestWhereOriginalsCannotBeReadThePolicyIsCommittedAndNothingOfItIsEverUndone(t *testing.T) {
	e := ended(v1.TransactionCommitted, from("Revert", "a"), "a")
	after, err := e.After(journal.Record{Originals: json.RawMessage(`[]`)})
	if err == nil {
		t.Error("nothing says so")
	}
	if after.Committed == nil || after.Committed.Hash != "h2" || after.Last == nil || after.Originals != nil {
		t.Errorf("the record: %s, originals %s", tell(after), after.Originals)
	}
}

func TestWhatIsToldOfATransactionIsBounded(t *testing.T) {
	long := strings.Repeat("x", 100_000)
	var awaits []string
	for i := range 1500 {
		awaits = append(awaits, fmt.Sprintf("eth%d", i))
	}
	e := ended(v1.TransactionRefused, nil)
	e.Outcome.Message, e.Outcome.Differences, e.Outcome.Awaits = long, []string{long}, awaits
	last := e.last(journal.Record{})
	if len(last.Message) > idle.MaxMessage || len(last.Differences[0]) > idle.MaxMessage || len(last.Awaits) != MaxAwaits {
		t.Errorf("%d bytes of message, %d of a difference, %d interfaces", len(last.Message), len(last.Differences[0]), len(last.Awaits))
	}
	e = ended(v1.TransactionCommitted, nil)
	e.Entry.NotVerified = awaits
	if got := e.last(journal.Record{}).NotVerified; len(got) != 21 || got[20] != "and 1480 more" {
		t.Errorf("%d lines say what is not verified", len(got))
	}
}
