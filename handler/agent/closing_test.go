package agent

import (
	"errors"
	"sync/atomic"
	"testing"

	v1 "github.com/nmstate/kubernetes-nmstate/api/v1"
	"github.com/nmstate/kubernetes-nmstate/handler/journal"
)

// fullDisk is a journal that cannot be closed as long as its disk is full.
type fullDisk struct {
	journal.Journal
	full *atomic.Bool
}

func (f fullDisk) Close(record journal.Record) error {
	if f.full.Load() {
		return errors.New("no space left on device")
	}
	return f.Journal.Close(record)
}

// An open entry of what was committed would have the next handler take it back.
func TestAJournalThatCouldNotBeClosedIsClosedLater(t *testing.T) {
	n := newNode(t)
	var full atomic.Bool
	full.Store(true)
	n.handler(func(o *Options) { o.Journal = fullDisk{o.Journal, &full} })
	n.want(2, "p", "br0")
	if got := n.outcome(2); got.Result != v1.TransactionCommitted {
		t.Fatalf("outcome = %+v", got)
	}
	files, err := journal.NewFiles(n.dir)
	if err != nil {
		t.Fatal(err)
	}
	if entry, err := files.Load(); err != nil || entry == nil {
		t.Fatalf("the journal is closed: %v, %v", entry, err)
	}
	full.Store(false)
	n.until("the journal is closed", func() bool { entry, err := files.Load(); return err == nil && entry == nil })
}
