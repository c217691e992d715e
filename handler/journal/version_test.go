package journal

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	v1 "github.com/nmstate/kubernetes-nmstate/api/v1"
	"github.com/nmstate/kubernetes-nmstate/handler/foreign"
	"github.com/nmstate/kubernetes-nmstate/handler/profiles"
	"github.com/nmstate/kubernetes-nmstate/handler/txn"
)

// first are the entry and the state of the handlers before version 2, as they
// read them. They pass over what they do not know.
type first struct {
	Transaction struct {
		Phase  string `json:"phase"`
		Change struct {
			Generation int64         `json:"generation"`
			Hash       string        `json:"hash"`
			Policy     string        `json:"policy,omitempty"`
			Window     time.Duration `json:"windowNanoseconds"`
			Probes     []txn.Guard   `json:"probes,omitempty"`
			Confirm    time.Duration `json:"confirmNanoseconds,omitempty"`
		} `json:"change"`
		Guards     []string `json:"guards,omitempty"`
		Checkpoint string   `json:"checkpoint,omitempty"`
		Lost       bool     `json:"lost,omitempty"`
		Proven     bool     `json:"proven,omitempty"`
		Reverted   bool     `json:"reverted,omitempty"`
		Cause      *struct {
			Message    string `json:"message"`
			Final      bool   `json:"final,omitempty"`
			Superseded bool   `json:"superseded,omitempty"`
		} `json:"cause,omitempty"`
	} `json:"transaction"`
	Since      time.Time          `json:"since"`
	BootID     string             `json:"bootID"`
	Instance   string             `json:"networkManager"`
	ArmedBoot  time.Duration      `json:"armedBootNanoseconds"`
	Sources    []v1.DesiredSource `json:"sources,omitempty"`
	Desired    json.RawMessage    `json:"desired"`
	Change     json.RawMessage    `json:"change"`
	Before     json.RawMessage    `json:"before"`
	Revert     json.RawMessage    `json:"revert"`
	Removal    bool               `json:"removal,omitempty"`
	Undo       bool               `json:"undo,omitempty"`
	Correction []string           `json:"correction,omitempty"`
	Foreign    *foreign.Snapshot  `json:"foreign,omitempty"`
}

func TestWhatThisVersionLeavesThePreviousOneUnderstands(t *testing.T) {
	written := Entry{
		Version: Version,
		Transaction: txn.State{
			Phase: txn.Probing, Checkpoint: "/cp/1", Guards: []string{"dns"}, Lost: true, Proven: true, Reverted: true,
			Change: txn.Change{Generation: 7, Hash: "9b1f", Policy: "bridge", Window: time.Minute, Confirm: time.Second, Interrupted: 1},
			Cause:  &txn.Cause{Message: "why", Final: true},
		},
		Since: time.Date(2026, 11, 21, 20, 0, 0, 0, time.UTC), BootID: "boot", Instance: ":1.5", ArmedBoot: time.Second,
		Sources: []v1.DesiredSource{{Source: v1.Source{Policy: "bridge"}}}, Desired: []byte(`{"a":1}`), Change: []byte(`{"b":1}`),
		Before: []byte(`{"c":1}`), Revert: []byte(`{"d":1}`), Removal: true, Undo: true, Correction: []string{"x"}, Foreign: &foreign.Snapshot{},
		Profiles: &profiles.Snapshot{Files: profiles.Files{"/etc/x": {Content: []byte("secret")}}}, Trial: &profiles.Trial{},
	}
	dir := t.TempDir()
	if err := open(t, dir).Save(written); err != nil {
		t.Fatal(err)
	}
	raw, err := os.ReadFile(filepath.Join(dir, entryFile))
	if err != nil {
		t.Fatal(err)
	}
	var previous first
	if err := json.Unmarshal(raw, &previous); err != nil {
		t.Fatalf("the previous version cannot read it: %v", err)
	}
	// What it writes of it is the same but for what it does not know.
	if raw, err = json.Marshal(previous); err != nil {
		t.Fatal(err)
	}
	var back Entry
	if err := json.Unmarshal(raw, &back); err != nil {
		t.Fatal(err)
	}
	written.Version, written.Profiles, written.Trial, written.Transaction.Change.Interrupted = 0, nil, nil, 0
	if diff := cmp.Diff(written, back); diff != "" {
		t.Errorf("read by the previous version (-written +read):\n%s", diff)
	}
}

func TestTheFilesOfAProfileComeBackByteForByte(t *testing.T) {
	files := open(t, "testdata/2")
	entry, err := files.Load()
	if err != nil || entry.Version != 2 || entry.Profiles == nil || entry.Trial == nil {
		t.Fatalf("entry %+v, error %v", entry, err)
	}
	const at = profiles.DiskDir + "/eth1.nmconnection"
	if got := entry.Profiles.Files[at]; got.Mode != 0o600 || !bytes.HasSuffix(got.Content, []byte("zone=trusted\n")) {
		t.Errorf("%s was read as %o %q", at, got.Mode, got.Content)
	}
	if got := entry.Trial.Held[profiles.DNSFile]; string(got.Content) != "[global-dns]\n" {
		t.Errorf("the file that is held was read as %q", got.Content)
	}
	record, err := files.Record()
	if err != nil || record.Interrupted.Times != 1 || record.Unread.Message == "" {
		t.Errorf("record %+v, error %v", record, err)
	}
}

func TestTheJournalIsRootsAlone(t *testing.T) {
	dir := t.TempDir() // It is the group's and others' to look into, as one that a kubelet makes.
	files := open(t, dir)
	if err := errors.Join(files.TryLock(), files.Save(Entry{Transaction: txn.State{Phase: txn.Applying}})); err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]os.FileMode{dir: os.ModeDir | 0o700, filepath.Join(dir, entryFile): 0o600} {
		if info, err := os.Stat(path); err != nil || info.Mode() != want {
			t.Errorf("%s: %v, error %v; want %v", path, info.Mode(), err, want)
		}
	}
}
