package nmstate

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/nmstate/kubernetes-nmstate/handler/state"
)

func TestBefore(t *testing.T) {
	const current = `{
		"interfaces": [
			{"name": "eth0", "type": "ethernet", "state": "up"},
			{"name": "eth1", "type": "ethernet", "state": "up", "mtu": 1500}],
		"routes": {"config": [
			{"destination": "0.0.0.0/0", "next-hop-interface": "eth0", "next-hop-address": "10.0.0.1"},
			{"destination": "0.0.0.0/0", "next-hop-interface": "eth1", "next-hop-address": "192.0.2.254"}]},
		"route-rules": {"config": [{"ip-to": "192.0.2.0/24", "route-table": 200}]},
		"dns-resolver": {"config": {"server": ["192.0.2.53"]}}}`
	cases := map[string]struct{ desired, want string }{
		"nothing desired is nothing to take back": {desired: `{}`, want: `{}`},
		"an interface goes back with its routes and without a controller": {
			desired: `{"interfaces": [{"name": "eth1", "mtu": 1400}]}`,
			want: `{"interfaces": [{"name": "eth1", "type": "ethernet", "state": "up", "mtu": 1500, "controller": ""}],
				"routes": {"config": [{"state": "absent", "next-hop-interface": "eth1"},
					{"destination": "0.0.0.0/0", "next-hop-interface": "eth1", "next-hop-address": "192.0.2.254"}]}}`,
		},
		"a new interface goes, its port goes back": {
			desired: `{"interfaces": [{"name": "br0", "type": "linux-bridge", "bridge": {"port": [{"name": "eth1"}]}}]}`,
			want: `{"interfaces": [{"name": "br0", "type": "linux-bridge", "state": "absent"},
					{"name": "eth1", "type": "ethernet", "state": "up", "mtu": 1500, "controller": ""}],
				"routes": {"config": [{"state": "absent", "next-hop-interface": "eth1"},
					{"destination": "0.0.0.0/0", "next-hop-interface": "eth1", "next-hop-address": "192.0.2.254"}]}}`,
		},
		"DNS and rules go back as wholes": {
			desired: `{"dns-resolver": {"config": {"server": ["192.0.2.54"]}}, "route-rules": {"config": [{"priority": 1}]}}`,
			want: `{"dns-resolver": {"config": {"server": ["192.0.2.53"]}},
				"route-rules": {"config": [{"state": "absent"}, {"ip-to": "192.0.2.0/24", "route-table": 200}]}}`,
		},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			got := before(parsed(t, c.desired), parsed(t, current))
			if diff := cmp.Diff(string(parsed(t, c.want).JSON()), string(got.JSON())); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func parsed(t *testing.T, raw string) state.State {
	t.Helper()
	s, err := state.Parse([]byte(raw))
	if err != nil {
		t.Fatal(err)
	}
	return s
}
