package host

import (
	"encoding/json"
	"errors"
	"fmt"

	"github.com/nmstate/kubernetes-nmstate/handler/journal"
	"github.com/nmstate/kubernetes-nmstate/handler/profiles"
	"github.com/nmstate/kubernetes-nmstate/handler/txn"
	"github.com/nmstate/kubernetes-nmstate/sim/world"
)

// disk is what survives crashes, restarts and power cuts: the journal's files.
type disk struct {
	entry, record []byte
	// decoded is the entry, once somebody looked; phase is what it says.
	decoded *journal.Entry
	phase   txn.Phase
	// armed are the files when the entry came, unsaved what Host.Unsaved told then,
	// for oracles.
	armed   profiles.Files
	unsaved []string
}

// Journal is the port handler/journal.Journal of a process. What Save and Close
// have returned of survives.
func (h *Host) Journal(p *world.Process) journal.Journal { return journalPort{h, p} }

// Entry is the open transaction on the disk, for oracles, which change nothing in it; nil
// for none.
func (h *Host) Entry() *journal.Entry {
	if h.disk.decoded == nil {
		h.disk.decoded = h.readEntry()
	}
	return h.disk.decoded
}

func (h *Host) readEntry() *journal.Entry {
	if h.disk.entry == nil {
		return nil
	}
	var entry journal.Entry
	if err := json.Unmarshal(h.disk.entry, &entry); err != nil {
		panic(fmt.Sprintf("host %s: its own journal: %v", h.Name, err))
	}
	return &entry
}

// Record is what the disk holds of what outlives a transaction, for oracles.
func (h *Host) Record() journal.Record {
	var record journal.Record
	if h.disk.record == nil {
		return record
	}
	if err := json.Unmarshal(h.disk.record, &record); err != nil {
		panic(fmt.Sprintf("host %s: its own journal: %v", h.Name, err))
	}
	return record
}

// ForgetJournal takes away what a handler has on the disk, as nobody of ours had been there.
func (h *Host) ForgetJournal() { h.disk = disk{} }

// Phase that the journal tells: Idle where none is open.
func (h *Host) Phase() txn.Phase {
	if h.disk.entry == nil {
		return txn.Idle
	}
	return h.disk.phase
}

// JournalOpen tells whether a transaction is open on the disk.
func (h *Host) JournalOpen() bool { return h.disk.entry != nil }

type journalPort struct {
	host    *Host
	process *world.Process
}

func (j journalPort) call(verb string, do func() error) error {
	err := j.process.Call(background{}, "journal", verb, j.host.Name, do)
	if errors.Is(err, world.ErrFailed) || errors.Is(err, world.ErrLost) {
		return fmt.Errorf("writing the journal: input/output error: %w", err)
	}
	return err
}

// Load implements journal.Journal.
func (j journalPort) Load() (entry *journal.Entry, err error) {
	err = j.call("load", func() error { entry = j.host.readEntry(); return nil })
	return entry, err
}

// Save implements journal.Journal.
func (j journalPort) Save(entry journal.Entry) error {
	raw, err := json.Marshal(entry)
	if err != nil {
		return fmt.Errorf("encoding the journal: %w", err)
	}
	return j.call("save", func() error {
		if err := j.host.full(); err != nil {
			return err
		}
		if j.host.disk.entry == nil {
			j.host.disk.armed, j.host.disk.unsaved = j.host.Files(), j.host.Unsaved()
		}
		j.host.disk.entry, j.host.disk.decoded, j.host.disk.phase = raw, nil, entry.Transaction.Phase
		return nil
	})
}

// Close implements journal.Journal.
func (j journalPort) Close(record journal.Record) error {
	raw, err := json.Marshal(record)
	if err != nil {
		return fmt.Errorf("encoding the record: %w", err)
	}
	// Two steps on the disk, so that a crash may come between them.
	err = j.call("record", func() error {
		if err := j.host.full(); err != nil {
			return err
		}
		j.host.disk.record = raw
		return nil
	})
	if err != nil {
		return err
	}
	return j.call("close", func() error { j.host.disk.entry, j.host.disk.decoded = nil, nil; return nil })
}

// Record implements journal.Journal.
func (j journalPort) Record() (record journal.Record, err error) {
	err = j.call("read", func() error { record = j.host.Record(); return nil })
	return record, err
}
