package state_test

import (
	"testing"

	"github.com/nmstate/kubernetes-nmstate/handler/state"
)

func TestWhatStaysOfAPolicyThatCouldNotBeTakenOff(t *testing.T) {
	both := `{"interfaces": [{"name": "eth0", "ipv4": {"address": ["192.0.2.13/24", "198.51.100.7/24"]}}, {"name": "eth1", "mtu": 1400}]}`
	one := `{"interfaces": [{"name": "eth0", "ipv4": {"address": ["198.51.100.7/24"]}}, {"name": "eth1", "mtu": 1400}]}`
	stays := `{"interfaces": [{"name": "eth0", "ipv4": {"address": ["192.0.2.13/24", "198.51.100.7/24"]}}]}`
	for sentence, c := range map[string]struct {
		known, from, desired string
		failed               bool
		want                 string
	}{
		"a removal that succeeded leaves nothing":           {"{}", both, one, false, "{}"},
		"one that failed leaves what it would have changed": {"{}", both, one, true, stays},
		"it stays while others are changed":                 {stays, one, `{"interfaces": [{"name": "eth0", "ipv4": {"address": ["198.51.100.7/24"]}}, {"name": "eth2"}]}`, false, stays},
		"it stays where another removal fails":              {stays, one, `{"interfaces": [{"name": "eth0"}]}`, true, stays},
		"it goes where the interface is changed":            {stays, one, `{"interfaces": [{"name": "eth0", "mtu": 1300}]}`, false, "{}"},
		"it goes with the interface":                        {stays, one, `{"interfaces": [{"name": "eth1", "mtu": 1400}]}`, false, "{}"},
	} {
		t.Run(sentence, func(t *testing.T) {
			got := state.Staying(parse(t, c.known), parse(t, c.from), parse(t, c.desired), c.failed)
			if !got.Equal(parse(t, c.want)) {
				t.Errorf("got %s, want %s", got.JSON(), c.want)
			}
		})
	}
	if got := parse(t, one).WithStaying(parse(t, stays)); !got.Equal(parse(t, both)) {
		t.Errorf("with what stays: %s", got.JSON())
	}
}
