package journal

import (
	"encoding/json"
	"time"

	v1 "github.com/nmstate/kubernetes-nmstate/api/v1"
	"github.com/nmstate/kubernetes-nmstate/handler/txn"
)

// Entry is an open transaction: where it stands and how to get back.
type Entry struct {
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
	// Before is the state read before the change, Revert what leads back to it.
	Before json.RawMessage `json:"before"`
	Revert json.RawMessage `json:"revert"`
}

// Committed is the desired state that the node has committed.
type Committed struct {
	Hash    string             `json:"hash"`
	Sources []v1.DesiredSource `json:"sources,omitempty"`
	Desired json.RawMessage    `json:"desired"`
}

// Record is what outlives a transaction.
type Record struct {
	// Committed is nil as long as nothing was.
	Committed *Committed `json:"committed,omitempty"`
	// Last is the last transaction as it is to be reported.
	Last *v1.Transaction `json:"last,omitempty"`
}

// Journal is the port to the node's own memory.
type Journal interface {
	// Load returns the open transaction, nil when there is none.
	Load() (*Entry, error)
	// Save opens the transaction or brings it up to date; when it returns,
	// the entry survives a power cut.
	Save(entry Entry) error
	// Close stores the record, then removes the open transaction.
	Close(record Record) error
	// Record returns what was stored last.
	Record() (Record, error)
}

// Boot tells one boot of the node from another.
type Boot interface {
	// ID of this boot.
	ID() (string, error)
	// Elapsed is the time since boot, suspend included.
	Elapsed() (time.Duration, error)
}
