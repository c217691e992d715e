package observe

import (
	"os"
	"path/filepath"
	"testing"
)

func TestChangesOfAFolderAreNoticedAlsoWhereItComesLate(t *testing.T) {
	folder := filepath.Join(t.TempDir(), "dispatcher.d")
	w := run(t, Options{BusAddress: "unix:path=" + t.TempDir() + "/none", Folder: folder})
	if got := receive(t, w); got != Network { // The kernel is watched.
		t.Fatal(got)
	}
	at := filepath.Join(folder, "script")
	for _, step := range []struct {
		name string
		do   func() error
	}{
		{"the folder is made", func() error { return os.Mkdir(folder, 0o755) }},
		{"a file is written", func() error { return os.WriteFile(at, []byte("true"), 0o700) }},
		{"a file gets another mode", func() error { return os.Chmod(at, 0o600) }},
		{"a file is taken away", func() error { return os.Remove(at) }},
	} {
		if err := step.do(); err != nil {
			t.Fatalf("%s: %v", step.name, err)
		}
		if got := receive(t, w); got != Network {
			t.Fatalf("%s: %s", step.name, got)
		}
	}
}
