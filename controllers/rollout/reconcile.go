package rollout

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/events"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	v1 "github.com/nmstate/kubernetes-nmstate/api/v1"
	"github.com/nmstate/kubernetes-nmstate/controllers/rollout/plan"
	"github.com/nmstate/kubernetes-nmstate/handler/patch"
)

// statusPause is the least time between two writes of a policy's status that
// bring nothing but other numbers. It makes a rollout over many nodes cost the
// API server one status a second and not one for each step of each node.
const statusPause = time.Second

// staleRetry is when to plan again after the status was not written since the
// policy had changed meanwhile.
const staleRetry = 200 * time.Millisecond

// Reconciler plans the rollout of one policy at a time and writes what the
// plan says: enactment specs and the policy's status. It keeps nothing in
// memory between two calls but which policies its cache has caught up with, which of
// its grants may have been written, since when nodes have not been Ready or have had
// no handler, and when policies of many nodes were planned last.
type Reconciler struct {
	client client.Client
	live   client.Reader
	events events.EventRecorder
	clock  Clock
	grace  time.Duration
	// handlers is the namespace of the handlers' pods; empty where they are none.
	handlers string
	// indexed: the cache lists enactments by policy.
	indexed bool
	// installed: some node has had a NodeNetworkState.
	installed atomic.Bool
	seen      caughtUp
	unsure    unsure
	gaps      gaps
	silent    silences
	soaks     soaks
	pace      pace
}

// Options of a Reconciler.
type Options struct {
	// Client must read its own writes: a cache that does not have the last grant yet
	// would let one too many be made. (A manager's client does with
	// EnableReadYourWritesConsistency.)
	Client client.Client
	// Live reads past the cache.
	Live   client.Reader
	Events events.EventRecorder
	Clock  Clock
	// Grace is how long a node may be without an answer (plan.Input.Grace).
	Grace time.Duration
	// Handlers is the namespace in which the handlers' pods tell which nodes have one
	// that runs. Empty: the handlers are no pods, and nobody looks.
	Handlers string
}

// New returns a Reconciler.
func New(o Options) *Reconciler {
	return &Reconciler{client: o.Client, live: o.Live, events: o.Events, clock: o.Clock, grace: o.Grace, handlers: o.Handlers}
}

// Reconcile gathers, plans and writes, unless the policy rests. The request names a policy.
func (r *Reconciler) Reconcile(ctx context.Context, request reconcile.Request) (reconcile.Result, error) {
	began := r.clock.Running()
	if wait := r.pace.wait(request.Name, began); wait > 0 {
		return reconcile.Result{RequeueAfter: wait}, nil
	}
	in, err := r.gather(ctx, request.Name)
	if err != nil {
		return reconcile.Result{}, err
	}
	result, err := r.planned(ctx, request.Name, in)
	if err == nil { // What failed is tried again when the queue says so, which knows how often it has.
		r.pace.planned(request.Name, len(in.Nodes), began)
	}
	return result, err
}

// planned plans and writes.
func (r *Reconciler) planned(ctx context.Context, name string, in plan.Input) (reconcile.Result, error) {
	if in.Policy == nil {
		return r.gone(ctx, name, in)
	}
	if fresh, err := r.fresh(ctx, in); !fresh || err != nil {
		return reconcile.Result{RequeueAfter: staleRetry}, err
	}
	var err error
	if in.Newest, err = r.newest(ctx, in); err != nil {
		return reconcile.Result{}, err
	}
	if err := r.removeOrphans(ctx, in); err != nil {
		return reconcile.Result{}, err
	}
	out := plan.Make(in)
	logDecision(ctx, out)
	// Before the writes: once they are there the next plan warns no more.
	if out.Warning != (plan.Warning{}) {
		r.events.Eventf(in.Policy, nil, corev1.EventTypeWarning, out.Warning.Reason, "Rollout", "%s", out.Warning.Message)
	}
	// An enactment that cannot be written keeps neither the others waiting nor the status.
	unwritten := r.writeSpecs(ctx, name, in, out)
	again := reconcile.Result{RequeueAfter: out.RequeueAfter}
	if len(in.Unsure) > 0 {
		again.RequeueAfter = soonest(again.RequeueAfter, unsureFor) // What is not seen by then is not there.
	}
	if wait := r.statusWait(in, out); wait > 0 {
		again.RequeueAfter = soonest(again.RequeueAfter, wait)
		return again, unwritten
	}
	err = r.writeStatus(ctx, in, out)
	if apierrors.IsConflict(err) && unwritten == nil {
		// The policy is another one by now, and the cache will show it soon.
		return reconcile.Result{RequeueAfter: staleRetry}, nil
	}
	return again, errors.Join(unwritten, err)
}

func logDecision(ctx context.Context, out plan.Output) {
	log := log.FromContext(ctx)
	if len(out.Grants)+len(out.Aborts)+len(out.Unaborts) > 0 {
		log.Info("Rollout goes on", "generation", out.Generation,
			"granted", len(out.Grants), "aborted", len(out.Aborts), "unaborted", len(out.Unaborts))
	}
	if len(out.Leaves) > 0 {
		log.Info("The policy leaves nodes", "nodes", len(out.Leaves))
	}
	for _, note := range out.Notes {
		log.V(1).Info("Decided", "generation", out.Generation, "note", note)
	}
}

// mostUnwritten is after how many enactments that could not be written the others are
// not tried any more: it is the API server then, and not a node.
const mostUnwritten = 5

// writeSpecs tells the nodes. What it could not write is planned again, with
// what it could.
func (r *Reconciler) writeSpecs(ctx context.Context, name string, in plan.Input, out plan.Output) error {
	enactments := in.ByNode()
	nodes, after := specsOf(enactments, in.Policy, out)
	var unwritten []error
	for _, node := range nodes {
		if len(unwritten) >= mostUnwritten {
			break
		}
		before := enactments[node]
		if err := r.writeSpec(ctx, before, after[node]); err != nil {
			if after[node].Leave {
				r.unsure.add(leaving(name), node, r.clock.Now())
			} else if in.Policy != nil && after[node].ApprovedGeneration == out.Generation {
				r.unsure.add(in.Policy.UID, node, r.clock.Now())
			}
			unwritten = append(unwritten, fmt.Errorf("writing the spec of enactment %s: %w", before.Name, err))
		}
	}
	return errors.Join(unwritten...)
}

// specsOf are the nodes that are told something, in the order in which they are, and what
// the specs of their enactments become.
func specsOf(enactments map[string]*v1.NodeNetworkConfigurationEnactment, policy *v1.NodeNetworkConfigurationPolicy, out plan.Output) (
	nodes []string, after map[string]v1.NodeNetworkConfigurationEnactmentSpec,
) {
	after = map[string]v1.NodeNetworkConfigurationEnactmentSpec{}
	for _, step := range []struct {
		nodes []string
		says  func(node string, spec *v1.NodeNetworkConfigurationEnactmentSpec)
	}{
		{out.Stays, func(_ string, spec *v1.NodeNetworkConfigurationEnactmentSpec) { spec.Leave = false }},
		{out.Leaves, func(_ string, spec *v1.NodeNetworkConfigurationEnactmentSpec) { spec.Leave = true }},
		{out.Aborts, func(_ string, spec *v1.NodeNetworkConfigurationEnactmentSpec) {
			spec.AbortedGeneration, spec.AbortedCause = out.Generation, out.AbortedCause
		}},
		{out.Unaborts, func(_ string, spec *v1.NodeNetworkConfigurationEnactmentSpec) {
			spec.AbortedGeneration, spec.AbortedCause = 0, ""
		}},
		{out.Grants, func(node string, spec *v1.NodeNetworkConfigurationEnactmentSpec) {
			spec.ApprovedGeneration, spec.ApprovedHash = out.Generation, out.Hashes[node]
			spec.AbortedGeneration, spec.AbortedCause = 0, ""
			spec.MaxUnavailable = policy.Spec.MaxUnavailable
		}},
	} {
		for _, node := range step.nodes {
			spec, told := after[node]
			if !told {
				nodes, spec = append(nodes, node), enactments[node].Spec
			}
			step.says(node, &spec)
			after[node] = spec
		}
	}
	return nodes, after
}

// writeSpec writes the fields that differ, and nothing if the enactment is gone
// or is another one by now.
func (r *Reconciler) writeSpec(ctx context.Context, before *v1.NodeNetworkConfigurationEnactment,
	after v1.NodeNetworkConfigurationEnactmentSpec,
) error {
	spec := map[string]any{}
	if after.ApprovedGeneration != before.Spec.ApprovedGeneration {
		spec["approvedGeneration"] = orNull(after.ApprovedGeneration)
	}
	if after.AbortedGeneration != before.Spec.AbortedGeneration {
		spec["abortedGeneration"] = orNull(after.AbortedGeneration)
	}
	if after.AbortedCause != before.Spec.AbortedCause {
		spec["abortedCause"] = orNull(after.AbortedCause)
	}
	if after.ApprovedHash != before.Spec.ApprovedHash {
		spec["approvedHash"] = orNull(after.ApprovedHash)
	}
	if after.Leave != before.Spec.Leave {
		spec["leave"] = orNull(after.Leave)
	}
	if !equality.Semantic.DeepEqual(after.MaxUnavailable, before.Spec.MaxUnavailable) {
		spec["maxUnavailable"] = orNull(after.MaxUnavailable)
	}
	patch, err := mergePatch(before, "spec", spec)
	if err != nil {
		return err
	}
	target := &v1.NodeNetworkConfigurationEnactment{ObjectMeta: metav1.ObjectMeta{Name: before.Name}}
	return client.IgnoreNotFound(r.client.Patch(ctx, target, patch))
}

// orNull: a zero in a merge patch is null, which removes the field.
func orNull[T comparable](value T) any {
	var zero T
	if value == zero {
		return nil
	}
	return value
}

// mergePatch holds the UID as well, so that it cannot hit an object that was
// deleted and made again since it was read.
func mergePatch(object client.Object, field string, value any) (client.Patch, error) {
	patch := map[string]any{field: value}
	if uid := object.GetUID(); uid != "" {
		patch["metadata"] = map[string]any{"uid": uid}
	}
	data, err := json.Marshal(patch)
	if err != nil {
		return nil, err
	}
	return client.RawPatch(types.MergePatchType, data), nil
}

// statusWait is how long the status should wait: only numbers moved, and the
// last write is not long ago. The last heartbeat is that write's time.
func (r *Reconciler) statusWait(in plan.Input, out plan.Output) time.Duration {
	conditions := in.Policy.Status.Conditions
	if !out.StatusChanged || out.StatusUrgent || len(conditions) == 0 {
		return 0
	}
	since := r.clock.Since(conditions[0].LastHeartbeatTime.Time)
	if since < 0 {
		return 0 // By a clock that is, or was, ahead: how long ago nobody knows.
	}
	return statusPause - since
}

func (r *Reconciler) writeStatus(ctx context.Context, in plan.Input, out plan.Output) error {
	if !out.StatusChanged {
		return nil
	}
	next := in.Policy.DeepCopy()
	next.Status = out.Status
	// Compared with what was read, so that what became empty goes: the counts of
	// a policy that no node matches, the plans of one that is applied now. With the
	// revision, since nobody looks at the UID in the patch of a status: it would
	// hit a policy that was deleted and made again.
	if err := r.client.Status().Patch(ctx, next, patch.Since{Read: in.Policy}); err != nil && !apierrors.IsNotFound(err) {
		return fmt.Errorf("writing the status of policy %s: %w", in.Policy.Name, err)
	}
	return nil
}
