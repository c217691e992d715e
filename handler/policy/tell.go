package policy

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "github.com/nmstate/kubernetes-nmstate/api/v1"
	"github.com/nmstate/kubernetes-nmstate/handler/desired"
	"github.com/nmstate/kubernetes-nmstate/handler/patch"
)

// EventOverruled is the reason of the event on a NodeNetworkState whose desired
// state somebody else had written although policies own it.
const EventOverruled = "Overruled"

// replaceSpec writes the spec, and tells whose word it replaces.
func (r *Reconciler) replaceSpec(ctx context.Context, m *memory, g *gathered, d desired.Decision) error {
	var managers []string
	if d.Overruled {
		var err error
		if managers, err = r.managers(ctx, g.input.Node); err != nil {
			return err
		}
	}
	if err := r.writeSpec(ctx, m, g.state, d.Spec); err != nil {
		return err
	}
	if d.Overruled && r.Events != nil {
		r.Events.Eventf(g.state, g.node, corev1.EventTypeWarning, EventOverruled, "Configure", "%s", overruled(managers, d.Spec))
	}
	return nil
}

func overruled(managers []string, spec *desired.Spec) string {
	who := "somebody"
	if len(managers) > 0 {
		who = strings.Join(managers, ", ")
	}
	var policies []string
	for _, s := range spec.Sources {
		policies = append(policies, s.Policy)
	}
	if len(policies) == 0 && spec.Policy != "" {
		return cut(fmt.Sprintf("spec.desiredState was written by %s and is replaced: policy %s has to leave the node first, and what was written failed together with that; write it again when the policy's enactment is gone",
			who, spec.Policy))
	}
	if len(policies) == 0 {
		policies = []string{"that match the node"}
	}
	return cut(fmt.Sprintf("spec.desiredState was written by %s and is replaced: the policies own it (%s)", who, strings.Join(policies, ", ")))
}

// cut leaves a message as long as an event takes it.
func cut(message string) string {
	const most = 1000
	if len(message) > most {
		message = strings.ToValidUTF8(message[:most], "") + "..."
	}
	return message
}

// managers are the field managers other than ours that own a part of the
// desired state, sorted. The cache leaves managed fields out.
func (r *Reconciler) managers(ctx context.Context, node string) ([]string, error) {
	var nns v1.NodeNetworkState
	if err := r.Live.Get(ctx, client.ObjectKey{Name: node}, &nns); err != nil {
		return nil, err
	}
	found := map[string]bool{}
	for _, entry := range nns.ManagedFields {
		if entry.Manager != v1.PolicyFieldManager && entry.Subresource == "" && ownsDesiredState(entry) {
			found[entry.Manager] = true
		}
	}
	return slices.Sorted(maps.Keys(found)), nil
}

// ownsDesiredState tells whether the entry has anything in the desired state.
// The object itself, without what is in it, is its first writer's for good.
func ownsDesiredState(entry metav1.ManagedFieldsEntry) bool {
	if entry.FieldsV1 == nil {
		return false
	}
	var fields struct {
		Spec struct {
			DesiredState map[string]json.RawMessage `json:"f:desiredState"`
		} `json:"f:spec"`
	}
	if err := json.Unmarshal(entry.FieldsV1.GetRawBytes(), &fields); err != nil {
		return false
	}
	delete(fields.Spec.DesiredState, ".")
	return len(fields.Spec.DesiredState) > 0
}

// confirm passes a person's confirmation on: no change of the spec, so that the
// transaction that waits for it goes on.
func (r *Reconciler) confirm(ctx context.Context, m *memory, old *v1.NodeNetworkState, generation int64) error {
	next := old.DeepCopy()
	metav1.SetMetaDataAnnotation(&next.ObjectMeta, v1.ConfirmAnnotation, strconv.FormatInt(generation, 10))
	if err := r.Client.Patch(ctx, next, patch.Since{Read: old}, client.FieldOwner(v1.PolicyFieldManager)); err != nil {
		return err
	}
	m.state = next
	return nil
}

// confirmed is the generation that a person has confirmed on the policy.
func confirmed(policy *v1.NodeNetworkConfigurationPolicy) int64 {
	generation, err := strconv.ParseInt(policy.Annotations[v1.ConfirmAnnotation], 10, 64)
	if err != nil {
		return 0 // None, or no number, so no generation.
	}
	return generation
}

// tellDrift records what is new about drift since the last turn.
func (r *Reconciler) tellDrift(m *memory, g *gathered) {
	if g.state == nil {
		return
	}
	status := g.state.Status
	r.record(g, desired.DriftEvents(g.input.Node, m.drift, status))
	m.drift = v1.NodeNetworkStateStatus{Drift: status.Drift, AppliedSources: status.AppliedSources}
}

// tellTransaction records that a change takes its time, and its end, on the
// NodeNetworkState.
func (r *Reconciler) tellTransaction(m *memory, g *gathered) {
	if g.state == nil {
		return
	}
	before, seen := m.transaction, m.seen
	m.transaction, m.seen = g.state.Status.Transaction.DeepCopy(), true
	if !seen || r.Events == nil {
		return
	}
	for _, e := range desired.TransactionEvents(before, m.transaction) {
		var related client.Object = g.node
		if policy := g.policies[e.Policy]; policy != nil {
			related = policy // Else the events of one policy count as those of another.
		}
		r.Events.Eventf(g.state, related, eventType(e), e.Reason, "Configure", "%s", e.Message)
	}
}

func eventType(e desired.Event) string {
	if e.Warning {
		return corev1.EventTypeWarning
	}
	return corev1.EventTypeNormal
}

func (r *Reconciler) record(g *gathered, events []desired.Event) {
	if r.Events == nil {
		return
	}
	for _, e := range events {
		if e.OnNode {
			r.Events.Eventf(g.state, g.node, eventType(e), e.Reason, "Configure", "%s", e.Message)
			continue
		}
		policy := g.policies[e.Policy]
		if policy == nil {
			continue // It is gone, and nobody would look there.
		}
		r.Events.Eventf(policy, g.node, eventType(e), e.Reason, "Configure", "%s", e.Message)
	}
}
