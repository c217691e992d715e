//go:build !(cgo && nmstate)

package nmstate

import (
	"errors"
	"testing"
)

func TestWithoutTheLibraryEveryCallSaysSo(t *testing.T) {
	n := New()
	calls := map[string]func() error{
		"RetrieveNetState":      func() error { _, err := n.RetrieveNetState(); return err },
		"ApplyNetState":         func() error { _, err := n.ApplyNetState("{}"); return err },
		"CommitCheckpoint":      func() error { _, err := n.CommitCheckpoint("/x"); return err },
		"RollbackCheckpoint":    func() error { _, err := n.RollbackCheckpoint("/x"); return err },
		"GenerateConfiguration": func() error { _, err := n.GenerateConfiguration("{}"); return err },
		"GenerateDifferences":   func() error { _, err := n.GenerateDifferences("{}", "{}"); return err },
		"NetStateFromPolicy":    func() error { _, err := n.NetStateFromPolicy("{}", "{}"); return err },
		"FormatNetState":        func() error { _, err := n.FormatNetState("{}"); return err },
		"ValidateNetState":      func() error { return n.ValidateNetState("{}", "") },
	}
	for name, call := range calls {
		if err := call(); !errors.Is(err, ErrNotBuilt) {
			t.Errorf("%s: got %v, want %v", name, err, ErrNotBuilt)
		}
	}
}
