package policy

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/clock"

	v1 "github.com/nmstate/kubernetes-nmstate/api/v1"
	"github.com/nmstate/kubernetes-nmstate/handler/desired"
	"github.com/nmstate/kubernetes-nmstate/handler/state"
)

// takes is a resolver of captures that tells what it was asked about.
type takes struct{ current state.State }

func (r *takes) Resolve(_ context.Context, _ []byte, current state.State) (state.State, map[string]state.State, error) {
	r.current = current
	return state.FromTree(map[string]any{}), nil, nil
}

// A node whose report tells of eth0 only, and which has eth1 besides.
func TestWhatATruncatedReportLeavesOutIsAskedOfTheNode(t *testing.T) {
	whole, err := state.Parse([]byte(`{"interfaces":[{"name":"eth0","type":"ethernet"},{"name":"eth1","type":"ethernet","lldp":{"neighbors":[[{"type":1,"chassis-id":"a"}]]}}]}`))
	if err != nil {
		t.Fatal(err)
	}
	knows := func() (state.State, bool) { return whole, true }
	begins := func() (state.State, bool) { return state.State{}, false }
	match := v1.NodeNetworkConfigurationPolicySpec{Match: []v1.InterfaceRule{{Name: "eth1"}}, DesiredState: v1.NewState([]byte(`{"interfaces":[{"mtu":1400}]}`))}
	captures := v1.NodeNetworkConfigurationPolicySpec{
		Capture: map[string]string{"a": `interfaces.name=="eth1"`}, DesiredState: v1.NewState([]byte(`{"interfaces":[]}`)),
	}
	for sentence, test := range map[string]struct {
		spec    v1.NodeNetworkConfigurationPolicySpec
		whole   func() (state.State, bool)
		matched string
		waiting string
		err     string
	}{
		"match, in the node's own handler":                          {spec: match, whole: knows, matched: "eth1"},
		"match, in a handler that has just begun":                   {spec: match, whole: begins, waiting: waitingForMatch},
		"match, in the controllers":                                 {spec: match, err: "the node's report is truncated"},
		"captures, in the node's own handler":                       {spec: captures, whole: knows},
		"captures, in a handler that has just begun":                {spec: captures, whole: begins, waiting: waitingForReport},
		"captures, in the controllers":                              {spec: captures, err: "the node's report is truncated"},
		"a policy that names its interfaces, in the controllers":    {spec: v1.NodeNetworkConfigurationPolicySpec{DesiredState: v1.NewState([]byte(`{"interfaces":[{"name":"eth1","type":"ethernet"}]}`))}},
		"a type that the kernel cannot make is left to the node":    {spec: v1.NodeNetworkConfigurationPolicySpec{DesiredState: v1.NewState([]byte(`{"interfaces":[{"name":"d0","type":"dummy"}]}`))}},
		"a type that the kernel cannot make, where the node is all": {spec: v1.NodeNetworkConfigurationPolicySpec{DesiredState: v1.NewState([]byte(`{"interfaces":[{"name":"d0","type":"dummy"}]}`))}, whole: knows, err: "dummy"},
	} {
		t.Run(sentence, func(t *testing.T) {
			asked := &takes{}
			r := New(Options{Clock: clock.RealClock{}, Captures: asked, Whole: test.whole})
			nns := &v1.NodeNetworkState{Status: v1.NodeNetworkStateStatus{
				CurrentState: v1.NewState([]byte(`{"interfaces":[{"name":"eth0","type":"ethernet"}]}`)), Truncated: &v1.Truncated{Size: 1 << 20},
				BridgeVLANFiltering: new(true), Capabilities: &v1.Capabilities{MissingLinkTypes: []string{"dummy"}},
			}}
			policy := &v1.NodeNetworkConfigurationPolicy{ObjectMeta: metav1.ObjectMeta{Name: "p", UID: "u", Generation: 1}, Spec: test.spec}
			m, g := newMemory(), &gathered{input: desired.Input{Node: "node1"}, state: nns, local: test.whole != nil}
			if test.whole != nil {
				if known, is := test.whole(); is {
					g.input.Whole = &known
				}
			}
			got := r.render(t.Context(), m, g, policy)
			if matched := strings.Join(got.MatchedInterfaces, " "); matched != test.matched || got.Waiting != test.waiting {
				t.Errorf("matched %q, waiting %q", matched, got.Waiting)
			}
			if got.Err == nil && test.err != "" || got.Err != nil && (test.err == "" || !strings.Contains(got.Err.Error(), test.err)) {
				t.Errorf("error %v, want %q", got.Err, test.err)
			}
			if test.err != "" && test.whole == nil && !m.renderings["u"].open {
				t.Error("it is not looked at again once the report is whole")
			}
			if blind := test.waiting != ""; (g.again(0) == wholeRetry) != blind || g.again(time.Millisecond) != time.Millisecond {
				t.Errorf("the next turn is in %s", g.again(0))
			}
			if _, there := asked.current.Interface("eth1"); there != (strings.HasPrefix(sentence, "captures") && test.whole != nil && test.waiting == "") {
				t.Errorf("captures were resolved from %s", asked.current.JSON())
			}
		})
	}
}

func TestCapturedStatesAreWithinTheirBound(t *testing.T) {
	var interfaces []any
	for i := range 1500 {
		interfaces = append(interfaces, map[string]any{"name": fmt.Sprintf("br%d", i), "type": "linux-bridge", "description": strings.Repeat("x", 1500)})
	}
	large := state.FromTree(map[string]any{"interfaces": interfaces})
	small := state.FromTree(map[string]any{"interfaces": interfaces[:1]})
	for _, captures := range []int{1, 2, 64} {
		captured := map[string]state.State{"small": small}
		for i := range captures - 1 {
			captured[fmt.Sprintf("large%d", i)] = large
		}
		if captures == 1 {
			captured["small"] = large
		}
		shown := told(captured, v1.CapturedStateMeta{})
		raw, err := json.Marshal(shown)
		if err != nil {
			t.Fatal(err)
		}
		const names = 64 * 100 // Name, time and version of each.
		if len(raw) > maxCaptured+names {
			t.Errorf("%d captures take %d bytes", captures, len(raw))
		}
		if one := shown["small"]; (one.Truncated != nil) != (captures == 1) {
			t.Errorf("of %d captures the small one is told as %+v", captures, one.Truncated)
		}
		if one, is := shown["large0"]; is && (one.Truncated == nil || one.Truncated.Omitted[0].Count != 1500) {
			t.Errorf("what a large one leaves out is told as %+v", one.Truncated)
		}
	}
}
