package secret_test

import (
	"encoding/base64"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/nmstate/kubernetes-nmstate/handler/secret"
	"github.com/nmstate/kubernetes-nmstate/handler/state"
)

func keyIn(t *testing.T, dir string) *secret.Key {
	t.Helper()
	key, err := secret.OpenKey(dir)
	if err != nil {
		t.Fatal(err)
	}
	return key
}

func TestAValueOpensOnItsNodeAndAsItselfOnly(t *testing.T) {
	mine, other := keyIn(t, t.TempDir()), keyIn(t, t.TempDir())
	about := state.SecretReference{Name: "wifi", Key: "password", Version: secret.Version("7", mine.Public())}
	sealed, err := secret.Seal(mine.Public(), about, []byte("Canary"))
	if err != nil {
		t.Fatal(err)
	}
	if got, err := mine.Open(about, sealed); err != nil || got != "Canary" {
		t.Errorf("opened %q, %v", got, err)
	}
	raw, _ := base64.StdEncoding.DecodeString(sealed)
	if strings.Contains(string(raw), "Canary") {
		t.Error("it is not sealed")
	}
	raw[len(raw)-1] ^= 1
	older := about
	older.Version = secret.Version("6", mine.Public())
	for sentence, attempt := range map[string]func() (string, error){
		"another node's key": func() (string, error) { return other.Open(about, sealed) },
		"as another version": func() (string, error) { return mine.Open(older, sealed) },
		"as another key of it": func() (string, error) {
			return mine.Open(state.SecretReference{Name: "wifi", Key: "psk", Version: about.Version}, sealed)
		},
		"altered on its way":    func() (string, error) { return mine.Open(about, base64.StdEncoding.EncodeToString(raw)) },
		"nothing that was made": func() (string, error) { return mine.Open(about, "bm8=") },
		"no base64":             func() (string, error) { return mine.Open(about, "!") },
	} {
		if got, err := attempt(); err == nil || got != "" || strings.Contains(err.Error(), "Canary") {
			t.Errorf("%s: opened %q, %v", sentence, got, err)
		}
	}
}

func TestAValueIsSealedWithAKeyOnly(t *testing.T) {
	for _, key := range []string{"", "!", "c2hvcnQ="} {
		if _, err := secret.Seal(key, state.SecretReference{}, []byte("Canary")); err == nil {
			t.Errorf("sealed with %q", key)
		}
	}
}

func TestTheKeyStaysTheSameAndIsForRootAlone(t *testing.T) {
	dir := t.TempDir()
	first := keyIn(t, dir)
	if again := keyIn(t, dir); again.Public() != first.Public() {
		t.Error("another handler on the node has another key")
	}
	file := filepath.Join(dir, "secrets.key")
	is, err := os.Stat(file)
	if err != nil || is.Mode().Perm() != 0o600 {
		t.Errorf("mode %v, %v", is.Mode(), err)
	}
	if err := os.WriteFile(file, []byte("half"), 0o600); err != nil {
		t.Fatal(err)
	}
	made := keyIn(t, dir)
	if made.Public() == first.Public() {
		t.Error("what cannot be read is no key")
	}
	if left, _ := filepath.Glob(filepath.Join(dir, "*")); len(left) != 1 {
		t.Errorf("left %v", left)
	}
	if secret.Version("7", first.Public()) == secret.Version("7", made.Public()) {
		t.Error("the same version of a value that has to be sealed anew")
	}
	if _, err := secret.OpenKey(filepath.Join(dir, "none")); err == nil {
		t.Error("a key in a folder that there is not")
	}
}

func TestAFingerprintTellsValuesApartOnOneNodeOnly(t *testing.T) {
	dir := t.TempDir()
	mine, again, other := keyIn(t, dir), keyIn(t, dir), keyIn(t, t.TempDir())
	mark := mine.Fingerprint("Canary")
	switch {
	case mark != again.Fingerprint("Canary"):
		t.Error("another handler on the node has another fingerprint of the same value")
	case mark == mine.Fingerprint("Canary2"):
		t.Error("another value has the same fingerprint")
	case mark == other.Fingerprint("Canary"):
		t.Error("another node has the same fingerprint, so it says something about the value")
	}
}
