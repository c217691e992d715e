package scenario

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/google/go-cmp/cmp"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "github.com/nmstate/kubernetes-nmstate/api/v1"
)

// checks are all that await, expect and hold can want.
var checks = []form{
	{usage: "policy NAME POLICYROW [TEXT]", means: "all conditions of the policy's newest generation are that row, and one that is True says the text", holds: policyIs},
	{usage: "enactment ENACTMENT ROW [REASON] [TEXT]", means: "all conditions of the enactment are that row, for the policy's newest generation", holds: enactmentIs},
	{usage: "enactments NAME COUNT ROW", means: "so many of the policy's enactments are that row", holds: enactmentsAre},
	{usage: "says ENACTMENT TEXT", means: "a condition that is True says that, whatever the row", holds: enactmentSays(true)},
	{usage: "says ENACTMENT not TEXT", means: "no condition that is True says that", holds: enactmentSays(false)},
	{usage: "state NODES CONDITION [REASON] [TEXT]", means: "the condition of the NodeNetworkState is True", holds: stateIs(true)},
	{usage: "state NODES not CONDITION [REASON] [TEXT]", means: "the condition of the NodeNetworkState is False", holds: stateIs(false)},
	{usage: "transaction NODE RESULT [TEXT]", means: "what the NodeNetworkState tells of the transaction", holds: transactionIs},
	{usage: "waits NODE TEXT", means: "the guards that the NodeNetworkState tells are still out, separated by commas", holds: waitsFor},
	{usage: "asked NODE", means: "the node waits for a person's confirmation", holds: isAsked},
	{usage: "guarded ENACTMENT TEXT", means: "the probes that guarded the change, separated by commas", holds: guardedBy},
	{usage: "rollback ENACTMENT RESULT", means: "status.rollback", holds: rollbackIs},
	{usage: "matched ENACTMENT TEXT", means: "the interfaces that spec.match selected", holds: matchedAre},
	{usage: "plan ENACTMENT DISRUPTION [TEXT]", means: "the plan's class, and one of its changes: 'eth1 mtu: 1500 -> 1400'", holds: planIs},
	{usage: "drift NODES [TEXT...]", means: "these leaves have drifted: 'interfaces[eth1].mtu Reported'; none where nothing is said", holds: driftIs},
	{usage: "event policy|state NAME REASON [TEXT]", means: "an event about it", holds: eventIs},
	{usage: "gone policy|state|enactment NAME", means: "there is no such object", holds: isGone},
	{usage: "idle NODES", means: "no transaction is open, and the desired state is dealt with", holds: isIdle},
	{usage: "phase NODES PHASE", means: "the open transaction of the node's own journal; Idle for none", holds: phaseIs},
	{usage: "kernel NODES TEXT...", means: "the kernel has each of these", holds: kernelHas(true)},
	{usage: "no kernel NODES TEXT...", means: "the kernel has none of these", holds: kernelHas(false)},
	{usage: "same NODES since MARK", means: "no transaction is open, and the node is as it was then, but for metrics that decide nothing", holds: sameSince(InOrder)},
	{usage: "alike NODES since MARK", means: "as same, but links that a boot has made anew may have another MAC address, and connected routes another metric", holds: sameSince(func(all string) string { return InOrder(acrossBoots(all)) })},
	{usage: "undone NODES since MARK", means: "as same, but a profile that was there may say it in nmstate's words", holds: sameSince(func(all string) string { return InOrder(afterUndo(all)) })},
	{usage: "applies NODES COUNT since MARK", means: "so many applies were begun", holds: appliesSince},
}

func (r *run) policy(ctx context.Context, name string) (*v1.NodeNetworkConfigurationPolicy, error) {
	var policy v1.NodeNetworkConfigurationPolicy
	err := r.Client().Get(ctx, client.ObjectKey{Name: name}, &policy)
	return &policy, err
}

func (r *run) state(ctx context.Context, node string) (*v1.NodeNetworkState, error) {
	var state v1.NodeNetworkState
	err := r.Client().Get(ctx, client.ObjectKey{Name: node}, &state)
	return &state, err
}

// enactments does something for those that are meant, until one is wrong.
func (r *run) enactments(ctx context.Context, said string, f func(*v1.NodeNetworkConfigurationEnactment) string) (string, error) {
	which, policy, _ := strings.Cut(said, ".")
	for _, node := range r.nodes(which) {
		var e v1.NodeNetworkConfigurationEnactment
		if err := r.Client().Get(ctx, client.ObjectKey{Name: v1.EnactmentName(node, policy)}, &e); err != nil {
			return "", err
		}
		if wrong := f(&e); wrong != "" {
			return fmt.Sprintf("%s: %s", e.Name, wrong), nil
		}
	}
	return "", nil
}

func policyIs(ctx context.Context, r *run, a Args) (string, error) {
	policy, err := r.policy(ctx, a["NAME"])
	if err != nil {
		return "", err
	}
	if policy.Status.ObservedGeneration != policy.Generation {
		return fmt.Sprintf("the status is of generation %d, not of %d", policy.Status.ObservedGeneration, policy.Generation), nil
	}
	return rowIs(policy.Status.Conditions, policyRows[a["POLICYROW"]], "", a["TEXT"]), nil
}

// rowIs compares a table; the reason, if given, stands in place of the table's.
func rowIs(conditions []v1.Condition, want row, reason, part string) string {
	if reason != "" {
		want = maps.Clone(want)
		for kind, value := range want {
			status, _, _ := strings.Cut(value, " ")
			if kind != v1.EnactmentAborted || status == "True" {
				want[kind] = status + " " + reason
			}
		}
	}
	got := rowOfConditions(conditions)
	if !maps.Equal(got, want) {
		return fmt.Sprintf("it is %s (%s); want %s", got, messages(conditions), want)
	}
	if !strings.Contains(messages(conditions), part) {
		return fmt.Sprintf("it says %q; want %q", messages(conditions), part)
	}
	return ""
}

func enactmentIs(ctx context.Context, r *run, a Args) (string, error) {
	_, name, _ := strings.Cut(a["ENACTMENT"], ".")
	policy, err := r.policy(ctx, name)
	if err != nil {
		return "", err
	}
	return r.enactments(ctx, a["ENACTMENT"], func(e *v1.NodeNetworkConfigurationEnactment) string {
		if e.Status.PolicyGeneration != policy.Generation {
			return fmt.Sprintf("it is about generation %d of the policy, not %d", e.Status.PolicyGeneration, policy.Generation)
		}
		return rowIs(e.Status.Conditions, enactmentRows[a["ROW"]], a["REASON"], a["TEXT"])
	})
}

func enactmentsAre(ctx context.Context, r *run, a Args) (string, error) {
	policy, err := r.policy(ctx, a["NAME"])
	if err != nil {
		return "", err
	}
	var all v1.NodeNetworkConfigurationEnactmentList
	if err := r.Client().List(ctx, &all, client.MatchingLabels{v1.EnactmentPolicyLabel: a["NAME"]}); err != nil {
		return "", err
	}
	found := 0
	var others []string
	for _, e := range all.Items {
		if e.Status.PolicyGeneration == policy.Generation && rowIs(e.Status.Conditions, enactmentRows[a["ROW"]], "", "") == "" {
			found++
			continue
		}
		others = append(others, e.Name+": "+trueOnes(e.Status.Conditions))
	}
	if want, _ := strconv.Atoi(a["COUNT"]); found != want {
		return fmt.Sprintf("%d are %s; the others: %s", found, a["ROW"], strings.Join(others, "; ")), nil
	}
	return "", nil
}

func enactmentSays(want bool) holding {
	return func(ctx context.Context, r *run, a Args) (string, error) {
		return r.enactments(ctx, a["ENACTMENT"], func(e *v1.NodeNetworkConfigurationEnactment) string {
			said := messages(e.Status.Conditions)
			if strings.Contains(said, a["TEXT"]) != want || strings.Contains(said, "\n") || len(said) > 1100 {
				return fmt.Sprintf("it is %s and says %q; want it in one line, and %q in it: %t", trueOnes(e.Status.Conditions), said, a["TEXT"], want)
			}
			return ""
		})
	}
}

// stateIs is about one condition, so that Drifted may be what it is.
func stateIs(want bool) holding {
	return func(ctx context.Context, r *run, a Args) (string, error) {
		for _, node := range r.nodes(a["NODES"]) {
			state, err := r.state(ctx, node)
			if err != nil {
				return "", err
			}
			if !hasCondition(state.Status.Conditions, want, a) {
				return fmt.Sprintf("%s: it is %s (%s)", node, rowOfConditions(state.Status.Conditions), messages(state.Status.Conditions)), nil
			}
		}
		return "", nil
	}
}

func hasCondition(conditions []v1.Condition, want bool, a Args) bool {
	return slices.ContainsFunc(conditions, func(c v1.Condition) bool {
		status := map[bool]string{true: "True", false: "False"}[want]
		return string(c.Type) == a["CONDITION"] && string(c.Status) == status &&
			(a["REASON"] == "" || a["REASON"] == string(c.Reason)) && strings.Contains(c.Message, a["TEXT"])
	})
}

func transactionIs(ctx context.Context, r *run, a Args) (string, error) {
	state, err := r.state(ctx, a["NODE"])
	if err != nil {
		return "", err
	}
	t, want := state.Status.Transaction, a["RESULT"]
	if t == nil {
		return "there was none", nil
	}
	if (t.Phase != want && string(t.Result) != want) || !strings.Contains(t.Message, a["TEXT"]) {
		return fmt.Sprintf("it is %s %s %q", t.Phase, t.Result, t.Message), nil
	}
	return "", nil
}

func waitsFor(ctx context.Context, r *run, a Args) (string, error) {
	state, err := r.state(ctx, a["NODE"])
	if err != nil {
		return "", err
	}
	t := state.Status.Transaction
	if t == nil || t.Phase != "Probing" || t.Generation != state.Generation || strings.Join(t.WaitingFor, ", ") != a["TEXT"] {
		return fmt.Sprintf("generation %d, transaction %+v", state.Generation, t), nil
	}
	return "", nil
}

func isAsked(ctx context.Context, r *run, a Args) (string, error) {
	state, err := r.state(ctx, a["NODE"])
	if err != nil {
		return "", err
	}
	t := state.Status.Transaction
	if t == nil || t.Phase != "Probing" || t.Generation != state.Generation || !strings.HasPrefix(t.Message, "waiting for confirmation until ") {
		return fmt.Sprintf("generation %d, transaction %+v", state.Generation, t), nil
	}
	return "", nil
}

func guardedBy(ctx context.Context, r *run, a Args) (string, error) {
	return r.enactments(ctx, a["ENACTMENT"], func(e *v1.NodeNetworkConfigurationEnactment) string {
		got := slices.Sorted(slices.Values(e.Status.GuardedBy))
		want := slices.Sorted(slices.Values(strings.Split(a["TEXT"], ", ")))
		if !slices.Equal(got, want) {
			return fmt.Sprintf("guarded by %s", strings.Join(got, ", "))
		}
		return ""
	})
}

func rollbackIs(ctx context.Context, r *run, a Args) (string, error) {
	return r.enactments(ctx, a["ENACTMENT"], func(e *v1.NodeNetworkConfigurationEnactment) string {
		if e.Status.Rollback == nil || e.Status.Rollback.Result != a["RESULT"] {
			return fmt.Sprintf("rollback %+v", e.Status.Rollback)
		}
		return ""
	})
}

func matchedAre(ctx context.Context, r *run, a Args) (string, error) {
	return r.enactments(ctx, a["ENACTMENT"], func(e *v1.NodeNetworkConfigurationEnactment) string {
		if got := strings.Join(e.Status.MatchedInterfaces, ", "); got != a["TEXT"] {
			return fmt.Sprintf("matched %q", got)
		}
		return ""
	})
}

func planIs(ctx context.Context, r *run, a Args) (string, error) {
	return r.enactments(ctx, a["ENACTMENT"], func(e *v1.NodeNetworkConfigurationEnactment) string {
		if e.Status.Plan == nil {
			return "there is no plan"
		}
		var changes []string
		for _, i := range e.Status.Plan.Interfaces {
			for _, c := range i.Changes {
				changes = append(changes, i.Name+" "+c)
			}
		}
		if string(e.Status.Plan.Disruption) != a["DISRUPTION"] || a["TEXT"] != "" && !slices.Contains(changes, a["TEXT"]) {
			return fmt.Sprintf("%s: %s", e.Status.Plan.Disruption, strings.Join(changes, ", "))
		}
		return ""
	})
}

func driftIs(ctx context.Context, r *run, a Args) (string, error) {
	for _, node := range r.nodes(a["NODES"]) {
		state, err := r.state(ctx, node)
		if err != nil {
			return "", err
		}
		var got []string
		for _, d := range state.Status.Drift {
			got = append(got, d.Path+" "+d.Action)
		}
		slices.Sort(got)
		want := slices.Sorted(slices.Values(a.list("TEXT")))
		if !slices.Equal(got, want) {
			return fmt.Sprintf("%s: drift %q", node, got), nil
		}
	}
	return "", nil
}

func eventIs(ctx context.Context, r *run, a Args) (string, error) {
	kind := map[string]string{"policy": "NodeNetworkConfigurationPolicy", "state": "NodeNetworkState"}[a["policy|state"]]
	events, err := r.Told(ctx, kind, a["NAME"])
	if err != nil {
		return "", err
	}
	var got []string
	for _, e := range events {
		if e.Reason == a["REASON"] && strings.Contains(e.Message, a["TEXT"]) {
			return "", nil
		}
		got = append(got, e.Reason+": "+e.Message)
	}
	return fmt.Sprintf("there are %q", got), nil
}

func isGone(ctx context.Context, r *run, a Args) (string, error) {
	object := map[string]client.Object{
		"policy": &v1.NodeNetworkConfigurationPolicy{}, "state": &v1.NodeNetworkState{}, "enactment": &v1.NodeNetworkConfigurationEnactment{},
	}[a["policy|state|enactment"]]
	err := r.Client().Get(ctx, client.ObjectKey{Name: a["NAME"]}, object)
	if apierrors.IsNotFound(err) {
		return "", nil
	}
	return "it is there", err
}

func isIdle(ctx context.Context, r *run, a Args) (string, error) {
	for _, node := range r.nodes(a["NODES"]) {
		state, err := r.state(ctx, node)
		if err != nil {
			return "", err
		}
		if state.Status.ObservedGeneration != state.Generation {
			return fmt.Sprintf("%s: generation %d of %d is dealt with", node, state.Status.ObservedGeneration, state.Generation), nil
		}
	}
	return phaseIs(ctx, r, Args{"NODES": a["NODES"], "PHASE": "Idle"})
}

func phaseIs(ctx context.Context, r *run, a Args) (string, error) {
	for _, node := range r.nodes(a["NODES"]) {
		phase, err := r.Phase(ctx, node)
		if err != nil || phase != a["PHASE"] {
			return fmt.Sprintf("%s: %s", node, phase), err
		}
	}
	return "", nil
}

func kernelHas(want bool) holding {
	return func(ctx context.Context, r *run, a Args) (string, error) {
		for _, node := range r.nodes(a["NODES"]) {
			lines, err := r.Kernel(ctx, node)
			if err != nil {
				return "", err
			}
			for _, wanted := range a.list("TEXT") {
				if slices.ContainsFunc(lines, func(line string) bool { return covers(line, wanted) }) != want {
					return fmt.Sprintf("%s, about %q:\n\t%s", node, wanted, strings.Join(lines, "\n\t")), nil
				}
			}
		}
		return "", nil
	}
}

// sameSince compares what matters of snapshots.
func sameSince(matters func(snapshot string) string) holding {
	return func(ctx context.Context, r *run, a Args) (string, error) {
		if wrong, err := phaseIs(ctx, r, Args{"NODES": a["NODES"], "PHASE": "Idle"}); wrong != "" || err != nil {
			return wrong, err
		}
		for _, node := range r.nodes(a["NODES"]) {
			moment, ok := r.marks[a["MARK"]][node]
			if !ok {
				return "", errors.New(node + " was not there then")
			}
			snapshot, err := r.Snapshot(ctx, node)
			if err != nil {
				return "", err
			}
			if was, now := matters(moment.snapshot), matters(snapshot); now != was {
				return fmt.Sprintf("%s is not as it was:\n%s", node, cmp.Diff(strings.Split(was, "\n"), strings.Split(now, "\n"))), nil
			}
		}
		return "", nil
	}
}

func appliesSince(ctx context.Context, r *run, a Args) (string, error) {
	want, _ := strconv.Atoi(a["COUNT"])
	for _, node := range r.nodes(a["NODES"]) {
		now, err := r.Applies(ctx, node)
		if err != nil {
			return "", err
		}
		if got := now - r.marks[a["MARK"]][node].applies; got != want {
			return fmt.Sprintf("%s: %d were", node, got), nil
		}
	}
	return "", nil
}
