package view

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "github.com/nmstate/kubernetes-nmstate/api/v1"
)

// reported is a node with three interfaces, of which two policies set something.
func reported() *v1.NodeNetworkState {
	source := func(policy string, paths ...string) v1.DesiredSource {
		return v1.DesiredSource{Source: v1.Source{Policy: policy}, Paths: paths}
	}
	return &v1.NodeNetworkState{
		ObjectMeta: metav1.ObjectMeta{Name: "node1"},
		Spec: v1.NodeNetworkStateSpec{Sources: []v1.DesiredSource{
			source("mtu", "interfaces[br1].mtu", "interfaces[eth1].mtu", "routes.config[198.51.100.0/24]"), source("address", "interfaces[br1].ipv4.enabled", "interfaces[br1].ipv4.address[192.0.2.1/24]"),
		}},
		Status: v1.NodeNetworkStateStatus{CurrentState: v1.NewState([]byte(`{"interfaces":[
			{"name":"br1","type":"linux-bridge","state":"up","mtu":9000,"ipv4":{"enabled":true,"address":[{"ip":"192.0.2.1","prefix-length":24}]},"ipv6":{"enabled":true,"address":[{"ip":"fe80::1","prefix-length":64}]}},
			{"name":"eth1","type":"ethernet","state":"up","mtu":1400,"mac-address":"02:00:00:00:00:01","controller":"br1"},
			{"name":"tun0","type":"tun"}]}`))},
	}
}

func TestInterfaces(t *testing.T) {
	tests := map[string]struct {
		where string
		want  []string
	}{
		"all of them": {"true", []string{
			"NODE    INTERFACE   TYPE           STATE   MTU    MAC                 ADDRESSES                 POLICIES",
			"node1   br1         linux-bridge   up      9000   -                   192.0.2.1/24,fe80::1/64   mtu,address",
			"node1   eth1        ethernet       up      1400   02:00:00:00:00:01   -                         mtu",
			"node1   tun0        tun            -       -      -                   -                         -",
		}},
		"by a number":             {"mtu > 1500", []string{"br1"}},
		"by a text":               {"name.startsWith('eth') && node == 'node1' && type == 'ethernet' && state == 'up' && mac != ''", []string{"eth1"}},
		"by who has set it":       {"policies.size() == 0", []string{"tun0"}},
		"by what it is a port of": {"controller == 'br1'", []string{"eth1"}},
		"by an address":           {"addresses.exists(a, cidr('192.0.2.0/24').containsCIDR(a))", []string{"br1"}},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			holds, err := Where(tc.where)
			if err != nil {
				t.Fatal(err)
			}
			all, err := Interfaces(reported())
			if err != nil {
				t.Fatal(err)
			}
			var found []Interface
			for _, one := range all {
				is, err := holds(one)
				if err != nil {
					t.Fatal(err)
				}
				if is {
					found = append(found, one)
				}
			}
			lines := InterfaceTable(found)
			if len(tc.want) == 1 {
				if len(lines) != 2 || strings.Fields(lines[1])[1] != tc.want[0] {
					t.Errorf("found %q, want %q", lines, tc.want)
				}
				return
			}
			if diff := cmp.Diff(tc.want, lines); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
		})
	}
}

func TestAWrongExpressionIsOneLine(t *testing.T) {
	const there = "; there are node, name, type, state, mtu, mac, controller, addresses, policies"
	tests := map[string]struct{ where, want string }{
		"an unknown word":             {"mtuu > 1500", "mtuu > 1500: column 1: undeclared reference to 'mtuu'" + there},
		"something that is not whole": {"mtu >", "mtu >: column 6: mismatched input '<EOF>'" + there},
		"a number and a text":         {"mtu > '1500'", "mtu > '1500': column 5: found no matching overload for '_>_' applied to '(int, string)'" + there},
		"what is not true or false":   {"mtu", "mtu: is a int, want true or false"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			_, err := Where(tc.where)
			if err == nil || !strings.HasPrefix(err.Error(), tc.want) || strings.Contains(err.Error(), "\n") {
				t.Errorf("%v, want %s", err, tc.want)
			}
		})
	}
	holds, err := Where("addresses[0] == ''")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := holds(Interface{Node: "node1", Name: "eth1"}); err == nil || !strings.Contains(err.Error(), "on interface eth1 of node node1") {
		t.Errorf("an expression that cannot be worked out: %v", err)
	}
}
