package agent

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"
	"sigs.k8s.io/controller-runtime/pkg/event"

	v1 "github.com/nmstate/kubernetes-nmstate/api/v1"
	"github.com/nmstate/kubernetes-nmstate/handler/txn"
)

var (
	answering = v1.Probe{Type: v1.ProbePing, Target: "192.0.2.1"}
	silent    = v1.Probe{Type: v1.ProbeTCP, Target: "192.0.2.9:80"}
	person    = v1.Probe{Type: v1.ProbeConfirm}
)

// within gives a probe another time than the window.
func within(p v1.Probe, seconds int32) v1.Probe {
	p.TimeoutSeconds = &seconds
	return p
}

// wantProbed is want with probes, in one edit.
func (n *node) wantProbed(generation int64, policy, defaults string, probes ...v1.Probe) {
	n.t.Helper()
	n.edit(func(nns *v1.NodeNetworkState) {
		nns.Generation = generation
		nns.Spec.DesiredState = v1.NewState(fmt.Appendf(nil, `{"interfaces":[{"name":"br%d","type":"dummy","state":"up"}]}`, generation))
		nns.Spec.Probes, nns.Spec.DefaultProbes = probes, defaults
		if policy != "" {
			nns.Spec.Sources = []v1.DesiredSource{{Source: v1.Source{Policy: policy, Generation: 40 + generation, Hash: fmt.Sprint(generation)}}}
		}
	})
}

func (n *node) confirm(generation string) {
	n.t.Helper()
	n.edit(func(nns *v1.NodeNetworkState) { nns.Annotations = map[string]string{v1.ConfirmAnnotation: generation} })
}

// asked waits until the NodeNetworkState says that a person is waited for.
func (n *node) asked(generation int64) *v1.Transaction {
	n.t.Helper()
	var found *v1.Transaction
	n.until("confirmation is asked for", func() bool {
		nns := n.get()
		if nns != nil && nns.Status.Transaction != nil && nns.Status.Transaction.Generation == generation {
			found = nns.Status.Transaction
		}
		return found != nil && strings.HasPrefix(found.Message, "waiting for confirmation until ")
	})
	return found
}

func TestProbesOfTheDesiredStateGuardIt(t *testing.T) {
	t.Parallel()
	for sentence, c := range map[string]struct {
		defaults  string
		probes    []v1.Probe
		result    v1.TransactionResult
		guardedBy []string
		message   string
	}{
		"one that passes, next to the default ones": {
			"", []v1.Probe{answering}, v1.TransactionCommitted,
			[]string{"api-server", "default-gateway", "ping 192.0.2.1"}, "",
		},
		"without the default ones": {
			v1.DefaultProbesDrop, []v1.Probe{answering}, v1.TransactionCommitted, []string{"ping 192.0.2.1"}, "",
		},
		"one that did not pass before either": {
			"", []v1.Probe{answering, silent}, v1.TransactionRolledBack,
			[]string{"api-server", "default-gateway", "ping 192.0.2.1", "tcp 192.0.2.9:80"}, "tcp 192.0.2.9:80: connection refused",
		},
		"one with less time than the window": {
			"", []v1.Probe{within(silent, 1)}, v1.TransactionRolledBack,
			[]string{"api-server", "default-gateway", "tcp 192.0.2.9:80"}, "probing for 1s: tcp 192.0.2.9:80: connection refused",
		},
		"one whose target is none": {
			"", []v1.Probe{answering, {Type: v1.ProbeTCP, Target: "192.0.2.1"}}, v1.TransactionRefused,
			nil, `reading the desired state: spec.probes[1].target: "192.0.2.1": want host:port`,
		},
	} {
		t.Run(sentence, func(t *testing.T) {
			n := newNode(t)
			n.handler()
			n.wantProbed(2, "p", c.defaults, c.probes...)
			got := n.outcome(2)
			if got.Result != c.result || !slices.Equal(got.GuardedBy, c.guardedBy) || !strings.HasSuffix(got.Message, c.message) {
				t.Errorf("outcome = %+v", got)
			}
			if there := n.host.has("br2"); there != (c.result == v1.TransactionCommitted) {
				t.Errorf("br2 is there: %v", there)
			}
		})
	}
}

func TestAPersonConfirmsWhatWasAsked(t *testing.T) {
	t.Parallel()
	for sentence, c := range map[string]struct{ policy, command string }{
		"for a policy by its own generation":     {"p", "kubectl annotate --overwrite nncp p nmstate.io/confirm=42"},
		"for a state that was written by a hand": {"", "kubectl annotate --overwrite nns node1 nmstate.io/confirm=2"},
	} {
		t.Run(sentence, func(t *testing.T) {
			n := newNode(t)
			n.handler()
			n.confirm("1") // An older generation's does not count.
			n.wantProbed(2, c.policy, "", answering, person)
			got := n.asked(2)
			if got.Phase != string(txn.Probing) || got.Result != "" || !strings.HasSuffix(got.Message, "Z: "+c.command) {
				t.Errorf("asked: %+v", got)
			}
			if !slices.Equal(got.GuardedBy, []string{"api-server", "default-gateway", "ping 192.0.2.1", "confirm"}) {
				t.Errorf("guarded by %v", got.GuardedBy)
			}
			n.quiet()
			n.confirm("3") // Nor does one that is not there yet.
			n.quiet()
			if !n.host.has("br2") || n.get().Status.ObservedGeneration == 2 {
				t.Fatal("it did not wait")
			}
			n.confirm("2")
			if end := n.outcome(2); end.Result != v1.TransactionCommitted || !n.host.has("br2") {
				t.Errorf("outcome = %+v", end)
			}
		})
	}
}

func TestWhatNobodyConfirmsIsTakenBack(t *testing.T) {
	t.Parallel()
	n := newNode(t)
	n.handler()
	n.wantProbed(2, "p", "", within(person, 1))
	n.asked(2)
	got := n.outcome(2)
	if got.Result != v1.TransactionRolledBack || !got.Final || got.Message != "not confirmed within 1 s" || n.host.has("br2") {
		t.Errorf("outcome = %+v, br2 there: %v", got, n.host.has("br2"))
	}
}

func TestAHandlerThatDiesWhileItWaitsForAPersonIsFollowedByOneThatTakesTheChangeBack(t *testing.T) {
	t.Parallel()
	n := newNode(t)
	_, kill := n.handler()
	n.wantProbed(2, "p", "", person)
	n.asked(2)
	if n.host.life != confirmTimeout+30*time.Second+fakeWindow {
		t.Errorf("the checkpoint lives %s", n.host.life)
	}
	kill()
	n.handler()
	got := n.outcome(2)
	if got.Result != v1.TransactionRolledBack || n.host.has("br2") {
		t.Errorf("outcome = %+v, br2 there: %v", got, n.host.has("br2"))
	}
}

func TestAnEditEndsTheWaitForAPerson(t *testing.T) {
	t.Parallel()
	n := newNode(t)
	n.handler()
	n.wantProbed(2, "p", "", person)
	n.asked(2)
	n.wantProbed(3, "p", "")
	if got := n.outcome(3); got.Result != v1.TransactionCommitted || n.host.has("br2") {
		t.Errorf("outcome = %+v, br2 there: %v", got, n.host.has("br2"))
	}
}

// As when its Node is deleted while a change waits.
func TestTheEndOfTheNodeNetworkStateEndsTheWaitForAPerson(t *testing.T) {
	t.Parallel()
	n := newNode(t)
	n.handler()
	n.wantProbed(2, "p", "", person)
	n.asked(2)
	if err := n.api.Delete(t.Context(), n.get()); err != nil {
		t.Fatal(err)
	}
	n.until("the change is taken back", func() bool { return !n.host.has("br2") })
}

// The API server may be out of reach for the handler and not for the person.
func TestAWaitForAPersonThatCannotBeReportedGoesOn(t *testing.T) {
	t.Parallel()
	n := newNode(t)
	refuses := func(ctx context.Context, c client.Client, sub string, o client.Object, p client.Patch, opts ...client.SubResourcePatchOption) error {
		if last := o.(*v1.NodeNetworkState).Status.Transaction; last != nil && last.Phase == string(txn.Probing) {
			return errors.New("no route to host")
		}
		return c.SubResource(sub).Patch(ctx, o, p, opts...)
	}
	n.api = interceptor.NewClient(n.api, interceptor.Funcs{SubResourcePatch: refuses})
	n.handler()
	n.wantProbed(2, "p", "", person)
	n.until("the change is in place", func() bool { return n.host.has("br2") })
	n.confirm("2")
	if got := n.outcome(2); got.Result != v1.TransactionCommitted {
		t.Errorf("outcome = %+v", got)
	}
}

func TestOnePassWaitsForAPersonToo(t *testing.T) {
	t.Parallel()
	n := newNode(t)
	a, kill := n.handler()
	n.wantProbed(2, "p", "", person)
	n.until("the change runs", a.Busy)
	n.asked(2)
	done := make(chan error, 1)
	go func() { done <- a.Complete(t.Context()) }()
	n.confirm("2")
	if err := <-done; err != nil || !n.host.has("br2") {
		t.Errorf("%v, br2 there: %v", err, n.host.has("br2"))
	}
	kill()
}

func TestOnlyTheConfirmationLetsAnAnnotationThrough(t *testing.T) {
	t.Parallel()
	with := func(key, value string) *v1.NodeNetworkState {
		nns := &v1.NodeNetworkState{}
		nns.Name, nns.Annotations = "node1", map[string]string{key: value}
		return nns
	}
	a := &Agent{Options: Options{Node: "node1"}}
	for sentence, c := range map[string]struct {
		to   *v1.NodeNetworkState
		want bool
	}{
		"another confirmation": {with(v1.ConfirmAnnotation, "8"), true},
		"none any more":        {with("other", "x"), true},
		"the same":             {with(v1.ConfirmAnnotation, "7"), false},
	} {
		t.Run(sentence, func(t *testing.T) {
			got := a.ofThisNode().Update(event.UpdateEvent{ObjectOld: with(v1.ConfirmAnnotation, "7"), ObjectNew: c.to})
			if got != c.want {
				t.Errorf("got %v", got)
			}
		})
	}
}
