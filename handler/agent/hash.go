package agent

import (
	"bytes"

	v1 "github.com/nmstate/kubernetes-nmstate/api/v1"
	"github.com/nmstate/kubernetes-nmstate/handler/state"
)

// hashOf a desired state, of which the last one is kept: every turn asks, and
// few have another.
func (a *Agent) hashOf(desired v1.State) string {
	if a.hashed.hash == "" || !bytes.Equal(a.hashed.raw, desired.Raw) {
		a.hashed = hashed{raw: bytes.Clone(desired.Raw), hash: hashOf(desired)}
	}
	return a.hashed.hash
}

// hashed is a document and its hash.
type hashed struct {
	raw  []byte
	hash string
}

func hashOf(desired v1.State) string {
	parsed, err := state.Parse(desired.Raw)
	if err != nil {
		return "unreadable"
	}
	return parsed.Hash()
}
