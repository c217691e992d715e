package fault_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/nmstate/kubernetes-nmstate/sim/fault"
	"github.com/nmstate/kubernetes-nmstate/sim/world"
)

// noted is a cluster that only writes down what is done to it.
type noted struct{ w *world.World }

func (n noted) say(format string, values ...any) {
	n.w.Trace("", "effect", fmt.Sprintf(format, values...))
}

func (n noted) KeepAway(node string, away bool)                  { n.say("keep away %s %t", node, away) }
func (n noted) Crash(process string, _ time.Duration)            { n.say("crash %s", process) }
func (n noted) Rewind(process string, _, _ time.Duration)        { n.say("rewind %s", process) }
func (n noted) Overlap(node string, on bool)                     { n.say("overlap %s %t", node, on) }
func (n noted) ChangeLeader(*rand.Rand)                          { n.say("leader") }
func (n noted) Skew(process string, by time.Duration)            { n.say("skew %s %s", process, by) }
func (n noted) Lag(process string, by time.Duration)             { n.say("lag %s %s", process, by) }
func (n noted) LoseEvents(process string, on bool, _ *rand.Rand) { n.say("events %s %t", process, on) }
func (n noted) Touch(node string)                                { n.say("touch %s", node) }
func (n noted) RestartManager(node string, _ time.Duration)      { n.say("restart %s", node) }
func (n noted) KillManager(node string, on bool, _ *rand.Rand)   { n.say("kill %s %t", node, on) }
func (n noted) HangManager(node string, on bool)                 { n.say("hang %s %t", node, on) }
func (n noted) RefusePutBack(node string, on bool)               { n.say("putback %s %t", node, on) }
func (n noted) Answer(process string, status int, _ float64, _ *rand.Rand) {
	n.say("answer %s %d", process, status)
}
func (n noted) SpoilApply(node, how string, _ *rand.Rand)        { n.say("spoil %s %q", node, how) }
func (n noted) ExpireCheckpoint(node string)                     { n.say("expire %s", node) }
func (n noted) ForeignCheckpoint(node string, on bool)           { n.say("foreign %s %t", node, on) }
func (n noted) Reboot(node string, _ time.Duration, abrupt bool) { n.say("reboot %s %t", node, abrupt) }
func (n noted) Carrier(node, nic string, up bool)                { n.say("carrier %s %s %t", node, nic, up) }
func (n noted) Drift(node string, _ *rand.Rand)                  { n.say("drift %s", node) }
func (n noted) Disconnect(node string, _ *rand.Rand)             { n.say("disconnect %s", node) }
func (n noted) FillDisk(node string, on bool)                    { n.say("disk %s %t", node, on) }
func (n noted) Partition(node string, requests, replies bool) {
	n.say("partition %s %t %t", node, requests, replies)
}
func (n noted) DHCP(how string)                        { n.say("dhcp %q", how) }
func (n noted) Probes(node, how string)                { n.say("probes %s %q", node, how) }
func (n noted) Service(name string, up bool)           { n.say("service %s %t", name, up) }
func (n noted) AddNode()                               { n.say("add") }
func (n noted) RemoveNode(node string)                 { n.say("remove %s", node) }
func (n noted) EditPolicy(node string, _ *rand.Rand)   { n.say("edit %s", node) }
func (n noted) DeletePolicy(node string, _ *rand.Rand) { n.say("delete %s", node) }
func (n noted) Manage(node string, managed bool)       { n.say("manage %s %t", node, managed) }
func (n noted) EditAgain(node string, first bool, _ *rand.Rand) {
	n.say("edit again %s %t", node, first)
}
func (n noted) DeleteOtherwise(node string, _ *rand.Rand)       { n.say("delete otherwise %s", node) }
func (n noted) RenamePolicy(node string, _ *rand.Rand)          { n.say("rename %s", node) }
func (n noted) SwitchMode(node string, plan bool, _ *rand.Rand) { n.say("mode %s %t", node, plan) }
func (n noted) MoveLabel(node string, away bool, _ *rand.Rand)  { n.say("label %s %t", node, away) }
func (n noted) Lie(node string, on bool, _ *rand.Rand)          { n.say("lie %s %t", node, on) }
func (n noted) WriteState(node string, _ *rand.Rand)            { n.say("write %s", node) }
func (n noted) NodeReady(node string, ready bool)               { n.say("ready %s %t", node, ready) }

// toy has a node1 whose process calls its backend and the API server once a
// second, and tells what becomes of it.
func toy(t *testing.T, plan fault.Plan) (string, *fault.Injector) {
	t.Helper()
	w := world.New(1)
	var said []string
	w.Sink = func(l world.Line) {
		if l.What == "fault" || l.What == "effect" || l.What == "killed" || l.What == "told" {
			said = append(said, strings.TrimSpace(fmt.Sprintf("%s %s %s", l.At.Truncate(time.Second), l.What, l.Text)))
		}
	}
	injector, err := fault.New(fault.Options{
		World: w, Plan: plan, Effects: noted{w},
		Target: func(p *world.Process) string { return p.Name },
		Phase:  func(string) string { return "Probing" },
	})
	if err != nil {
		t.Fatal(err)
	}
	w.Interpose = injector.Interpose
	p := w.Process("node1")
	p.Go("main", func() {
		for i := range 10 {
			p.Clock().Sleep(time.Duration(i+1)*time.Second - w.Elapsed())
			for _, port := range []string{"backend", "api"} {
				if err := p.Call(context.Background(), port, "patch", "x", func() error { return nil }); err != nil {
					w.Trace("", "told", port+" "+strings.TrimPrefix(err.Error(), "injected: "))
				}
			}
		}
	})
	if err := w.RunFor(9500 * time.Millisecond); err != nil {
		t.Fatal(err)
	}
	injector.Heal()
	if err := w.RunFor(time.Minute); err != nil {
		t.Fatal(err)
	}
	return strings.Join(said, "\n"), injector
}

func TestFaultsBeginAndEnd(t *testing.T) {
	tests := map[string]struct {
		fault fault.Fault
		want  []string
	}{
		"at a time, for a time": {
			fault.Fault{Kind: "nm-hang", Target: "node1", At: 2 * time.Second, For: 3 * time.Second},
			[]string{
				"2s fault begin nm-hang#1: at 2s, for 3s", "2s effect hang node1 true",
				"5s fault end nm-hang#1", "5s effect hang node1 false",
			},
		},
		"at an instant": {
			fault.Fault{Kind: "reboot", Target: "node1", At: 2 * time.Second},
			[]string{"2s fault reboot#1: at 2s", "2s effect reboot node1 false"},
		},
		"at a call, the second one from then": {
			fault.Fault{Kind: "checkpoint-expires", Target: "node1", At: 2500 * time.Millisecond, Call: "backend.patch", Nth: 2},
			[]string{
				"4s fault checkpoint-expires#1: 0s after call 2 of backend.patch from 2.5s on",
				"4s effect expire node1",
			},
		},
		"some time after a call": {
			fault.Fault{Kind: "dhcp-gone", Call: "api.patch", Nth: 1, Delay: 4 * time.Second, For: time.Second},
			[]string{
				"5s fault begin dhcp-gone#1: 4s after call 1 of api.patch from 0s on, for 1s", `5s effect dhcp "gone"`,
				"6s fault end dhcp-gone#1", `6s effect dhcp ""`,
			},
		},
		"at the end of all faults": {
			fault.Fault{Kind: "partition", Target: "node1", At: 8 * time.Second, For: time.Hour},
			[]string{
				"8s fault begin partition#1: at 8s, for 1h0m0s", "8s effect partition node1 true true",
				"9s fault end partition#1", "9s effect partition node1 false false",
			},
		},
		"never, when their call does not come": {
			fault.Fault{Kind: "crash", Target: "node2", Call: "api.patch", Nth: 1}, nil,
		},
		"with calls that fail": {
			fault.Fault{Kind: "api-refused", Target: "node1", At: 1500 * time.Millisecond, For: time.Second, Rate: 1},
			[]string{
				"1s fault begin api-refused#1: at 1.5s, for 1s, 100 % of the calls",
				"2s fault 4 api.patch x: api-refused#1", "2s told api the call never got there", "2s fault end api-refused#1",
			},
		},
		"with calls whose replies are lost": {
			fault.Fault{Kind: "reply-lost", Target: "node1", At: 1500 * time.Millisecond, For: time.Second, Rate: 1},
			[]string{
				"1s fault begin reply-lost#1: at 1.5s, for 1s, 100 % of the calls",
				"2s fault 4 api.patch x: reply-lost#1", "2s told api the reply was lost", "2s fault end reply-lost#1",
			},
		},
		"with calls that meet a newer object": {
			fault.Fault{Kind: "conflict-storm", Target: "node1", At: 1500 * time.Millisecond, For: time.Second, Rate: 1},
			[]string{
				"1s fault begin conflict-storm#1: at 1.5s, for 1s, 100 % of the calls",
				"2s effect touch node1", "2s fault 4 api.patch x: conflict-storm#1", "2s fault end conflict-storm#1",
			},
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			test.fault.ID = 1
			got, injector := toy(t, fault.Plan{test.fault})
			if diff := cmp.Diff(strings.Join(test.want, "\n"), got); diff != "" {
				t.Error(diff)
			}
			if len(injector.Active()) > 0 {
				t.Errorf("after Heal %v is active", injector.Active())
			}
		})
	}
}

func TestACrashAtACallEndsTheProcess(t *testing.T) {
	got, injector := toy(t, fault.Plan{{ID: 1, Kind: "crash-at-call", Target: "node1", At: 1500 * time.Millisecond, For: time.Second, Rate: 1}})
	if !strings.Contains(got, "killed") {
		t.Error(got)
	}
	if injector.Reached()["crash-at-call"]["Probing"] == 0 {
		t.Error(injector.Reached())
	}
}

func drawnFor(seed uint64, lean bool) fault.Plan {
	w := world.New(seed)
	return fault.Draw(fault.Shape{
		Nodes: []string{"node1", "node2"}, From: time.Minute, Until: 30 * time.Minute, Armed: 0.3, Lean: lean,
	}, w.Rand)
}

func TestEveryKindIsDrawnAndBeginsAndEnds(t *testing.T) {
	kinds := map[string]bool{}
	for seed := range uint64(60) {
		plan := drawnFor(seed, true)
		if err := plan.Check(); err != nil {
			t.Fatal(err)
		}
		for _, f := range plan {
			kinds[f.Kind] = true
			if f.At < time.Minute || f.At > 30*time.Minute {
				t.Errorf("%s begins outside of the phase", f)
			}
		}
		// A plan of any kind is carried out without a panic.
		toy(t, plan)
	}
	for _, k := range fault.Catalog() {
		if !kinds[k.Name] {
			t.Errorf("%s was never drawn", k.Name)
		}
		if k.Doc == "" || strings.Contains(k.Doc, "\n") {
			t.Errorf("%s: the doc %q is not one line", k.Name, k.Doc)
		}
	}
}

func TestTheSameSeedDrawsTheSamePlan(t *testing.T) {
	if diff := cmp.Diff(drawnFor(7, true).String(), drawnFor(7, true).String()); diff != "" {
		t.Error(diff)
	}
	if drawnFor(7, true).String() == drawnFor(8, true).String() {
		t.Error("another seed drew the same plan")
	}
}

func TestAPlanThatMakesNoSenseIsRefused(t *testing.T) {
	tests := map[string]struct {
		fault fault.Fault
		want  string
	}{
		"an unknown kind":    {fault.Fault{ID: 3, Kind: "flood"}, `fault #3: there is no kind "flood"`},
		"without its target": {fault.Fault{ID: 3, Kind: "reboot"}, "fault #3: reboot is about a node, but has no target"},
		"an unknown argument": {
			fault.Fault{ID: 3, Kind: "stale-reads", Target: "node1", Arg: "7s"},
			`fault #3: stale-reads of "7s": want one of 1s, 5s, 30s, 2m0s`,
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			err := fault.Plan{test.fault}.Check()
			if err == nil || err.Error() != test.want {
				t.Error(errors.Join(errors.New("want "+test.want), err))
			}
		})
	}
}

func TestCoverageNamesWhatWasNeverReached(t *testing.T) {
	all := fault.Coverage{}
	for _, zero := range all.Zeros(true) {
		kind, phase, _ := strings.Cut(zero, " while ")
		all.Add(fault.Coverage{kind: {phase: 1}})
	}
	if zeros := all.Zeros(true); len(zeros) > 0 {
		t.Error(zeros)
	}
	delete(all["nm-hang"], "Committing")
	delete(all["node-lies"], "Settling") // A rare kind was reached in others.
	if diff := cmp.Diff([]string{"nm-hang while Committing"}, all.Zeros(true)); diff != "" {
		t.Error(diff)
	}
	delete(all, "node-lies")
	if zeros := all.Zeros(true); !slices.Contains(zeros, "node-lies while Probing") {
		t.Errorf("a rare kind that was never reached is not named: %v", zeros)
	}
	var table strings.Builder
	if err := all.Table(&table); err != nil || !strings.Contains(table.String(), "nm-hang") {
		t.Error(err, table.String())
	}
}
