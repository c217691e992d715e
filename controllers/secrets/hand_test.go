package secrets

import (
	"fmt"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "github.com/nmstate/kubernetes-nmstate/api/v1"
	"github.com/nmstate/kubernetes-nmstate/handler/secret"
	"github.com/nmstate/kubernetes-nmstate/handler/state"
)

func key(t *testing.T) *secret.Key {
	t.Helper()
	made, err := secret.OpenKey(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	return made
}

func held(version string, data map[string]string) map[string]*corev1.Secret {
	object := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: "wifi", ResourceVersion: version}, Data: map[string][]byte{}}
	for name, value := range data {
		object.Data[name] = []byte(value)
	}
	return map[string]*corev1.Secret{"wifi": object}
}

func TestWhatThereIsNoValueOfSaysWhatToDo(t *testing.T) {
	password := []state.SecretReference{{Name: "wifi", Key: "password"}}
	token := held("1", map[string]string{"password": "Canary"})
	token["wifi"].Type = corev1.SecretTypeServiceAccountToken
	many := make([]state.SecretReference, mostNamed+1)
	for sentence, c := range map[string]struct {
		in   input
		want string
	}{
		"nobody may name any":         {input{named: password}, "deploy/components/secrets"},
		"there is no such Secret":     {input{named: password, namespace: "nmstate"}, "{{ secret.wifi.password }}: there is no Secret wifi in namespace nmstate: create it"},
		"it has other keys":           {input{named: password, namespace: "nmstate", there: held("1", map[string]string{"b": "x", "a": "Canary"})}, "has no key password, it has a, b: add it, or name another one"},
		"it has no keys":              {input{named: password, namespace: "nmstate", there: held("1", nil)}, "is empty: add the key password"},
		"it is for something else":    {input{named: password, namespace: "nmstate", there: token}, "is of type kubernetes.io/service-account-token, and policies may name those of type Opaque"},
		"the value is empty":          {input{named: password, namespace: "nmstate", there: held("1", map[string]string{"password": ""})}, "has no value"},
		"a line break of echo":        {input{named: password, namespace: "nmstate", there: held("1", map[string]string{"password": "Canary\n"})}, "echo adds a line break"},
		"no text":                     {input{named: password, namespace: "nmstate", there: held("1", map[string]string{"password": "Canary\xff"})}, "is not one line of text"},
		"a value that is too long":    {input{named: password, namespace: "nmstate", there: held("1", map[string]string{"password": strings.Repeat("Canary", 1000)})}, "has 6000 bytes, and there is room for 4096"},
		"more than there is room for": {input{named: many, namespace: "nmstate"}, "names 33 values of Secrets, and there is room for 32"},
		"very many keys beside":       {input{named: password, namespace: "nmstate", there: held("1", manyKeys())}, "has no key password, it has key-0"},
	} {
		t.Run(sentence, func(t *testing.T) {
			handed, err := hand(c.in)
			if err != nil || len(handed) == 0 {
				t.Fatalf("%v, %v", handed, err)
			}
			got := handed[0]
			if !strings.Contains(got.Problem, c.want) || got.Sealed != "" || got.Version != "" || len(got.Problem) > 1024 {
				t.Errorf("%+v", got)
			}
			if text := fmt.Sprintf("%+v", handed); strings.Contains(text, "Canary") {
				t.Error(text)
			}
		})
	}
}

func manyKeys() map[string]string {
	keys := map[string]string{}
	for i := range 1000 {
		keys[fmt.Sprintf("key-%d", i)] = "x"
	}
	return keys
}

func TestAValueIsSealedOnceForEachVersionAndKey(t *testing.T) {
	node, other := key(t), key(t)
	in := input{
		named: []state.SecretReference{{Name: "wifi", Key: "password"}}, namespace: "nmstate", key: node.Public(),
		there: held("7", map[string]string{"password": "Canary", "unnamed": "not for this node"}),
	}
	turn := func() v1.SealedSecret {
		t.Helper()
		handed, err := hand(in)
		if err != nil || len(handed) != 1 {
			t.Fatalf("%v, %v", handed, err)
		}
		in.before = handed
		return handed[0]
	}
	opened := func(k *secret.Key, s v1.SealedSecret) string {
		value, err := k.Open(state.SecretReference{Name: s.Name, Key: s.Key, Version: s.Version}, s.Sealed)
		if err != nil {
			return err.Error()
		}
		return value
	}
	first := turn()
	if opened(node, first) != "Canary" {
		t.Errorf("%+v opens as %s", first, opened(node, first))
	}
	if again := turn(); again != first {
		t.Error("sealed again, though nothing has changed")
	}
	in.there = held("8", map[string]string{"password": "Canary2"})
	rotated := turn()
	if rotated.Version == first.Version || opened(node, rotated) != "Canary2" {
		t.Errorf("%+v", rotated)
	}
	in.key = other.Public()
	moved := turn()
	if moved.Version == rotated.Version || opened(other, moved) != "Canary2" || opened(node, moved) == "Canary2" {
		t.Errorf("%+v", moved)
	}
	in.key = "no key"
	if handed, err := hand(input{named: in.named, namespace: in.namespace, key: in.key, there: in.there}); err == nil {
		t.Errorf("sealed with no key: %v", handed)
	}
	in.named = nil
	if handed, err := hand(in); len(handed) > 0 || err != nil {
		t.Errorf("a policy that names none leaves %v, %v", handed, err)
	}
}
