package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestEveryModuleThatIsLinkedInHasALicence(t *testing.T) {
	parts, err := modules(t.Context(), "../..")
	if err != nil {
		t.Fatal(err)
	}
	var all strings.Builder
	if err := write(&all, parts); err != nil {
		t.Error(err)
	}
	for _, name := range []string{"==== Go's standard library", "==== k8s.io/apimachinery v", "==== github.com/spf13/cobra v"} {
		if !strings.Contains(all.String(), name) {
			t.Errorf("%s is not there", name)
		}
	}
}

func TestAPartWithoutALicenceIsNamed(t *testing.T) {
	with, without := t.TempDir(), t.TempDir()
	for _, name := range []string{"LICENSE-MIT", "license.go", "main.go"} {
		if err := os.WriteFile(filepath.Join(with, name), []byte("the text of "+name), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	var all strings.Builder
	err := write(&all, []part{{name: "good", folder: with}, {name: "says", folder: without, says: "MIT"}, {name: "bad", folder: without}})
	if err == nil || !strings.HasPrefix(err.Error(), "bad has no licence in ") {
		t.Errorf("got %v", err)
	}
	if got, want := all.String(), "==== good\n\nthe text of LICENSE-MIT\n\n==== says\n\nLicence, as its manifest says: MIT\n\n"; got != want {
		t.Errorf("want\n%s\ngot\n%s", want, got)
	}
}
