package install

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"

	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/clock"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	v1 "github.com/nmstate/kubernetes-nmstate/api/v1"
)

// fieldOwner is whose the fields are that the operator applies.
const fieldOwner = client.FieldOwner(operatorName)

// Operator installs as the NMState object says. It takes one turn for all that
// changes: there is one installation.
type Operator struct {
	client   client.Client
	live     client.Reader
	clock    clock.PassiveClock
	settings Settings
	// applied is what was applied last, so that a rollout of the handler, with many
	// changes of a status, does not apply everything each time.
	applied map[string]mark
}

// mark tells whether an object is still as it was applied.
type mark struct {
	hash    [sha256.Size]byte
	uid     types.UID
	version string
}

// NewOperator returns an Operator. It reads workloads live: what it has just applied
// would look finished in an old copy.
func NewOperator(client client.Client, live client.Reader, clock clock.PassiveClock, settings Settings) *Operator {
	return &Operator{client: client, live: live, clock: clock, settings: settings, applied: map[string]mark{}}
}

// Cached keeps in the manager's cache what the operator installed, and of that only
// the metadata.
func Cached(namespace string) (cache.Options, error) {
	kinds, err := kinds()
	if err != nil {
		return cache.Options{}, err
	}
	ours := labels.SelectorFromSet(labels.Set{managedByLabel: operatorName})
	options := cache.Options{ByObject: map[client.Object]cache.ByObject{}}
	for kind, namespaced := range kinds {
		by := cache.ByObject{Label: ours}
		if namespaced {
			by.Namespaces = map[string]cache.Config{namespace: {}}
		}
		options.ByObject[metadata(kind)] = by
	}
	return options, nil
}

// kinds are those of all that is installed, and whether they have a namespace.
func kinds() (map[schema.GroupVersionKind]bool, error) {
	found := map[schema.GroupVersionKind]bool{}
	for _, source := range [][]byte{distributed, centralized} {
		objects, err := parse(source)
		if err != nil {
			return nil, fmt.Errorf("reading the embedded manifests: %w", err)
		}
		for _, object := range objects {
			found[object.GroupVersionKind()] = object.GetNamespace() != ""
		}
	}
	return found, nil
}

func metadata(kind schema.GroupVersionKind) *metav1.PartialObjectMetadata {
	object := &metav1.PartialObjectMetadata{}
	object.SetGroupVersionKind(kind)
	return object
}

// SetupWithManager starts the operator with the manager, whose cache has the options
// of Cached.
func (r *Operator) SetupWithManager(mgr ctrl.Manager) error {
	kinds, err := kinds()
	if err != nil {
		return err
	}
	turn := handler.EnqueueRequestsFromMapFunc(func(context.Context, client.Object) []reconcile.Request {
		return []reconcile.Request{{NamespacedName: types.NamespacedName{Name: "the-installation"}}}
	})
	controller := ctrl.NewControllerManagedBy(mgr).Named("operator").Watches(&v1.NMState{}, turn)
	for kind := range kinds {
		controller = controller.WatchesMetadata(metadata(kind), turn)
	}
	return controller.Complete(r)
}

// Reconcile brings the installation to what the NMState says that counts, and tells
// the others that they do not.
func (r *Operator) Reconcile(ctx context.Context, _ reconcile.Request) (reconcile.Result, error) {
	all := &v1.NMStateList{}
	if err := r.client.List(ctx, all); err != nil {
		return reconcile.Result{}, fmt.Errorf("listing NMState objects: %w", err)
	}
	chosen, ignored := Chosen(all.Items)
	if chosen == nil {
		clear(r.applied)
		return reconcile.Result{}, nil
	}
	var failed []error
	for _, object := range ignored {
		status, _ := Status(object, Verdict{Reason: ReasonIgnored, Message: fmt.Sprintf(
			"NMState %s, which is older, says how this cluster is installed; this one has no effect: delete one of them", chosen.Name)}, r.clock.Now())
		failed = append(failed, writeStatus(ctx, r.client, object, status))
	}
	verdict, failure := r.install(ctx, chosen)
	status, after := Status(chosen, verdict, r.clock.Now())
	failed = append(failed, failure, writeStatus(ctx, r.client, chosen, status))
	if err := errors.Join(failed...); err != nil {
		return reconcile.Result{}, err
	}
	return reconcile.Result{RequeueAfter: after}, nil
}

func (r *Operator) install(ctx context.Context, owner *v1.NMState) (Verdict, error) {
	objects, err := Render(r.settings, owner)
	if err != nil {
		return Verdict{Reason: ReasonInvalid, Message: err.Error()}, nil
	}
	var refused []error
	for _, object := range objects {
		if err := r.apply(ctx, object); err != nil {
			refused = append(refused, fmt.Errorf("applying %s %s: %w", object.GetKind(), object.GetName(), err))
		}
	}
	if err := errors.Join(refused...); err != nil {
		return Verdict{Reason: ReasonApplyFailed, Message: oneLine(refused)}, err
	}
	daemons, controllers := &appsv1.DaemonSet{}, &appsv1.Deployment{}
	key := types.NamespacedName{Namespace: r.settings.Namespace}
	key.Name = handlerName
	err = r.live.Get(ctx, key, daemons)
	if err == nil {
		key.Name = controllersName
		err = r.live.Get(ctx, key, controllers)
	}
	if err != nil {
		err = fmt.Errorf("reading how %s fares: %w", key, err)
		return Verdict{Reason: ReasonInternalError, Message: err.Error()}, err
	}
	return Fares(daemons, controllers), nil
}

// oneLine is the first error and how many more there are.
func oneLine(errs []error) string {
	if len(errs) == 1 {
		return errs[0].Error()
	}
	return fmt.Sprintf("%s (and %d more, which the operator's log names)", errs[0], len(errs)-1)
}

// apply applies an object unless it is still as it was applied last.
func (r *Operator) apply(ctx context.Context, object *unstructured.Unstructured) error {
	raw, err := json.Marshal(object)
	if err != nil {
		return err
	}
	key := object.GetKind() + " " + object.GetName()
	now := mark{hash: sha256.Sum256(raw)}
	there := metadata(object.GroupVersionKind())
	if r.client.Get(ctx, client.ObjectKeyFromObject(object), there) == nil {
		now.uid, now.version = there.UID, version(there)
		if r.applied[key] == now {
			return nil
		}
	}
	if err := r.client.Apply(ctx, client.ApplyConfigurationFromUnstructured(object), fieldOwner, client.ForceOwnership); err != nil {
		delete(r.applied, key)
		return err
	}
	now.uid, now.version = object.GetUID(), version(object)
	r.applied[key] = now
	return nil
}

// version changes when a person changes the object, and not with its status where the
// kind knows generations.
func version(object metav1.Object) string {
	if generation := object.GetGeneration(); generation > 0 {
		return fmt.Sprint("generation ", generation)
	}
	return object.GetResourceVersion()
}
