package agent

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	v1 "github.com/nmstate/kubernetes-nmstate/api/v1"
	"github.com/nmstate/kubernetes-nmstate/handler/state"
	"github.com/nmstate/kubernetes-nmstate/handler/txn"
)

// lacking is a kernel that can make what is not in it.
type lacking []string

func (k lacking) CanMake(kind string) bool      { return !slices.Contains(k, kind) }
func (k lacking) Links() (can, cannot []string) { return []string{"veth"}, k }

func TestWhatCannotBeOnTheNodeIsToldBeforeItIsTried(t *testing.T) {
	t.Parallel()
	before := stateOf(t, `{"interfaces":[{"name":"eth0","type":"ethernet","state":"up","mac-address":"02:00:00:00:00:01"},{"name":"bond0","type":"bond","state":"up"},{"name":"lo","type":"loopback"}]}`)
	for sentence, test := range map[string]struct {
		desired string
		want    *txn.Cause
	}{
		"nothing speaks against what is there": {`{"interfaces":[{"name":"eth0","type":"ethernet","mtu":1400},{"name":"bond0","type":"bond","mtu":1400}]}`, nil},
		"a link that the kernel has no driver for": {
			`{"interfaces":[{"name":"bond1","type":"bond","state":"up"}]}`,
			&txn.Cause{Message: "interfaces[bond1]: the kernel of this node cannot make interfaces of type bond (operation not supported); give the node a kernel or module that can, or leave it out of the policy"},
		},
		"an interface that is not there is waited for": {
			`{"interfaces":[{"name":"eth9","type":"ethernet","state":"up"}]}`,
			&txn.Cause{Message: "interfaces[eth9] is not on this node, which has bond0, eth0; it is tried again once it is there", Awaits: []string{"eth9"}},
		},
		"so are several": {
			`{"interfaces":[{"name":"br1","type":"linux-bridge","bridge":{"port":[{"name":"eth8"}]}}],"routes":{"config":[{"destination":"192.0.2.0/24","next-hop-interface":"eth9"}]}}`,
			&txn.Cause{
				Message: "interfaces[br1]: port eth8, routes[192.0.2.0/24]: next-hop-interface eth9 are not on this node, which has bond0, eth0; it is tried again once they are there",
				Awaits:  []string{"eth8", "eth9"},
			},
		},
		"a NIC that two names mean is not guessed": {
			`{"interfaces":[{"name":"eth0","type":"ethernet","mtu":1400},{"name":"uplink","type":"ethernet","identifier":"mac-address","mac-address":"02:00:00:00:00:01","mtu":1500}]}`,
			&txn.Cause{Message: "interfaces[eth0] and interfaces[uplink] both mean eth0 of this node: use one name for it in all policies"},
		},
	} {
		t.Run(sentence, func(t *testing.T) {
			a := &Agent{Options: Options{Kernel: lacking{"bond"}}}
			if diff := cmp.Diff(test.want, a.impossible(stateOf(t, test.desired), stateOf(t, test.desired), before)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestTheReportTellsWhatTheKernelCanMake(t *testing.T) {
	t.Parallel()
	a := &Agent{Options: Options{Kernel: lacking{"bond", "vlan"}}}
	want := &v1.Capabilities{LinkTypes: []string{"veth"}, MissingLinkTypes: []string{"bond", "vlan"}}
	if diff := cmp.Diff(want, a.capabilities()); diff != "" {
		t.Error(diff)
	}
	if got := (&Agent{}).capabilities(); got != nil {
		t.Errorf("where nothing is known: %v", got)
	}
}

func stateOf(t *testing.T, raw string) state.State {
	t.Helper()
	parsed, err := state.Parse([]byte(raw))
	if err != nil {
		t.Fatal(err)
	}
	return parsed
}
