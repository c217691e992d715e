package state_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/nmstate/kubernetes-nmstate/handler/state"
)

func TestReportLeavesOutWhatNobodyManagesAndWhatCountsDown(t *testing.T) {
	current := parse(t, string(samples(t)["report-node1"]))
	before := indented(current)
	report := state.Report(current)
	if diff := cmp.Diff(before, indented(current)); diff != "" {
		t.Errorf("the report shares parts of what it was made of, and changed them: %s", diff)
	}

	var names []string
	for _, one := range report.Interfaces() {
		names = append(names, one.Name)
	}
	if diff := cmp.Diff([]string{"bond7", "br1", "eth0", "eth1", "lo"}, names); diff != "" {
		t.Errorf("interfaces: %s", diff)
	}
	text := indented(report)
	for _, gone := range []string{"veth77ab", "life-time", "gc-timer", "hello-timer", "10.244.1.5"} {
		if strings.Contains(text, gone) {
			t.Errorf("%s is in the report", gone)
		}
	}
	for _, kept := range []string{"hostname", "route-rules", "dns-resolver", "mac-ageing-time", "miimon", "fe80::/64"} {
		if !strings.Contains(text, kept) {
			t.Errorf("%s is not in the report", kept)
		}
	}
	if names := report.Interfaces()[1].Ports(); !slices.Equal(names, []string{"eth1"}) {
		t.Errorf("ports of the bridge: %v", names)
	}
	if rules := report.RouteRules(); rules[0].Priority != 30000 {
		t.Errorf("the first rule is %s", rules[0])
	}
	if again := state.Report(report); !again.Equal(report) {
		t.Error("a report of a report is another one")
	}
}

func TestReportKeepsTheUnmanagedVethThatAPolicyNames(t *testing.T) {
	report := state.Report(parse(t, string(samples(t)["report-node1"])), "veth77ab")
	if _, there := report.Interface("veth77ab"); !there {
		t.Error("the interface is not in the report")
	}
	if !strings.Contains(indented(report), "10.244.1.5") {
		t.Error("its route is not in the report")
	}
}

func TestReportOfNothing(t *testing.T) {
	if !state.Report(state.State{}).IsEmpty() {
		t.Error("there is something")
	}
}

func TestSameReport(t *testing.T) {
	one := parse(t, string(samples(t)["report-node1"]))
	for name, test := range map[string]struct {
		value any
		path  []any
		same  bool
	}{
		"another lifetime":          {"1sec", []any{"interfaces", primary, "ipv4", "address", 0, "preferred-life-time"}, true},
		"another timer":             {1, []any{"interfaces", bridge, "bridge", "options", "hello-timer"}, true},
		"a pod's interface changes": {"2E:DB:00:00:00:00", []any{"interfaces", podVeth, "mac-address"}, true},
		"another MTU":               {1400, []any{"interfaces", primary, "mtu"}, false},
		"another hostname":          {"node2", []any{"hostname", "running"}, false},
		"another metric":            {101, []any{"routes", "running", 0, "metric"}, false},
	} {
		t.Run(name, func(t *testing.T) {
			if got := state.SameReport(one, changed(t, one, test.value, test.path...)); got != test.same {
				t.Errorf("same is %v", got)
			}
		})
	}
	t.Run("another order", func(t *testing.T) {
		tree := one.Tree()
		slices.Reverse(tree["interfaces"].([]any))
		slices.Reverse(tree["routes"].(map[string]any)["running"].([]any))
		if !state.SameReport(one, state.FromTree(tree)) {
			t.Error("not the same")
		}
	})
}
