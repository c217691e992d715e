package desired

import (
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "github.com/nmstate/kubernetes-nmstate/api/v1"
)

func TestRenderCompletesBridgePorts(t *testing.T) {
	const trunk = `{"mode":"trunk","trunk-tags":[{"id-range":{"max":4094,"min":2}}]}`
	for name, test := range map[string]struct {
		state  string
		filter bool
		want   string
	}{
		"a port without a vlan key becomes a trunk": {
			state: `interfaces: [{name: br, type: linux-bridge, state: up, bridge: {port: [{name: a}]}}]`, filter: true,
			want: `{"interfaces":[{"bridge":{"port":[{"name":"a","vlan":` + trunk + `}]},"name":"br","state":"up","type":"linux-bridge"}]}`,
		},
		"not where the node cannot filter VLANs": {
			state: `interfaces: [{name: br, type: linux-bridge, state: up, bridge: {port: [{name: a}]}}]`,
			want:  `{"interfaces":[{"bridge":{"port":[{"name":"a"}]},"name":"br","state":"up","type":"linux-bridge"}]}`,
		},
		"an empty vlan is left alone": {
			state: `interfaces: [{name: br, type: linux-bridge, state: up, bridge: {port: [{name: a, vlan: {}}]}}]`, filter: true,
			want: `{"interfaces":[{"bridge":{"port":[{"name":"a","vlan":{}}]},"name":"br","state":"up","type":"linux-bridge"}]}`,
		},
		"a bridge that goes is left alone": {
			state: `interfaces: [{name: br, type: linux-bridge, state: absent, bridge: {port: [{name: a}]}}]`, filter: true,
			want: `{"interfaces":[{"bridge":{"port":[{"name":"a"}]},"name":"br","state":"absent","type":"linux-bridge"}]}`,
		},
		"an OVS bridge is left alone": {
			state: `interfaces: [{name: br, type: ovs-bridge, state: up, bridge: {port: [{name: a}]}}]`, filter: true,
			want: `{"interfaces":[{"bridge":{"port":[{"name":"a"}]},"name":"br","state":"up","type":"ovs-bridge"}]}`,
		},
		"a key without a value says nothing": {
			state: `interfaces: [{name: e, state: up, mtu: null}]`,
			want:  `{"interfaces":[{"name":"e","state":"up"}]}`,
		},
		"null takes a key of Open vSwitch's database away, so it stays": {
			state: `{ovs-db: {external_ids: {old: null}, other_config: {a: b, c: null}}}`,
			want:  `{"ovs-db":{"external_ids":{"old":null},"other_config":{"a":"b","c":null}}}`,
		},
		"a column of the node's database without a value is not named": {
			state: `{ovs-db: {external_ids: null, other_config: {a: b}}}`,
			want:  `{"ovs-db":{"other_config":{"a":"b"}}}`,
		},
		"a column of an interface without a value is empty, as nmstate reads it": {
			state: `interfaces: [{name: e, ovs-db: {external_ids: null, other_config: {a: null}}}]`,
			want:  `{"interfaces":[{"name":"e","ovs-db":{"external_ids":{},"other_config":{"a":null}}}]}`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			rendering, err := Render(stateOf(t, test.state).JSON(), 0, test.filter)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(test.want, string(rendering.Document.Raw)); diff != "" {
				t.Error(diff)
			}
			// A rendering is read back from an enactment: it renders to itself.
			again, err := Render(rendering.Document.Raw, 0, test.filter)
			if err != nil || again.Hash != rendering.Hash {
				t.Errorf("rendered again: %s, %v", again.Document.Raw, err)
			}
		})
	}
}

func TestRenderNamesWhatIsWrong(t *testing.T) {
	_, err := Render([]byte(`{"interfaces":[{"name":"bond0","link-agregation":{}}]}`), 0, true)
	if err == nil || !strings.HasPrefix(err.Error(), "reading spec.desiredState: ") || !strings.Contains(err.Error(), "link-agregation") {
		t.Errorf("got %v", err)
	}
}

func TestTheHashTellsPrioritiesApart(t *testing.T) {
	raw := []byte(`{"interfaces":[{"name":"e"}]}`)
	plain, _ := Render(raw, 0, true)
	high, _ := Render(raw, 7, true)
	if plain.Hash == high.Hash || plain.Hash != plain.State.Hash() {
		t.Errorf("hashes %s and %s", plain.Hash, high.Hash)
	}
}

func TestFeatures(t *testing.T) {
	got := features(stateOf(t, `
interfaces:
- {name: e, identifier: mac-address, ipv4: {dhcp-custom-hostname: h}, ethernet: {sr-iov: {total-vfs: 2}}, lldp: {enabled: true}}
- {name: br0, type: ovs-bridge, bridge: {port: [{name: bond0, link-aggregation: {mode: balance-slb}}]}}
dns-resolver: {config: {server: [192.0.2.1]}}
routes: {config: []}
ovn: {bridge-mappings: []}
`).Tree())
	want := []string{
		"dhcpv4-custom-hostname", "lldp", "mac-based-identifier", "ovn-mapping", "ovs-bond", "sriov",
		"static-dns-name-server", "static-route",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if got := features(stateOf(t, `interfaces: [{name: e, type: ethernet}]`).Tree()); got != nil {
		t.Errorf("a plain interface uses %v", got)
	}
}

func TestATransitionTimeMovesOnlyWithTheStatus(t *testing.T) {
	at := func(second int64) metav1.Time { return metav1.Unix(second, 0) }
	first := pendingRow("one").onto(nil, at(100))
	same := pendingRow("one").onto(first, at(200))
	if diff := cmp.Diff(first, same); diff != "" {
		t.Errorf("nothing changed:\n%s", diff)
	}
	second := pendingRow("two").onto(first, at(200))
	pending := second[3]
	if pending.LastTransitionTime != at(100) || pending.LastHeartbeatTime != at(200) || pending.Message != "two" {
		t.Errorf("only the message changed: %+v", pending)
	}
	third := successRow().onto(second, at(300))
	if third[1].LastTransitionTime != at(300) || third[0].LastTransitionTime != at(100) {
		t.Errorf("Available changed, Failing did not: %+v", third)
	}
}

func TestMessagesAreOneLineOfOneKiB(t *testing.T) {
	long := strings.Repeat("é", 600) + "\nsecond"
	for _, message := range []string{failedRow(long).message, retryingRow(long, 5).message} {
		if len(message) > 1024 || strings.Contains(message, "\n") || !utf8.ValidString(message) {
			t.Errorf("%d bytes: %q", len(message), message)
		}
	}
	if got := oneLine("first\nsecond\n", 0); got != "first; second" {
		t.Errorf("%q", got)
	}
	if got := retryingRow(long, 5).message; !strings.HasSuffix(got, "... Retrying 5/5") {
		t.Errorf("%q", got)
	}
}

func TestRetriesGrowFromOneSecondToFiveMinutes(t *testing.T) {
	if d := retryDelay("n", "p", 1); d < time.Second || d > 1250*time.Millisecond {
		t.Errorf("first delay %s", d)
	}
	last := time.Duration(0)
	for attempt := int32(1); attempt <= 9; attempt++ {
		d := retryDelay("n", "p", attempt)
		if d <= last || d != retryDelay("n", "p", attempt) {
			t.Errorf("delay %d is %s after %s", attempt, d, last)
		}
		last = d
	}
	different := map[time.Duration]bool{}
	for _, attempt := range []int32{9, 10, 100, 1 << 30} {
		d := retryDelay("n", "p", attempt)
		if d < 4*time.Minute || d > 5*time.Minute {
			t.Errorf("delay %d is %s", attempt, d)
		}
		different[d] = true
	}
	if len(different) == 1 {
		t.Error("there is no jitter")
	}
}

func TestNodeLabelFitsALabelValue(t *testing.T) {
	long := strings.Repeat("a", 49) + "." + strings.Repeat("b", 100)
	first, second := NodeLabel(long+"1"), NodeLabel(long+"2")
	if NodeLabel("node1.example.com") != "node1.example.com" || first == second || len(first) > 63 {
		t.Errorf("%q %q", first, second)
	}
	if v1.EnactmentNodeLabel != "nmstate.io/node" {
		t.Error("the label is the older project's")
	}
}
