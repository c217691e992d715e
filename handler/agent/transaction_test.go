package agent

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	v1 "github.com/nmstate/kubernetes-nmstate/api/v1"
	"github.com/nmstate/kubernetes-nmstate/handler/idle"
	"github.com/nmstate/kubernetes-nmstate/handler/journal"
	"github.com/nmstate/kubernetes-nmstate/handler/state"
	"github.com/nmstate/kubernetes-nmstate/handler/txn"
)

func TestWhatIsInTheJournalBeforeItIsDone(t *testing.T) {
	t.Parallel()
	full := errors.New("no space left on device")
	probing := txn.State{Phase: txn.Probing, Checkpoint: "/1", Waiting: []string{txn.Foreign}}
	undoing := txn.State{Phase: txn.RollingBack, Lost: true, Cause: &txn.Cause{Message: "why"}}
	left := txn.State{Phase: txn.Applying, Checkpoint: "/1"}
	for sentence, c := range map[string]struct {
		is    txn.State
		event txn.Event
		err   error
		want  string
	}{
		"a change that begins changes nothing yet":                  {txn.State{Phase: txn.Idle}, txn.Wanted{}, full, "Baseline, not written"},
		"that it is applied is written first":                       {txn.State{Phase: txn.Arming}, txn.Armed{}, nil, "Applying, written"},
		"on a full disk it is not applied":                          {txn.State{Phase: txn.Arming}, txn.Armed{}, full, "Idle, written in vain"},
		"the name of its checkpoint is written":                     {txn.State{Phase: txn.Applying}, txn.CheckpointMade{Checkpoint: "/1"}, nil, "Applying, written"},
		"what is on the node is there on a full disk as well":       {txn.State{Phase: txn.Applying}, txn.CheckpointMade{Checkpoint: "/1"}, full, "Applying, written in vain, the older entry serves"},
		"that it is proven is written before it is made permanent":  {probing, txn.ProbePassed{Name: txn.Foreign}, nil, "Committing, written"},
		"on a full disk it is taken back, and nothing was lost yet": {probing, txn.ProbePassed{Name: txn.Foreign}, full, "RollingBack, written in vain, intact"},
		"what is seen as the way back begins is written":            {undoing, txn.Seen{}, nil, "RollingBack, written"},
		"what an earlier process left is taken back without a disk": {txn.State{Phase: txn.Idle}, txn.Recovered{Journal: left, Alive: true}, full, "RollingBack, written in vain, the older entry serves"},
		"a probe that passes before the last one is no news":        {txn.State{Phase: txn.Probing, Waiting: []string{"dns", "ping"}}, txn.ProbePassed{Name: "dns"}, nil, "Probing, not written"},
	} {
		t.Run(sentence, func(t *testing.T) {
			tr := transaction{State: c.is}
			written := "not written"
			effects, old := tr.step(c.event, func() time.Time { return time.Unix(1_000_000, 0) }, func(entry journal.Entry) error {
				written = "written"
				if c.err != nil {
					written = "written in vain"
				} else if entry.Transaction.Phase != tr.entry.Transaction.Phase {
					t.Errorf("the entry is of phase %s", entry.Transaction.Phase)
				}
				return c.err
			})
			words := []string{string(tr.Phase), written}
			if old != nil {
				words = append(words, "the older entry serves")
			}
			if slices.Contains(effects, txn.Effect(txn.Rollback{Intact: true})) {
				words = append(words, "intact")
			}
			if got := strings.Join(words, ", "); got != c.want {
				t.Errorf("got %s, want %s", got, c.want)
			}
		})
	}
}

func TestATransactionThatBeginsIsToldOfAnew(t *testing.T) {
	t.Parallel()
	now := time.Unix(1_000_000, 0)
	nowhere := func(journal.Entry) error { return nil }
	tr := transaction{State: txn.State{Phase: txn.Idle}}
	tr.telling.Known = txn.Progress{Phase: txn.Committing}
	if _, err := tr.step(txn.Wanted{Change: txn.Change{Generation: 3}}, func() time.Time { return now }, nowhere); err != nil {
		t.Fatal(err)
	}
	if tr.telling.Known.Phase != "" || !tr.telling.Begun.Equal(now) || tr.about().Generation != 3 {
		t.Errorf("of generation %d is known: %+v", tr.about().Generation, tr.telling.Telling)
	}
	tr.entry.Transaction.Change.Generation = 3
	if _, err := tr.step(txn.Unwanted{}, func() time.Time { return now.Add(time.Second) }, nowhere); err != nil {
		t.Fatal(err)
	}
	if tr.Running() || !tr.telling.Begun.Equal(now) || tr.about().Generation != 3 {
		t.Errorf("after its end it is generation %d, begun %s", tr.about().Generation, tr.telling.Begun)
	}
}

func TestWhatComesWithAnEventIsTaken(t *testing.T) {
	t.Parallel()
	var tr transaction
	var r reads
	armed, seen := journal.Entry{BootID: "b"}, reading{changes: 7}
	for _, l := range []letter{{entry: &armed}, {notVerified: []string{"one"}}, {shown: &seen}, {notVerified: []string{"two"}}, {toCome: &[]string{"a lease", "an address"}}, {toCome: &[]string{"a lease"}}, {}} {
		tr.hear(l)
		r.hear(l)
	}
	if tr.entry.BootID != "b" || !slices.Equal(tr.entry.NotVerified, []string{"one", "two"}) || !slices.Equal(tr.entry.ToCome, []string{"a lease"}) {
		t.Errorf("entry: %+v", tr.entry)
	}
	if got := r.back(); got == nil || got.changes != 7 || r.back() != nil {
		t.Errorf("what was read back serves once: %+v", got)
	}
}

func TestWhatWasReadServesAChangeOnceAndOnlyWhereNothingWasHeardSince(t *testing.T) {
	t.Parallel()
	read := state.FromTree(map[string]any{"interfaces": []any{map[string]any{"name": "br0", "type": "dummy", "state": "up"}}})
	for sentence, c := range map[string]struct {
		had, now *latest
		change   string
		want     bool
	}{
		"nothing was heard since":            {&latest{read, 5}, &latest{heard: 5}, `{"interfaces": [{"name": "br0", "type": "dummy", "state": "absent"}]}`, true},
		"something was heard":                {&latest{read, 5}, &latest{heard: 6}, `{"interfaces": [{"name": "br0", "type": "dummy", "state": "absent"}]}`, false},
		"nobody listens to all that is told": {&latest{read, 5}, nil, `{"interfaces": [{"name": "br0", "type": "dummy", "state": "absent"}]}`, false},
		"nothing was read":                   {nil, &latest{heard: 5}, `{"interfaces": [{"name": "br0", "type": "dummy", "state": "absent"}]}`, false},
		"the change cannot be read":          {&latest{read, 5}, &latest{heard: 5}, `{`, false},
	} {
		t.Run(sentence, func(t *testing.T) {
			r := reads{latest: c.had}
			if got := r.unchanged([]byte(c.change), c.now) != nil; got != c.want {
				t.Errorf("got %t", got)
			}
			if r.unchanged([]byte(c.change), c.now) != nil {
				t.Error("it serves twice, though the change before may have left something else")
			}
		})
	}
}

func TestWhichTransactionIsTold(t *testing.T) {
	t.Parallel()
	now := time.Unix(1_000_000, 0)
	of := func(phase txn.Phase) transaction {
		return transaction{
			State: txn.State{Phase: phase, Change: txn.Change{Generation: 3}},
			entry: journal.Entry{Since: now, Transaction: txn.State{Change: txn.Change{Generation: 3}}},
		}
	}
	tried := of(txn.Probing)
	tried.telling = telling{Telling: txn.NewTelling(now).Try(now)}
	waiting := of(txn.Idle)
	waiting.waiting = &v1.Transaction{Generation: 3, Phase: v1.PhaseWaiting}
	last := func(generation int64) *v1.Transaction {
		return &v1.Transaction{Generation: generation, Phase: string(txn.Idle), Since: *idle.InSeconds(now), Attempts: 4}
	}
	left := leftover{entry: &journal.Entry{Since: now, Transaction: txn.State{Change: txn.Change{Generation: 3}}}}
	underWay := &v1.Transaction{Generation: 3, Phase: string(txn.Probing), Since: *idle.InSeconds(now)}
	older := &v1.Transaction{Generation: 2, Phase: string(txn.Probing), Since: *idle.InSeconds(now.Add(-time.Hour))}
	for sentence, c := range map[string]struct {
		is       transaction
		ledger   ledger
		reported *v1.Transaction
		want     string
	}{
		"nothing has ever happened":                                     {is: transaction{State: txn.State{Phase: txn.Idle}}, want: "nothing"},
		"the last one, where none runs":                                 {is: transaction{State: txn.State{Phase: txn.Idle}}, ledger: ledger{Record: journal.Record{Last: last(2)}}, want: "2 Idle"},
		"the last one, as long as nobody may know of the one that runs": {is: of(txn.Probing), ledger: ledger{Record: journal.Record{Last: last(2)}}, want: "2 Idle"},
		"the one that runs, once somebody may know of it":               {is: tried, ledger: ledger{Record: journal.Record{Last: last(2)}}, want: "3 Probing"},
		"the one that waits":                                            {is: waiting, ledger: ledger{Record: journal.Record{Last: last(2)}}, want: "3 Waiting"},
		"what an earlier process left, as that has told it":             {is: transaction{State: txn.State{Phase: txn.Idle}}, ledger: ledger{left: left, Record: journal.Record{Last: last(2)}}, reported: underWay, want: "3 Probing"},
		"the last one, where the earlier process told of another one":   {is: transaction{State: txn.State{Phase: txn.Idle}}, ledger: ledger{left: left, Record: journal.Record{Last: last(2)}}, reported: older, want: "2 Idle"},
		"how it ended, where only its entry was not closed":             {is: transaction{State: txn.State{Phase: txn.Idle}}, ledger: ledger{left: left, Record: journal.Record{Last: last(3)}}, reported: underWay, want: "3 Idle"},
	} {
		t.Run(sentence, func(t *testing.T) {
			got := "nothing"
			if told := c.is.toTell(&c.ledger, c.reported, "node1"); told != nil {
				got = fmt.Sprint(told.Generation, " ", told.Phase)
			}
			if got != c.want {
				t.Errorf("got %s, want %s", got, c.want)
			}
		})
	}
	if told := tried.running(last(3), "node1"); told.Attempts != 4 {
		t.Errorf("it is attempt %d of the same generation", told.Attempts)
	}
}
