package agent

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	v1 "github.com/nmstate/kubernetes-nmstate/api/v1"
	"github.com/nmstate/kubernetes-nmstate/handler/secret"
	"github.com/nmstate/kubernetes-nmstate/handler/state"
)

// asShown hides secrets as nmstate does.
func asShown(tree map[string]any) map[string]any {
	raw, err := json.Marshal(state.Masked(tree))
	if err != nil || !strings.Contains(string(raw), state.Hidden) {
		return tree
	}
	shown, err := state.Parse([]byte(strings.ReplaceAll(string(raw), state.Hidden, "<_password_hid_by_nmstate>")))
	if err != nil {
		return tree
	}
	return shown.Tree()
}

// everyKind is a state with a secret of each kind, of the same version.
func everyKind(version string) (string, []state.SecretReference) {
	named := func(key string) state.SecretReference {
		return state.SecretReference{Name: "lab", Key: key, Version: version}
	}
	all := []state.SecretReference{named("password"), named("key-password"), named("cak"), named("psk")}
	return fmt.Sprintf(`{"interfaces": [
		{"name": "eth0", "type": "ethernet", "state": "up", "802.1x": {"identity": "node1", "password": %q, "private-key-password": %q}},
		{"name": "macsec0", "type": "macsec", "state": "up", "macsec": {"base-iface": "eth0", "mka-cak": %q, "mka-ckn": "01", "port": 0, "encrypt": true, "validation": "strict", "send-sci": true}},
		{"name": "ipsec0", "type": "ipsec", "state": "up", "libreswan": {"right": "192.0.2.1", "psk": %q}}]}`,
		all[0], all[1], all[2], all[3]), all
}

// wantSecret is a policy's generation that refers to Secrets, with their values.
func (n *node) wantSecret(generation int64, key *secret.Key, version string) {
	n.t.Helper()
	desired, named := everyKind(version)
	var sealed []v1.SealedSecret
	for _, one := range named {
		text, err := secret.Seal(key.Public(), one, []byte("Canary of "+one.Key+" "+version))
		if err != nil {
			n.t.Fatal(err)
		}
		sealed = append(sealed, v1.SealedSecret{Name: one.Name, Key: one.Key, Version: one.Version, Sealed: text})
	}
	n.edit(func(nns *v1.NodeNetworkState) {
		nns.Generation = generation
		nns.Spec.DesiredState, nns.Spec.Secrets = v1.NewState([]byte(desired)), sealed
		nns.Spec.Sources = []v1.DesiredSource{{Source: v1.Source{Policy: "p", Generation: 1, Hash: version}, Paths: []string{"interfaces[eth0]"}}}
	})
}

// withKey gives handlers of a node its key.
func (n *node) withKey() (*secret.Key, func(*Options)) {
	n.t.Helper()
	key, err := secret.OpenKey(n.dir)
	if err != nil {
		n.t.Fatal(err)
	}
	return key, func(o *Options) { o.Secrets = key }
}

// expectNowhere looks for values in what the agent has written.
func (n *node) expectNowhere() {
	n.t.Helper()
	raw, err := json.Marshal(n.get())
	if err != nil {
		n.t.Fatal(err)
	}
	where := map[string]string{"the NodeNetworkState": string(raw)}
	files, err := filepath.Glob(filepath.Join(n.dir, "*"))
	if err != nil || len(files) == 0 {
		n.t.Fatal("no files of the journal", err)
	}
	for _, file := range files {
		raw, err := os.ReadFile(file)
		if err != nil {
			n.t.Fatal(err)
		}
		where[file] = string(raw)
	}
	for place, text := range where {
		if at := strings.Index(text, "Canary"); at >= 0 {
			n.t.Errorf("%s: %s", place, text[at:])
		}
	}
}

func TestSecretsReachTheBackendAndNothingElse(t *testing.T) {
	t.Parallel()
	n := newNode(t)
	key, has := n.withKey()
	n.handler(has)
	n.until("the key is reported", func() bool { return n.get() != nil && n.get().Status.SecretsKey == key.Public() })
	for i, version := range []string{"7-a", "8-a"} {
		generation := int64(i + 2)
		n.wantSecret(generation, key, version)
		if got := n.outcome(generation); got.Result != v1.TransactionCommitted {
			t.Fatalf("outcome = %+v", got)
		}
		n.host.mu.Lock()
		told := n.host.told
		n.host.mu.Unlock()
		if len(told) != i+1 {
			t.Fatalf("%d applies, want one for each version", len(told))
		}
		for _, one := range []string{"password", "key-password", "cak", "psk"} {
			if !strings.Contains(told[i], "Canary of "+one+" "+version) {
				t.Errorf("the backend was not told %s of version %s: %s", one, version, told[i])
			}
		}
		n.expectNowhere()
	}
	n.quiet()
}

func TestAValueInAnErrorOfTheBackendIsMasked(t *testing.T) {
	t.Parallel()
	n := newNode(t)
	key, has := n.withKey()
	n.host.refuse = errors.New("nmstate: invalid argument: Canary of cak 7-a is no key")
	n.handler(has)
	n.wantSecret(2, key, "7-a")
	if got := n.outcome(2); !strings.Contains(got.Message, "(hidden) is no key") {
		t.Errorf("outcome = %+v", got)
	}
	n.expectNowhere()
}

func TestAnOpenJournalHasNoValueInClearText(t *testing.T) {
	t.Parallel()
	n := newNode(t)
	key, has := n.withKey()
	n.handler(has, func(o *Options) { o.Window = time.Hour })
	n.host.forbids = "macsec0" // The API server does not answer, so the trial stays open.
	n.wantSecret(2, key, "7-a")
	n.until("the change is in place", func() bool { return n.host.has("macsec0") })
	n.until("the journal says so", func() bool {
		raw, _ := os.ReadFile(filepath.Join(n.dir, "journal.json"))
		return strings.Contains(string(raw), "Probing")
	})
	n.expectNowhere()
}

func TestAValueThatCannotBeReadChangesNothing(t *testing.T) {
	t.Parallel()
	for sentence, c := range map[string]struct {
		spoil func(*v1.NodeNetworkStateSpec)
		says  string
	}{
		"it was not brought": {func(s *v1.NodeNetworkStateSpec) { s.Secrets = nil }, "spec.secrets of the NodeNetworkState has no such version of it any more"},
		"it was altered":     {func(s *v1.NodeNetworkStateSpec) { s.Secrets[1].Sealed = s.Secrets[0].Sealed }, "opening the sealed value with the key of this node"},
		"nobody sealed it": {func(s *v1.NodeNetworkStateSpec) {
			s.DesiredState = v1.NewState([]byte(strings.ReplaceAll(string(s.DesiredState.Raw), " 7-a }}", " }}")))
		}, "only a policy can refer to a Secret"},
	} {
		t.Run(sentence, func(t *testing.T) {
			n := newNode(t)
			key, has := n.withKey()
			n.handler(has)
			desired, named := everyKind("7-a")
			n.edit(func(nns *v1.NodeNetworkState) {
				nns.Generation, nns.Spec.DesiredState = 2, v1.NewState([]byte(desired))
				for _, one := range named {
					text, _ := secret.Seal(key.Public(), one, []byte("Canary"))
					nns.Spec.Secrets = append(nns.Spec.Secrets, v1.SealedSecret{Name: one.Name, Key: one.Key, Version: one.Version, Sealed: text})
				}
				c.spoil(&nns.Spec)
			})
			got := n.outcome(2)
			if got.Result != v1.TransactionRefused || !strings.Contains(got.Message, c.says) || !strings.Contains(got.Message, "{{ secret.lab.") {
				t.Errorf("outcome = %+v", got)
			}
			if n.host.count() > 0 {
				t.Error("something was applied")
			}
			n.expectNowhere()
		})
	}
}

func TestWithoutTakesOutEveryValue(t *testing.T) {
	t.Parallel()
	cause := errors.New("a and Canary, Canary")
	if got := without(cause, []string{"", "Canary"}).Error(); got != "a and (hidden), (hidden)" {
		t.Error(got)
	}
	if got := without(cause, []string{"other"}); !slices.Equal([]error{got}, []error{cause}) {
		t.Error("an error without a value is another one")
	}
}
