package state_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/nmstate/kubernetes-nmstate/handler/state"
)

func referring(_, value string) state.SecretReference {
	return state.SecretReference{Name: state.FromPolicy, Key: strings.ToLower(value)}
}

func TestEachSecretInClearTextBecomesAReference(t *testing.T) {
	for sentence, tt := range map[string]struct{ state, want string }{
		"secrets of 802.1X, MACsec, IPsec and Open vSwitch, and nothing that is public": {
			state: `{"interfaces":[
				{"name":"eth1","802.1x":{"identity":"node","password":"A","private-key":"/etc/key.pem","private-key-password":"B"}},
				{"name":"macsec0","macsec":{"mka-cak":"C","mka-ckn":"01"}},
				{"name":"ipsec0","libreswan":{"psk":"D","right":"192.0.2.1"}},
				{"name":"br0","ovs-db":{"external_ids":{"remote_psk":"E","id":"x"}}}],
				"ovs-db":{"other_config":{"tunnel-psk":"F"},"external_ids":{"x_password":7}}}`,
			want: `{"interfaces":[
				{"name":"eth1","802.1x":{"identity":"node","password":"{{ secret.Policy.a }}","private-key":"/etc/key.pem","private-key-password":"{{ secret.Policy.b }}"}},
				{"name":"macsec0","macsec":{"mka-cak":"{{ secret.Policy.c }}","mka-ckn":"01"}},
				{"name":"ipsec0","libreswan":{"psk":"{{ secret.Policy.d }}","right":"192.0.2.1"}},
				{"name":"br0","ovs-db":{"external_ids":{"remote_psk":"{{ secret.Policy.e }}","id":"x"}}}],
				"ovs-db":{"other_config":{"tunnel-psk":"{{ secret.Policy.f }}"},"external_ids":{"x_password":"{{ secret.Policy.7 }}"}}}`,
		},
		"references, templates and what nmstate hides stay": {
			state: `{"interfaces":[{"name":"eth1","802.1x":{"password":"{{ secret.a.b }}","private-key-password":"<_password_hid_by_nmstate>"}}]}`,
			want:  `{"interfaces":[{"name":"eth1","802.1x":{"password":"{{ secret.a.b }}","private-key-password":"<_password_hid_by_nmstate>"}}]}`,
		},
		"values of the wrong type stay, for the schema to refuse": {
			state: `{"interfaces":[{"name":"eth1","802.1x":{"password":7,"private-key-password":["A"]}}],"ovs-db":{"external_ids":{"a_psk":null}}}`,
			want:  `{"interfaces":[{"name":"eth1","802.1x":{"password":7,"private-key-password":["A"]}}],"ovs-db":{"external_ids":{"a_psk":null}}}`,
		},
	} {
		t.Run(sentence, func(t *testing.T) {
			got := parse(t, tt.state).ReferClear(referring)
			if diff := cmp.Diff(parse(t, tt.want).Tree(), got.Tree()); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// TestAReferenceIsNoDrift: the handler compares what it wants, which refers to a value,
// with what Open vSwitch's database shows.
func TestAReferenceIsNoDrift(t *testing.T) {
	wanted := parse(t, canary("S3cretA")).ReferClear(referring)
	for _, d := range state.Missing(wanted, parse(t, canary("S3cretA"))) {
		t.Errorf("%s", d)
	}
	found := state.Missing(wanted, parse(t, `{"interfaces":[],"ovs-db":{"external_ids":{}}}`))
	if text := cmp.Diff(nil, found); !strings.Contains(text, "ovs-db.external_ids.remote_psk") {
		t.Errorf("a key that is gone is no difference: %s", text)
	}
}

func TestAReportHasNoSecretOfOpenVSwitch(t *testing.T) {
	shown := parse(t, `{"interfaces":[{"name":"br0","ovs-db":{"external_ids":{"a_psk":"Canary","id":"x"}}},{"name":"eth1","mtu":1500}],
		"ovs-db":{"external_ids":{"b_password":"Canary","system-id":"y"},"other_config":{"c-psk":"Canary"}}}`)
	before := string(shown.JSON())
	got := string(shown.WithoutSecrets().JSON())
	if strings.Contains(got, "Canary") || strings.Count(got, state.Hidden) != 3 || !strings.Contains(got, `"system-id":"y"`) || !strings.Contains(got, `"mtu":1500`) {
		t.Error(got)
	}
	if string(shown.JSON()) != before {
		t.Error("the state itself is another one now")
	}
	plain := parse(t, `{"interfaces":[{"name":"eth1"}]}`)
	if !plain.WithoutSecrets().Equal(plain) {
		t.Error("a state without a database is another one")
	}
}
