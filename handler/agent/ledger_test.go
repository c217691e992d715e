package agent

import (
	"errors"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	v1 "github.com/nmstate/kubernetes-nmstate/api/v1"
	"github.com/nmstate/kubernetes-nmstate/handler/idle"
	"github.com/nmstate/kubernetes-nmstate/handler/journal"
	"github.com/nmstate/kubernetes-nmstate/handler/profiles"
	"github.com/nmstate/kubernetes-nmstate/handler/txn"
)

// fullDisk is a journal that cannot be closed as long as its disk is full.
type fullDisk struct {
	journal.Journal
	full *atomic.Bool
	// refused is how often.
	refused *atomic.Int32
}

func (f fullDisk) Close(record journal.Record) error {
	if f.full.Load() {
		f.refused.Add(1)
		return errors.New("no space left on device")
	}
	return f.Journal.Close(record)
}

// An open entry of what was committed would have the next handler take it back, so
// nobody is told before that it was.
func TestWhatWasCommittedIsToldOnceTheDiskHasIt(t *testing.T) {
	t.Parallel()
	n := newNode(t)
	var full atomic.Bool
	var refused atomic.Int32
	full.Store(true)
	a, _ := n.handler(func(o *Options) { o.Journal = fullDisk{o.Journal, &full, &refused} })
	n.want(2, "p", "br0")
	n.until("the journal could not be closed, and a turn has come to its end", func() bool {
		a.poke()
		return refused.Load() > 3
	})
	if nns := n.get(); nns.Status.Transaction != nil && nns.Status.Transaction.Result == v1.TransactionCommitted || len(nns.Status.AppliedSources) > 0 {
		t.Errorf("told too early: %+v", nns.Status)
	}
	full.Store(false)
	if got := n.outcome(2); got.Result != v1.TransactionCommitted {
		t.Errorf("outcome = %+v", got)
	}
	files, err := journal.NewFiles(n.dir)
	if err != nil {
		t.Fatal(err)
	}
	if entry, err := files.Load(); err != nil || entry != nil {
		t.Errorf("the journal is open: %v, %v", entry, err)
	}
}

// What failed is told at once: that the disk is full is why.
func TestWhatFailedForAFullDiskIsTold(t *testing.T) {
	t.Parallel()
	n := newNode(t)
	var full atomic.Bool
	full.Store(true)
	n.handler(func(o *Options) { o.Journal = fullDisk{o.Journal, &full, new(atomic.Int32)} })
	n.want(2, "p", "cut")
	if got := n.outcome(2); got.Result != v1.TransactionRolledBack {
		t.Errorf("outcome = %+v", got)
	}
}

// A policy that only gets another name changes nothing on the node, and still its name
// is to be on the disk.
func TestWhereWhatIsCommittedComesFromIsToldOnceTheDiskHasIt(t *testing.T) {
	t.Parallel()
	n := newNode(t)
	var full atomic.Bool
	var refused atomic.Int32
	a, _ := n.handler(func(o *Options) { o.Journal = fullDisk{o.Journal, &full, &refused} })
	n.want(2, "p", "br0")
	n.outcome(2)
	full.Store(true)
	n.want(3, "renamed", "br0")
	n.until("the record could not be written, and a turn has come to its end", func() bool {
		a.poke()
		return refused.Load() > 3
	})
	if got := n.get().Status.AppliedSources; len(got) != 1 || got[0].Policy != "p" {
		t.Errorf("told too early: %+v", got)
	}
	full.Store(false)
	n.outcome(3)
	files, err := journal.NewFiles(n.dir)
	if err != nil {
		t.Fatal(err)
	}
	if record, err := files.Record(); err != nil || record.Committed == nil || record.Committed.Sources[0].Policy != "renamed" {
		t.Errorf("the record: %+v, %v", record.Committed, err)
	}
}

// What the node has already is committed without a trial, and told no sooner.
func TestWhatIsCommittedWithoutATrialIsToldOnceTheDiskHasIt(t *testing.T) {
	t.Parallel()
	n := newNode(t)
	var full atomic.Bool
	var refused atomic.Int32
	a, _ := n.handler(func(o *Options) { o.Journal = fullDisk{o.Journal, &full, &refused} })
	n.want(2, "p", "br0", "br1")
	n.outcome(2)
	full.Store(true)
	n.want(3, "p", "br0")
	n.until("the record could not be written, and a turn has come to its end", func() bool {
		a.poke()
		return refused.Load() > 3
	})
	if got := n.get().Status.Transaction; got.Generation != 2 {
		t.Errorf("told too early: %+v", got)
	}
	full.Store(false)
	if got := n.outcome(3); got.Result != v1.TransactionCommitted {
		t.Errorf("outcome = %+v", got)
	}
}

// closesAfter is a journal that notes what was done on the host before it was closed.
type closesAfter struct {
	journal.Journal
	done   *[]profiles.Verb
	before *[]profiles.Verb
}

func (c closesAfter) Close(record journal.Record) error {
	*c.before = slices.Clone(*c.done)
	return c.Journal.Close(record)
}

// Once the journal is closed, nobody looks after what the way back left behind.
func TestWhatAWayBackThatIsGivenUpLeavesIsFlushedBeforeTheJournalCloses(t *testing.T) {
	t.Parallel()
	n := newNode(t)
	var done, before []profiles.Verb
	a, kill := n.handler(func(o *Options) { o.Journal = closesAfter{o.Journal, &done, &before} })
	kill()
	a.Backend = noted{host: n.host, done: &done}
	a.txn.entry = journal.Entry{Profiles: &profiles.Snapshot{}}
	a.finish(t.Context(), txn.Outcome{Result: v1.TransactionRollbackIncomplete})
	if !slices.Equal(before, []profiles.Verb{profiles.Sync}) {
		t.Errorf("before the journal was closed: %v", before)
	}
}

// The next change flushes its own files only, and so begins after that.
func TestAsLongAsWhatAWayBackLeavesCannotBeFlushedTheJournalStaysOpen(t *testing.T) {
	t.Parallel()
	n := newNode(t)
	a, kill := n.handler()
	kill()
	files, err := journal.NewFiles(n.dir)
	if err != nil {
		t.Fatal(err)
	}
	works := noted{host: n.host, done: new([]profiles.Verb)}
	fails := works
	fails.fails, fails.with = profiles.Sync, errors.New("input/output error")
	a.Journal, a.Backend = files, fails
	a.txn.entry = journal.Entry{Profiles: &profiles.Snapshot{}}
	a.finish(t.Context(), txn.Outcome{Result: v1.TransactionRollbackIncomplete})
	if a.closeJournal(t.Context()) || !a.Busy() {
		t.Error("the journal was closed")
	}
	a.Backend = works
	if !a.closeJournal(t.Context()) {
		t.Error("the journal was not closed")
	}
}

// diesInClose is a journal whose power goes between the two steps of closing it.
type diesInClose struct{ journal.Journal }

func (d diesInClose) Close(record journal.Record) error {
	entry, err := d.Load()
	if err == nil {
		err = d.Journal.Close(record)
	}
	if err == nil && entry != nil {
		err = d.Save(*entry)
	}
	return errors.Join(err, errors.New("the power goes"))
}

// What the record says was committed is over, though its entry is still there. What
// a hand takes away of it meanwhile is drift.
func TestWhatIsRecordedAsCommittedIsNotTakenBackByTheNextHandler(t *testing.T) {
	t.Parallel()
	n := newNode(t)
	a, kill := n.handler(func(o *Options) { o.Journal = diesInClose{o.Journal} })
	n.want(2, "p", "br0")
	n.until("the commit is recorded, and the entry is there", func() bool {
		entry, err := n.open(t)
		return err == nil && entry != nil && n.record().Last != nil
	})
	a.turn.Lock() // No other turn closes it once more.
	kill()
	a.turn.Unlock()
	n.host.mu.Lock()
	delete(n.host.interfaces, "br0") // A hand.
	n.host.mu.Unlock()
	n.handler()
	if got := n.outcome(2); got.Result != v1.TransactionCommitted {
		t.Errorf("outcome = %+v", got)
	}
	n.until("the journal is closed", func() bool {
		entry, err := n.open(t)
		return err == nil && entry == nil
	})
	if got := n.record(); got.Last.Result != v1.TransactionCommitted || len(got.History) > 0 && got.History[0].Result != v1.TransactionCommitted {
		t.Errorf("it was taken back: %+v", got)
	}
}

// paper is a journal in memory, with errors.
type paper struct {
	entry                       *journal.Entry
	record                      journal.Record
	entryErr, recordErr, closes error
}

func (p paper) Load() (*journal.Entry, error)   { return p.entry, p.entryErr }
func (p paper) Record() (journal.Record, error) { return p.record, p.recordErr }
func (p paper) Save(journal.Entry) error        { return nil }
func (p paper) Close(journal.Record) error      { return p.closes }

func TestWhatALedgerHasOfAJournal(t *testing.T) {
	t.Parallel()
	now := time.Unix(1_000_000, 0)
	last := &v1.Transaction{Result: v1.TransactionCommitted, Generation: 7, Since: *idle.InSeconds(now)}
	committed := journal.Record{Last: last, Committed: &journal.Committed{Hash: "h"}}
	open := journal.Entry{Since: now, Transaction: txn.State{Proven: true, Change: txn.Change{Generation: 8, Hash: "h"}}}
	over := open
	over.Transaction.Change.Generation = 7
	broken := errors.New("input/output error")
	for sentence, c := range map[string]struct {
		journal paper
		want    string
	}{
		"nothing was ever written":                      {paper{}, "settled"},
		"an outcome may not have been told":             {paper{record: committed}, "untold"},
		"an entry is open, which Recover takes back":    {paper{record: committed, entry: &open}, "untold, left"},
		"an entry is over, and only has to be closed":   {paper{record: committed, entry: &over}, "untold, over, to be closed"},
		"the record cannot be read":                     {paper{recordErr: journal.ErrUnreadable}, "left, unread"},
		"the entry cannot be read, and the record says": {paper{record: committed, entryErr: journal.ErrUnreadable}, "untold, left, unread"},
		"neither can be read":                           {paper{recordErr: journal.ErrUnreadable, entryErr: journal.ErrUnreadable}, "left, unread"},
		"the disk fails as the record is read":          {paper{recordErr: broken}, broken.Error()},
		"the disk fails as the entry is read":           {paper{entryErr: broken}, broken.Error()},
	} {
		t.Run(sentence, func(t *testing.T) {
			var l ledger
			ended, err := l.load(c.journal, now)
			var got []string
			for _, word := range []struct {
				said bool
				word string
			}{
				{l.isSettled() && err == nil, "settled"}, {l.untold, "untold"}, {l.left.is(), "left"}, {ended != nil, "over"},
				{l.closing == unstored, "to be closed"}, {l.unread(now) != "", "unread"},
			} {
				if word.said {
					got = append(got, word.word)
				}
			}
			if err != nil {
				got = []string{err.Error()}
			}
			if strings.Join(got, ", ") != c.want {
				t.Errorf("got %s, want %s", got, c.want)
			}
		})
	}
}

func TestALedgerIsSettledOnceTheDiskAndTheAPIServerHaveIt(t *testing.T) {
	t.Parallel()
	var l ledger
	l.end(journal.Record{Last: &v1.Transaction{Generation: 2}}, unstored)
	if err := l.write(paper{closes: errors.New("no space left on device")}); err == nil || l.closing != unstored {
		t.Errorf("it is stored on a full disk: %v", err)
	}
	if err := l.write(paper{}); err != nil || l.closing != stored {
		t.Errorf("it is not stored: %v", err)
	}
	if l.isSettled() {
		t.Error("nobody was told, and it is settled")
	}
	if l.untold = false; !l.isSettled() {
		t.Error("all is stored and told, and it is not settled")
	}
	if err := l.write(paper{closes: errors.New("it was closed again")}); err != nil {
		t.Error(err)
	}
}
