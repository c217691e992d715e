package journal

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	v1 "github.com/nmstate/kubernetes-nmstate/api/v1"
	"github.com/nmstate/kubernetes-nmstate/handler/txn"
)

func open(t *testing.T, dir string) *Files {
	t.Helper()
	files, err := NewFiles(dir)
	if err != nil {
		t.Fatal(err)
	}
	return files
}

func TestAnEntryIsThereForTheNextProcessUntilItIsClosed(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "made")
	entry := Entry{
		Transaction: txn.State{Phase: txn.Probing, Checkpoint: "/cp/1", Guards: []string{"dns"}},
		BootID:      "boot", Instance: ":1.5", Desired: []byte(`{"a":1}`), Change: []byte(`{}`), Before: []byte(`{}`), Revert: []byte(`{}`),
	}
	if err := open(t, dir).Save(entry); err != nil {
		t.Fatal(err)
	}
	got, err := open(t, dir).Load()
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(&entry, got); diff != "" {
		t.Fatalf("loaded entry differs (-saved +loaded):\n%s", diff)
	}

	record := Record{Committed: &Committed{Hash: "h", Desired: []byte(`{"a":1}`)}, Last: &v1.Transaction{Generation: 3, Result: v1.TransactionCommitted}}
	if err := open(t, dir).Close(record); err != nil {
		t.Fatal(err)
	}
	if got, err := open(t, dir).Load(); got != nil || err != nil {
		t.Fatalf("after Close: entry %v, error %v", got, err)
	}
	stored, err := open(t, dir).Record()
	if err != nil {
		t.Fatal(err)
	}
	if stored.Committed.Hash != "h" || stored.Last.Generation != 3 {
		t.Fatalf("record = %+v", stored)
	}
}

func TestAFreshFolderHoldsNothing(t *testing.T) {
	files := open(t, t.TempDir())
	if entry, err := files.Load(); entry != nil || err != nil {
		t.Fatalf("entry %v, error %v", entry, err)
	}
	if record, err := files.Record(); record.Committed != nil || err != nil {
		t.Fatalf("record %v, error %v", record, err)
	}
	if err := files.Close(Record{}); err != nil {
		t.Fatalf("closing what is not open: %v", err)
	}
}

func TestAHalfWrittenTemporaryFileDoesNotCount(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "."+entryFile), []byte("{half"), 0o600); err != nil {
		t.Fatal(err)
	}
	if entry, err := open(t, dir).Load(); entry != nil || err != nil {
		t.Fatalf("entry %v, error %v", entry, err)
	}
}

// An update of the handler finds what the version before it left on the node. A
// folder of testdata is what a version wrote; it is added to and never changed.
func TestWhatAnOlderVersionLeftIsRead(t *testing.T) {
	folders, err := filepath.Glob("testdata/*")
	if err != nil || len(folders) == 0 {
		t.Fatalf("found no files of older versions: %v", err)
	}
	for _, folder := range folders {
		entry, err := open(t, folder).Load()
		if err != nil || entry == nil {
			t.Fatalf("%s: entry %v, error %v", folder, entry, err)
		}
		state := entry.Transaction
		if !state.Open() || state.Change.Policy != "bridge" || state.Change.RollbackAfter() != 3*time.Minute+30*time.Second ||
			state.Checkpoint == "" || entry.BootID != "6f2a" || entry.Instance != ":1.5" || entry.Sources[0].Policy != "bridge" || !strings.Contains(string(entry.Revert), "absent") {
			t.Errorf("%s: the open transaction was read as %+v", folder, entry)
		}
		record, err := open(t, folder).Record()
		if err != nil {
			t.Fatalf("%s: %v", folder, err)
		}
		if record.Committed.Hash != "51c0" || record.Last.Generation != 6 || !strings.Contains(string(record.Originals), "1500") ||
			record.Corrections["interfaces[eth1]"].Times != 2 {
			t.Errorf("%s: the record was read as %+v", folder, record)
		}
	}
}
