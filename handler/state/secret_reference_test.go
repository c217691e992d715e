package state_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/nmstate/kubernetes-nmstate/handler/state"
)

func TestSecretReferencesAreWholeValues(t *testing.T) {
	for text, want := range map[string]state.SecretReference{
		"{{ secret.wifi.password }}":            {Name: "wifi", Key: "password"},
		"{{secret.wifi.tls.key}}":               {Name: "wifi", Key: "tls.key"},
		"{{ secret.wifi.password 7-0badf00d }}": {Name: "wifi", Key: "password", Version: "7-0badf00d"},
		"{{ secret.wifi }}":                     {},
		"{{ secret.Wifi.password }}":            {},
		"{{ secret.Policy.0a1b 1-0badf00d }}":   {Name: state.FromPolicy, Key: "0a1b", Version: "1-0badf00d"},
		"a {{ secret.wifi.password }}":          {},
		"{{ secret.wifi.password }} ":           {},
		"{{ var.secret.wifi }}":                 {},
		"secret.wifi.password":                  {},
	} {
		got, is := state.ParseSecretReference(text)
		if got != want || is != (want.Name != "") {
			t.Errorf("%q: %+v, %v", text, got, is)
		}
		if again, _ := state.ParseSecretReference(got.String()); is && again != got {
			t.Errorf("%q comes back as %+v", got, again)
		}
	}
}

func TestASecretStandsWhereItIsHidden(t *testing.T) {
	const named = "{{ secret.wifi.password }}"
	for path, want := range map[string]string{
		"interfaces[0].802.1x.password":             "",
		"interfaces[0].802.1x.private-key-password": "",
		"interfaces[0].macsec.mka-cak":              "",
		"interfaces[0].libreswan.psk":               "",
		"ovs-db.external_ids.remote_psk":            "",
		"interfaces[0].ovs-db.external_ids.psk":     "",
		"ovs-db.external_ids.system-id":             "where its value would be shown",
		"interfaces[0].x_password":                  "where its value would be shown",
		"interfaces[0].description":                 "where its value would be shown",
		"interfaces[0].802.1x.identity":             "where its value would be shown",
		"password[0]":                               "where its value would be shown",
	} {
		_, err := state.CheckSecretReference(path, named)
		if (want == "") != (err == nil) || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", path, err)
		}
	}
	for _, text := range []string{"x{{ secret.wifi.password }}", "{{ secret.wifi }}", "{{ secret.wifi.password 7 }}", "{{ secret.Policy.0a1b }}"} {
		if _, err := state.CheckSecretReference("interfaces[0].802.1x.password", text); err == nil {
			t.Errorf("%s is accepted", text)
		}
	}
}

func TestResolvingFillsEachReferenceAndNothingElse(t *testing.T) {
	const references = `{
	"interfaces": [{"name": "eth1", "802.1x": {"identity": "node1", "password": "{{ secret.b.k 2 }}", "private-key-password": "{{ secret.a.k 1 }}"}}],
	"ovs-db": {"external_ids": {"a_psk": "{{ secret.b.k 2 }}", "b": "{{ var.x }}"}}}`
	s := parse(t, references)
	want := []state.SecretReference{{Name: "a", Key: "k", Version: "1"}, {Name: "b", Key: "k", Version: "2"}}
	if diff := cmp.Diff(want, s.SecretReferences()); diff != "" {
		t.Error(diff)
	}
	filled, err := s.ResolveSecrets(func(path string, r state.SecretReference) (string, error) { return r.Name + " at " + path, nil })
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(parse(t, `{
	"interfaces": [{"name": "eth1", "802.1x": {"identity": "node1", "password": "b at interfaces[eth1].802.1x.password",
		"private-key-password": "a at interfaces[eth1].802.1x.private-key-password"}}],
	"ovs-db": {"external_ids": {"a_psk": "b at ovs-db.external_ids.a_psk", "b": "{{ var.x }}"}}}`).Tree(), filled.Tree()); diff != "" {
		t.Error(diff)
	}
	if !s.Equal(parse(t, references)) {
		t.Error("the state itself was filled")
	}
	_, err = s.ResolveSecrets(func(string, state.SecretReference) (string, error) { return "", errors.New("there is none") })
	if got := fmt.Sprint(err); got != "interfaces[eth1].802.1x.password: there is none" {
		t.Error(got)
	}
}
