package journal

import (
	"encoding/json"
	"net/netip"
	"time"

	v1 "github.com/nmstate/kubernetes-nmstate/api/v1"
	"github.com/nmstate/kubernetes-nmstate/handler/foreign"
	"github.com/nmstate/kubernetes-nmstate/handler/guard"
	"github.com/nmstate/kubernetes-nmstate/handler/idle"
	"github.com/nmstate/kubernetes-nmstate/handler/profiles"
	"github.com/nmstate/kubernetes-nmstate/handler/txn"
)

// Entry is an open transaction: where it stands and how to get back.
type Entry struct {
	// Version of what the entry says; zero is what handlers wrote that had no
	// Profiles: their way back is Revert.
	Version     int       `json:"version,omitempty"`
	Transaction txn.State `json:"transaction"`
	// Since is when the transaction began.
	Since time.Time `json:"since"`
	// BootID of the boot, and Instance of the NetworkManager, that the
	// checkpoint belongs to: with another one of either, it is lost.
	BootID   string `json:"bootID"`
	Instance string `json:"networkManager"`
	// ArmedBoot is the time since boot at which the journal was opened: a
	// checkpoint made earlier is not ours.
	ArmedBoot time.Duration `json:"armedBootNanoseconds"`
	// Sources of the desired state.
	Sources []v1.DesiredSource `json:"sources,omitempty"`
	// Desired is the whole desired state; Change the part of it that is applied.
	Desired json.RawMessage `json:"desired"`
	Change  json.RawMessage `json:"change"`
	// Secrets that Change refers to, sealed.
	Secrets []v1.SealedSecret `json:"secrets,omitempty"`
	// Profiles is what NetworkManager knew before the change, byte for byte, and
	// Trial the same with the change in place; nil as long as it is not.
	Profiles *profiles.Snapshot `json:"profiles,omitempty"`
	Trial    *profiles.Trial    `json:"trial,omitempty"`
	// Seen is the same when the way back began, with what others did during the
	// trial.
	Seen *profiles.Snapshot `json:"seen,omitempty"`
	// Before is the state read before the change. Revert is what leads back to
	// it by nmstate's model: the last resort, where the profiles do not.
	Before json.RawMessage `json:"before"`
	Revert json.RawMessage `json:"revert"`
	// Removal: policies leave, and nothing else changes.
	Removal bool `json:"removal,omitempty"`
	// Undo: something that leaves goes back to what was there before it.
	Undo bool `json:"undo,omitempty"`
	// Scripts are those of before that an undo puts back, byte for byte.
	Scripts profiles.Scripts `json:"scripts,omitempty"`
	// Targets are what the targets of each default probe answered before the change.
	Targets map[string]guard.Before `json:"targets,omitempty"`
	// KnownBy are the addresses by which the cluster knows the node that it had before the
	// change.
	KnownBy []netip.Addr `json:"knownBy,omitempty"`
	// ToCome says what was not there yet as the change was read back, and fails no change,
	// one line each.
	ToCome []string `json:"toCome,omitempty"`
	// NotVerified says what else of the change nothing proves, one line each.
	NotVerified []string `json:"notVerified,omitempty"`
	// Correction names what is put right again; empty for a change.
	Correction []string `json:"correction,omitempty"`
	// Foreign are the kernel's links, addresses and routes before the change,
	// for what the change does not name; nil: they were not noted.
	Foreign *foreign.Snapshot `json:"foreign,omitempty"`
}

// Version of the entries that are written now.
const Version = 2

// Kept is a removal whose undo failed for good.
type Kept struct {
	// Hash of the desired state without what leaves.
	Hash string `json:"hash"`
	// Message says what became of it, in one line.
	Message string `json:"message"`
}

// Committed is the desired state that the node has committed.
type Committed struct {
	Hash    string             `json:"hash"`
	Sources []v1.DesiredSource `json:"sources,omitempty"`
	Desired json.RawMessage    `json:"desired"`
}

// About names a change: what the NodeNetworkState of this generation wanted.
type About struct {
	Generation int64  `json:"generation"`
	Hash       string `json:"hash"`
}

// Record is what outlives a transaction.
type Record struct {
	// Committed is nil as long as nothing was.
	Committed *Committed `json:"committed,omitempty"`
	// Last is the last transaction as it is to be reported.
	Last *v1.Transaction `json:"last,omitempty"`
	// About is the change that Last tells of; nil where Last is of none that was tried.
	About *About `json:"about,omitempty"`
	// History are the last transactions that ended, the newest first, as they are to be
	// reported.
	History []v1.PastTransaction `json:"history,omitempty"`
	// Targets are those of the transaction that Last tells of, if it failed: they are
	// held against its next attempt too.
	Targets map[string]guard.Before `json:"targets,omitempty"`
	// Failed is the change that failed last, as long as nothing else was wanted
	// since: in a newer generation it is still that change.
	Failed *idle.Failed `json:"failed,omitempty"`
	// Originals is what was there before what is committed was owned
	// (state.Originals).
	Originals json.RawMessage `json:"originals,omitempty"`
	// Scripts are those of before what is committed now, for each that it names.
	Scripts profiles.Scripts `json:"scripts,omitempty"`
	// Kept is the last removal that left its configuration on the node, until
	// something else is committed.
	Kept *Kept `json:"kept,omitempty"`
	// Stays is what stays on interfaces that others still want, as policies could not be
	// taken off (state.Staying). A correction of drift leaves it in place.
	Stays json.RawMessage `json:"stays,omitempty"`
	// Interrupted is the change that was interrupted last, until another one ends.
	Interrupted *idle.Interrupted `json:"interrupted,omitempty"`
	// Corrections of drift, by what drifted ("interfaces[eth1]").
	Corrections idle.Corrections `json:"corrections,omitempty"`
	// Unread is what a handler could not read of the journal when it started,
	// the last time that this was so.
	Unread *Unread `json:"unread,omitempty"`
}

// Unread is a journal or a record that nobody can read.
type Unread struct {
	At time.Time `json:"at"`
	// Message says which file, why, and what was done without it.
	Message string `json:"message"`
}

// Journal is the port to the node's own memory.
type Journal interface {
	// Load returns the open transaction, nil when there is none. An error means
	// that there may be one that cannot be read, now or ever.
	Load() (*Entry, error)
	// Save opens the transaction or brings it up to date; when it returns,
	// the entry survives a power cut.
	Save(entry Entry) error
	// Close stores the record, then removes the open transaction. What Load or
	// Record could not read is kept under another name.
	Close(record Record) error
	// Record returns what was stored last. An error means that it cannot be read.
	Record() (Record, error)
}

// Boot tells one boot of the node from another.
type Boot interface {
	// ID of this boot.
	ID() (string, error)
	// Elapsed is the time since boot, suspend included.
	Elapsed() (time.Duration, error)
}
