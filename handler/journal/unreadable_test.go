package journal

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/nmstate/kubernetes-nmstate/handler/txn"
)

func put(t *testing.T, dir, name, content string) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(dir, name), []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
}

func names(t *testing.T, dir string) (found []string) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, entry := range entries {
		found = append(found, entry.Name())
	}
	return found
}

func TestAnEntryThatIsNotUnderstoodIsNamedAndStaysUntilTheNextWrite(t *testing.T) {
	for sentence, test := range map[string]struct{ content, says string }{
		"it was cut short":                 {`{"transaction":{"phase":"Prob`, "unexpected end"},
		"it is empty":                      {``, "unexpected end"},
		"it is zeros":                      {"\x00\x00\x00\x00", "invalid character"},
		"it is another document":           {`{"kind":"Pod"}`, `phase ""`},
		"it is null":                       {`null`, `phase ""`},
		"a value has another type":         {`{"transaction":{"phase":7}}`, "cannot unmarshal"},
		"its transaction is not open":      {`{"transaction":{"phase":"Idle"}}`, `phase "Idle"`},
		"it names a phase of another time": {`{"transaction":{"phase":"Levitating"}}`, `phase "Levitating"`},
		"a newer handler wrote it":         {`{"version":9,"transaction":{"phase":"Probing"}}`, "it has version 9, this handler knows up to 2"},
		"a newer handler wrote it with other types": {
			`{"version":9,"transaction":"probing"}`, "it has version 9, this handler knows up to 2",
		},
	} {
		t.Run(sentence, func(t *testing.T) {
			dir := t.TempDir()
			put(t, dir, entryFile, test.content)
			files := open(t, dir)
			entry, err := files.Load()
			if entry != nil || !errors.Is(err, ErrUnreadable) || !strings.Contains(err.Error(), test.says) || !strings.Contains(err.Error(), filepath.Join(dir, entryFile)) {
				t.Fatalf("entry %v, error %v; want one that names the file and says %q", entry, err, test.says)
			}
			if got := names(t, dir); !slices.Equal(got, []string{entryFile}) {
				t.Fatalf("after reading: %v", got)
			}
			if err := files.Close(Record{}); err != nil {
				t.Fatal(err)
			}
			if got := names(t, dir); !slices.Equal(got, []string{"journal.json.unreadable", recordFile}) {
				t.Errorf("after closing: %v", got)
			}
			if entry, err := open(t, dir).Load(); entry != nil || err != nil {
				t.Errorf("the next handler finds entry %v, error %v", entry, err)
			}
		})
	}
}

func TestAFileThatCannotBeOpenedIsKeptToo(t *testing.T) {
	dir := t.TempDir()
	if err := os.Mkdir(filepath.Join(dir, entryFile), 0o700); err != nil {
		t.Fatal(err)
	}
	files := open(t, dir)
	if _, err := files.Load(); !errors.Is(err, ErrUnreadable) {
		t.Fatalf("error = %v", err)
	}
	if err := files.Save(Entry{Transaction: txn.State{Phase: txn.Applying}}); err != nil {
		t.Fatal(err)
	}
	if got := names(t, dir); !slices.Equal(got, []string{entryFile, "journal.json.unreadable"}) {
		t.Errorf("after the next transaction began: %v", got)
	}
}

func TestARecordThatIsNotUnderstoodIsEmptyAndKept(t *testing.T) {
	dir := t.TempDir()
	put(t, dir, recordFile, `{"committed":{"hash":"h"},"last":[]}`)
	files := open(t, dir)
	record, err := files.Record()
	if record.Committed != nil || !errors.Is(err, ErrUnreadable) {
		t.Fatalf("record %+v, error %v", record, err)
	}
	if err := files.Close(Record{Committed: &Committed{Hash: "next"}}); err != nil {
		t.Fatal(err)
	}
	if got := names(t, dir); !slices.Equal(got, []string{recordFile, "record.json.unreadable"}) {
		t.Errorf("after closing: %v", got)
	}
	if record, err := open(t, dir).Record(); err != nil || record.Committed.Hash != "next" {
		t.Errorf("the next handler finds %+v, error %v", record, err)
	}
}

func TestOnlyTheNewestUnreadableFilesAreKept(t *testing.T) {
	dir := t.TempDir()
	for _, content := range []string{"{one", "{two", "{three", "{four"} {
		put(t, dir, entryFile, content)
		files := open(t, dir)
		if _, err := files.Load(); err == nil {
			t.Fatal("it was read")
		}
		if err := files.Close(Record{}); err != nil {
			t.Fatal(err)
		}
	}
	for name, want := range map[string]string{"journal.json.unreadable": "{four", "journal.json.unreadable.1": "{three", "journal.json.unreadable.2": "{two"} {
		if raw, err := os.ReadFile(filepath.Join(dir, name)); err != nil || string(raw) != want {
			t.Errorf("%s holds %q, error %v; want %q", name, raw, err, want)
		}
	}
	if got := names(t, dir); len(got) != 4 {
		t.Errorf("kept are %v", got)
	}
}
