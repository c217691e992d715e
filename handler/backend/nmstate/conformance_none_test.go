//go:build !(linux && cgo && nmstate)

package nmstate

import (
	"errors"
	"os"
	"testing"
)

func TestConformance(t *testing.T) {
	const reason = "needs libnmstate: `make test`, or eval \"$(hack/libnmstate.sh --env)\" and go test, on Linux"
	if os.Getenv("NMSTATE_STRICT") == "1" {
		t.Fatal(reason)
	}
	t.Skip(reason)
}

func TestNewSaysThatTheLibraryIsMissing(t *testing.T) {
	if _, err := New(Options{Executable: "/proc/self/exe"}); !errors.Is(err, ErrNotBuilt) {
		t.Errorf("got %v, want %v", err, ErrNotBuilt)
	}
}
