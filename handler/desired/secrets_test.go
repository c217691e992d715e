package desired

import (
	"fmt"
	"strings"
	"testing"

	v1 "github.com/nmstate/kubernetes-nmstate/api/v1"
)

const namesPassword = `{"interfaces":[{"name":"eth1","type":"ethernet","802.1x":{"password":"{{ secret.wifi.password }}"}}]}`

func rendered(t *testing.T, raw string) Rendering {
	t.Helper()
	made, err := Render([]byte(raw), 0, false)
	if err != nil {
		t.Fatal(err)
	}
	return made
}

func TestSecuredRefersToWhatTheNodeWasGiven(t *testing.T) {
	made := rendered(t, namesPassword)
	for sentence, c := range map[string]struct {
		given             []v1.SealedSecret
		want, waits, says string
	}{
		"a version of it": {
			given: []v1.SealedSecret{{Name: "wifi", Key: "psk", Version: "1-a"}, {Name: "wifi", Key: "password", Version: "2-a", Sealed: "x"}},
			want:  strings.Replace(namesPassword, "password }}", "password 2-a }}", 1),
		},
		"nothing yet":      {waits: "Waiting for the controllers to hand this node the key password of Secret wifi"},
		"another key only": {given: []v1.SealedSecret{{Name: "wifi", Key: "psk", Version: "1-a"}}, waits: "Waiting for the controllers"},
		"why there is none": {
			given: []v1.SealedSecret{{Name: "wifi", Key: "password", Problem: "there is no Secret wifi: create it"}},
			says:  "spec.desiredState.interfaces[eth1].802.1x.password: there is no Secret wifi: create it",
		},
	} {
		t.Run(sentence, func(t *testing.T) {
			got, waiting, err := Secured(made, 0, c.given)
			if !strings.HasPrefix(waiting, c.waits) || (waiting == "") != (c.waits == "") || fmt.Sprint(err) != orNil(c.says) {
				t.Fatalf("waiting %q, %v", waiting, err)
			}
			if c.want != "" && string(got.Document.Raw) != string(rendered(t, c.want).Document.Raw) {
				t.Errorf("got %s", got.Document.Raw)
			}
		})
	}
	one, _, _ := Secured(made, 0, []v1.SealedSecret{{Name: "wifi", Key: "password", Version: "1-a"}})
	two, _, _ := Secured(one, 0, []v1.SealedSecret{{Name: "wifi", Key: "password", Version: "2-a"}})
	if one.Hash == two.Hash || one.Hash == made.Hash {
		t.Error("another version is no other rendering")
	}
}

func orNil(text string) string {
	if text == "" {
		return "<nil>"
	}
	return text
}

func TestReferencesPassLibnmstateAsTheyAre(t *testing.T) {
	covered := CoverSecrets([]byte(namesPassword))
	if strings.Contains(string(covered), opening) {
		t.Errorf("libnmstate would read %s", covered)
	}
	if back := UncoverSecrets(covered, []byte(namesPassword)); string(back) != namesPassword {
		t.Errorf("comes back as %s", back)
	}
}

// TestTheSpecBringsTheSecretsOfWhatIsCommittedToo: the node goes back to that.
func TestTheSpecBringsTheSecretsOfWhatIsCommittedToo(t *testing.T) {
	sealed := func(version string) v1.SealedSecret {
		return v1.SealedSecret{Name: "wifi", Key: "password", Version: version, Sealed: "sealed-" + version}
	}
	of := func(version string) Rendering {
		return rendered(t, strings.Replace(namesPassword, "password }}", "password "+version+" }}", 1))
	}
	turn := func(committed, wanted string, has, given []v1.SealedSecret) (*turn, aggregate) {
		e := v1.NodeNetworkConfigurationEnactment{}
		e.Spec.Secrets = given
		state := &v1.NodeNetworkState{}
		state.Spec.Secrets = has
		held := &Contribution{Policy: "p", State: of(committed).State}
		return &turn{in: Input{State: state, Enactments: []v1.NodeNetworkConfigurationEnactment{e}}, members: []*member{{name: "p", held: held}}},
			fold([]Contribution{{Policy: "p", State: of(wanted).State}})
	}
	rotated, target := turn("1-a", "2-a", []v1.SealedSecret{sealed("1-a"), sealed("0-a")}, []v1.SealedSecret{sealed("2-a")})
	if got := fmt.Sprint(rotated.secretsOf(target)); got != fmt.Sprint([]v1.SealedSecret{sealed("1-a"), sealed("2-a")}) {
		t.Errorf("brings %s", got)
	}
	if rotated.hasSecrets(target) {
		t.Error("the spec has not what is new")
	}
	lost, target := turn("1-a", "1-a", nil, []v1.SealedSecret{sealed("1-a")})
	if lost.hasSecrets(target) {
		t.Error("the spec has lost what can be brought again")
	}
	gone, target := turn("1-a", "1-a", nil, []v1.SealedSecret{sealed("2-a")})
	if !gone.hasSecrets(target) {
		t.Error("a write that brings nothing")
	}
}
