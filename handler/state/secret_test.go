package state_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/nmstate/kubernetes-nmstate/handler/state"
)

// canary is a secret of each kind that a desired state may hold.
func canary(secret string) string {
	return fmt.Sprintf(`{
	"interfaces": [
		{"name": "eth1", "type": "ethernet", "802.1x": {"eap-methods": ["tls"], "identity": "node1", "private-key": "/etc/key.pem",
			"private-key-password": %[1]q, "password": %[1]q}},
		{"name": "macsec0", "type": "macsec", "macsec": {"base-iface": "eth1", "mka-cak": %[1]q, "mka-ckn": "01"}},
		{"name": "ipsec0", "type": "ipsec", "libreswan": {"right": "192.0.2.1", "psk": %[1]q}}],
	"ovs-db": {"external_ids": {"remote_psk": %[1]q}, "other_config": {"tunnel-psk": %[1]q}}}`, secret)
}

func TestASecretIsInNoDifference(t *testing.T) {
	mine, other := parse(t, canary("S3cretA")), parse(t, canary("S3cretB"))
	none := parse(t, `{"interfaces": [{"name": "eth1", "type": "ethernet"}], "ovs-db": {"external_ids": {}}}`)
	found := 0
	for _, differences := range [][]state.Difference{
		state.Diff(mine, other), state.Diff(none, mine), state.Diff(mine, none), state.Missing(mine, other), state.Missing(mine, none),
	} {
		for _, d := range differences {
			if text := fmt.Sprintf("%s %+v", d, d); strings.Contains(text, "S3cret") {
				t.Errorf("%s", text)
			} else if strings.Contains(text, state.Hidden) {
				found++
			}
		}
	}
	const kinds = 6 // In Diff(mine, other) alone.
	if found < kinds {
		t.Errorf("only %d secrets were compared at all", found)
	}
}

func TestASecretIsInNoRefusal(t *testing.T) {
	for sentence, section := range map[string]string{
		"a number where text is wanted": `"802.1x": {"private-key-password": 31337}`,
		"a list where text is wanted":   `"802.1x": {"password": ["31337"]}`,
	} {
		t.Run(sentence, func(t *testing.T) {
			_, err := state.ParseDesired([]byte(`{"interfaces": [{"name": "eth1", "type": "ethernet", ` + section + `}]}`))
			if err == nil {
				t.Fatal("it is accepted")
			}
			if strings.Contains(err.Error(), "31337") {
				t.Error(err)
			}
		})
	}
}

func TestMaskedLeavesTheStateAsItIs(t *testing.T) {
	mine := parse(t, canary("S3cretA"))
	tree := mine.Tree()
	masked := fmt.Sprint(state.Masked(tree))
	if strings.Contains(masked, "S3cret") || !strings.Contains(masked, "/etc/key.pem") {
		t.Errorf("%s", masked)
	}
	if !state.FromTree(tree).Equal(mine) {
		t.Error("the tree that was masked is another one now")
	}
}
