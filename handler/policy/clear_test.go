package policy

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	clocktesting "k8s.io/utils/clock/testing"

	v1 "github.com/nmstate/kubernetes-nmstate/api/v1"
	"github.com/nmstate/kubernetes-nmstate/handler/desired"
	"github.com/nmstate/kubernetes-nmstate/handler/secret"
	"github.com/nmstate/kubernetes-nmstate/handler/state"
)

const inClear = `{"interfaces":[
	{"name":"eth1","type":"ethernet","802.1x":{"identity":"node","password":"Canary-A","private-key-password":"Canary-B"}},
	{"name":"macsec0","type":"macsec","macsec":{"base-iface":"eth1","mka-cak":"Canary-C","mka-ckn":"01","port":0,"encrypt":true,"validation":"strict","send-sci":true}},
	{"name":"ipsec0","type":"ipsec","libreswan":{"right":"192.0.2.1","psk":"Canary-D"}}],
	"ovs-db":{"external_ids":{"remote_psk":"Canary-E"}}}`

// clearNode is a node whose policies have secrets in clear text.
type clearNode struct {
	*testing.T
	key *secret.Key
	r   *Reconciler
	m   *memory
	g   *gathered
}

func newClearNode(t *testing.T, dir string, local bool) *clearNode {
	t.Helper()
	key, err := secret.OpenKey(dir)
	if err != nil {
		t.Fatal(err)
	}
	options := Options{Clock: clocktesting.NewFakePassiveClock(time.Unix(0, 0))}
	if local {
		options.Fingerprint = key.Fingerprint
	}
	filters := true
	nns := &v1.NodeNetworkState{}
	nns.Status.SecretsKey, nns.Status.BridgeVLANFiltering = key.Public(), &filters
	return &clearNode{T: t, key: key, r: New(options), m: &memory{renderings: map[types.UID]rendering{}},
		g: &gathered{node: &corev1.Node{}, state: nns, enacted: map[string]*v1.NodeNetworkConfigurationEnactment{}}}
}

func (n *clearNode) render(generation int64, raw string) desired.Policy {
	n.Helper()
	p := &v1.NodeNetworkConfigurationPolicy{ObjectMeta: metav1.ObjectMeta{Name: "p", UID: "u", Generation: generation}}
	p.Spec.DesiredState = v1.NewState([]byte(raw))
	made := n.r.render(context.Background(), n.m, n.g, p)
	if made.Err != nil || made.Waiting != "" {
		n.Fatalf("waiting %q, %v", made.Waiting, made.Err)
	}
	written, err := json.Marshal([]any{made.Document, made.Sealed, made.Hash})
	if err != nil {
		n.Fatal(err)
	}
	if strings.Contains(string(written), "Canary") {
		n.Errorf("a secret is written: %s", written)
	}
	return made
}

// opened is the state as the node's handler hands it to nmstate.
func (n *clearNode) opened(made desired.Policy) state.State {
	n.Helper()
	filled, err := made.State.ResolveSecrets(func(_ string, r state.SecretReference) (string, error) {
		at := slices.IndexFunc(made.Sealed, func(s v1.SealedSecret) bool { return s.Name == r.Name && s.Key == r.Key && s.Version == r.Version })
		return n.key.Open(r, made.Sealed[at].Sealed)
	})
	if err != nil {
		n.Fatal(err)
	}
	return filled
}

func TestASecretInClearTextIsWrittenSealedOnly(t *testing.T) {
	for sentence, local := range map[string]bool{"by the node's handler": true, "by the controllers": false} {
		t.Run(sentence, func(t *testing.T) {
			dir := t.TempDir()
			n := newClearNode(t, dir, local)
			made := n.render(1, inClear)
			plain, err := desired.Render([]byte(inClear), 0, true)
			if err != nil {
				t.Fatal(err)
			}
			if got := n.opened(made); !got.Equal(plain.State) {
				t.Errorf("the node reads %s", got.JSON())
			}
			if made.SecretsKey != "" {
				t.Error("it asks the controllers for Secrets that the policy does not name")
			}
			if again := n.render(1, inClear); again.Hash != made.Hash || !slices.Equal(again.Sealed, made.Sealed) {
				t.Error("another turn makes another rendering")
			}
			if next := newClearNode(t, dir, local).render(1, inClear); next.Hash != made.Hash {
				t.Error("another process makes another rendering")
			}
			if other := n.render(2, strings.Replace(inClear, "Canary-A", "Canary-Z", 1)); other.Hash == made.Hash {
				t.Error("another password is the same rendering")
			}
		})
	}
}

// TestAnEditBesideASecretIsNoChangeOfTheNode: the node's own key tells that the value is
// the same. The controllers have no such key, and go by the generation.
func TestAnEditBesideASecretIsNoChangeOfTheNode(t *testing.T) {
	local, central := newClearNode(t, t.TempDir(), true), newClearNode(t, t.TempDir(), false)
	if local.render(1, inClear).Hash != local.render(2, inClear).Hash {
		t.Error("a new generation with the same secret is another rendering on its node")
	}
	if central.render(1, inClear).Hash == central.render(2, inClear).Hash {
		t.Error("the controllers cannot know that the secret is the same")
	}
}

func TestASecretInClearTextWaitsForTheNodesKeyAndHasABound(t *testing.T) {
	n := newClearNode(t, t.TempDir(), true)
	n.g.state.Status.SecretsKey = ""
	p := &v1.NodeNetworkConfigurationPolicy{ObjectMeta: metav1.ObjectMeta{Name: "p", UID: "u", Generation: 1}}
	p.Spec.DesiredState = v1.NewState([]byte(inClear))
	if made := n.r.render(context.Background(), n.m, n.g, p); made.Waiting != waitingForKey || !made.Document.IsZero() {
		t.Errorf("waiting %q with %s", made.Waiting, made.Document.Raw)
	}
	n.g.state.Status.SecretsKey = n.key.Public()
	p.Generation, p.Spec.DesiredState = 2, v1.NewState([]byte(strings.Replace(inClear, "Canary-A", strings.Repeat("Canary", secret.MaxValue), 1)))
	made := n.r.render(context.Background(), n.m, n.g, p)
	if made.Err == nil || strings.Contains(made.Err.Error(), "Canary") || !made.Document.IsZero() {
		t.Errorf("%v with %s", made.Err, made.Document.Raw)
	}
}

// asWritten resolves a policy to what it says, and counts how often.
type asWritten struct{ calls int }

func (a *asWritten) Resolve(_ context.Context, policyJSON []byte, _ state.State) (state.State, map[string]state.State, error) {
	a.calls++
	var policy struct{ DesiredState json.RawMessage }
	if err := json.Unmarshal(policyJSON, &policy); err != nil {
		return state.State{}, nil, err
	}
	made, err := state.Parse(policy.DesiredState)
	return made, nil, err
}

// TestCapturesAreNotResolvedAgainForASecret: the enactment has the reference only, and the
// next process finds the value in the policy. A node with a new key has other references.
func TestCapturesAreNotResolvedAgainForASecret(t *testing.T) {
	dir := t.TempDir()
	p := &v1.NodeNetworkConfigurationPolicy{ObjectMeta: metav1.ObjectMeta{Name: "p", UID: "u", Generation: 1}}
	p.Spec.Capture = map[string]string{"nic": `interfaces.name == "eth1"`}
	p.Spec.DesiredState = v1.NewState([]byte(inClear))
	var before *v1.NodeNetworkConfigurationEnactment
	for _, process := range []struct {
		sentence string
		dir      string
		resolves int
	}{{"the first process", dir, 1}, {"the next one", dir, 0}, {"one with a new key", t.TempDir(), 1}} {
		t.Run(process.sentence, func(t *testing.T) {
			n, captures := newClearNode(t, process.dir, true), &asWritten{}
			n.r.Captures = captures
			n.g.state.Status.CurrentState = v1.NewState([]byte(`{"interfaces":[]}`))
			if before != nil {
				n.g.enacted["p"] = before
			}
			made := n.r.render(context.Background(), n.m, n.g, p)
			if made.Err != nil || made.Waiting != "" || captures.calls != process.resolves {
				t.Fatalf("waiting %q, %v, resolved %d times, want %d", made.Waiting, made.Err, captures.calls, process.resolves)
			}
			plain, err := desired.Render([]byte(inClear), 0, true)
			if err != nil {
				t.Fatal(err)
			}
			if got := n.opened(made); !got.Equal(plain.State) {
				t.Errorf("the node reads %s", got.JSON())
			}
			before = &v1.NodeNetworkConfigurationEnactment{ObjectMeta: metav1.ObjectMeta{OwnerReferences: []metav1.OwnerReference{{UID: "u"}}}}
			before.Status.PolicyGeneration, before.Status.DesiredState = 1, made.Document
		})
	}
}

func TestAPolicyHasSoManySecretsInClearText(t *testing.T) {
	values := map[state.SecretReference]string{}
	for i := range mostClear + 1 {
		values[state.SecretReference{Name: state.FromPolicy, Key: string(rune('a' + i))}] = "Canary"
	}
	if _, err := sealed(values, "key", "1"); err == nil || !strings.Contains(err.Error(), "33 secrets in clear text, and there is room for 32") {
		t.Error(err)
	}
}
