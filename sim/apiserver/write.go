package apiserver

import (
	"cmp"
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"

	jsonpatch "github.com/evanphx/json-patch/v5"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// received makes an object of what a client sent as a whole.
func (s *Store) received(t *table, sent client.Object) (client.Object, error) {
	raw, err := json.Marshal(sent)
	if err != nil {
		return nil, apierrors.NewBadRequest(err.Error())
	}
	made := t.kind.fresh()
	if err := s.literal.merge(reflect.ValueOf(made).Elem(), raw); err != nil {
		return nil, apierrors.NewBadRequest(err.Error())
	}
	return made, nil
}

func (s *Store) create(r request, sent client.Object) (client.Object, error) {
	t := s.tables[place(sent)]
	if sent.GetGenerateName() != "" || sent.GetNamespace() != "" && t.kind.place != pods {
		panic("apiserver: the model has no generateName, and namespaces for pods only")
	}
	if sent.GetName() == "" {
		return nil, apierrors.NewInvalid(t.kind.gvk().GroupKind(), "", nil)
	}
	if sent.GetResourceVersion() != "" {
		return nil, apierrors.NewBadRequest("resourceVersion should not be set on objects to be created")
	}
	if t.entries[sent.GetName()] != nil {
		return nil, apierrors.NewAlreadyExists(t.kind.resource(), sent.GetName())
	}
	made, err := s.received(t, sent)
	if err != nil {
		return nil, err
	}
	meta, _, _ := t.kind.parts(made)
	*meta = metav1.ObjectMeta{
		Namespace: meta.Namespace, Name: meta.Name, Labels: meta.Labels, Annotations: meta.Annotations,
		OwnerReferences: meta.OwnerReferences, Finalizers: meta.Finalizers,
		UID: s.uid(), CreationTimestamp: s.now(),
	}
	if t.kind.counted {
		meta.Generation = 1
		t.kind.setStatus(made, t.kind.fresh())
	}
	t.kind.defaults(made)
	if err := s.fits(t, made); err != nil {
		return nil, err
	}
	s.stamp(made)
	s.commit(t, r, nil, made, nil)
	t.entries[made.GetName()].owners.wrote(t.kind, r, nil, made)
	return made, nil
}

// update replaces the object by what was sent.
func (s *Store) update(r request, sent client.Object) (client.Object, error) {
	t := s.tables[place(sent)]
	e := t.entries[sent.GetName()]
	if e == nil {
		return nil, apierrors.NewNotFound(t.kind.resource(), sent.GetName())
	}
	next, err := s.received(t, sent)
	if err != nil {
		return nil, err
	}
	if next.GetUID() == "" {
		next.SetUID(e.object.GetUID())
	}
	if next.GetResourceVersion() == "" {
		if t.kind.counted {
			return nil, apierrors.NewInvalid(t.kind.gvk().GroupKind(), next.GetName(), nil) // "must be specified for an update"
		}
		next.SetResourceVersion(e.object.GetResourceVersion())
	}
	if next.GetUID() != e.object.GetUID() {
		return nil, otherUID(t, next.GetUID(), e.object)
	}
	return s.replace(t, r, e, next, true)
}

func otherUID(t *table, sent types.UID, now client.Object) error {
	return apierrors.NewConflict(t.kind.resource(), now.GetName(),
		fmt.Errorf("Precondition failed: UID in precondition: %s, UID in object meta: %s", sent, now.GetUID())) //nolint:staticcheck // The server's words.
}

// patch merges what was sent into the object.
func (s *Store) patch(r request, like client.Object, sent content) (client.Object, error) {
	t := s.tables[place(like)]
	if sent.kind != types.MergePatchType && sent.kind != types.JSONPatchType {
		panic(fmt.Sprintf("apiserver: the model has no patch of type %s", sent.kind))
	}
	e := t.entries[like.GetName()]
	if e == nil {
		return nil, apierrors.NewNotFound(t.kind.resource(), like.GetName())
	}
	if sent.kind == types.JSONPatchType {
		return s.patchLiterally(t, r, e, sent.data)
	}
	next := t.kind.shallow(e.object)
	var err error
	s.merger.start()
	if sent.tree != nil {
		err = s.merger.mergeTree(reflect.ValueOf(next).Elem(), sent.tree)
	} else {
		err = s.merger.merge(reflect.ValueOf(next).Elem(), sent.data)
	}
	if err != nil {
		return nil, apierrors.NewBadRequest(err.Error())
	}
	if next.GetName() != e.object.GetName() {
		return nil, apierrors.NewBadRequest("the name of the object does not match the name on the URL")
	}
	part := cmp.Or(r.subresource, "spec")
	var missing field.ErrorList
	for _, path := range s.merger.missing {
		if t.kind.counted && strings.HasPrefix(path, part+".") {
			missing = append(missing, field.Required(field.NewPath(path), ""))
		}
	}
	if next.GetResourceVersion() == e.object.GetResourceVersion() && len(missing) > 0 {
		return nil, apierrors.NewInvalid(t.kind.gvk().GroupKind(), next.GetName(), missing)
	}
	return s.replace(t, r, e, next, sent.has("status"))
}

// patchLiterally does a JSON patch's operations, to which null is a value.
func (s *Store) patchLiterally(t *table, r request, e *entry, operations []byte) (client.Object, error) {
	patch, err := jsonpatch.DecodePatch(operations)
	if err != nil {
		return nil, apierrors.NewBadRequest(err.Error())
	}
	now, err := json.Marshal(e.object)
	if err != nil {
		return nil, apierrors.NewBadRequest(err.Error())
	}
	made, err := patch.Apply(now)
	if err != nil {
		return nil, apierrors.NewInvalid(t.kind.gvk().GroupKind(), e.object.GetName(), nil)
	}
	next := t.kind.fresh()
	s.literal.start()
	if err := s.literal.merge(reflect.ValueOf(next).Elem(), made); err != nil {
		return nil, apierrors.NewBadRequest(err.Error())
	}
	return s.replace(t, r, e, next, r.subresource == "status")
}

// replace stores the next version of an object, if it is one: the parts that
// the request may not write are as they were. A first status is a change even if
// it says nothing.
func (s *Store) replace(t *table, r request, e *entry, next client.Object, withStatus bool) (client.Object, error) {
	now := e.object
	if next.GetResourceVersion() != now.GetResourceVersion() {
		return nil, apierrors.NewConflict(t.kind.resource(), now.GetName(),
			fmt.Errorf("the object has been modified; please apply your changes to the latest version and try again")) //nolint:err113,perfsprint // The server's words.
	}
	if err := s.metaAllowed(t, r, now, next); err != nil {
		return nil, err
	}
	s.keep(t, r, now, next)
	meta, spec, status := t.kind.differs(now, next)
	first := withStatus && r.subresource == "status" && t.kind.counted && !e.status
	if !meta && !spec && !status && !first {
		return now, nil
	}
	e.status = e.status || first
	if err := s.fits(t, next); err != nil {
		return nil, err
	}
	if spec && t.kind.counted {
		next.SetGeneration(now.GetGeneration() + 1)
	}
	if next.GetDeletionTimestamp() != nil && len(next.GetFinalizers()) == 0 {
		return next, s.remove(t, r, next)
	}
	s.stamp(next)
	if spec {
		e.owners.wrote(t.kind, r, now, next)
	}
	s.commit(t, r, now, next, nil)
	return next, nil
}

// metaAllowed refuses what no write may change; a write of a status does not get
// that far, except for a Node.
func (s *Store) metaAllowed(t *table, r request, now, next client.Object) error {
	if r.subresource == "status" && t.kind.counted {
		return nil
	}
	path := field.NewPath("metadata")
	var wrong field.ErrorList
	if next.GetUID() != now.GetUID() {
		wrong = append(wrong, field.Invalid(path.Child("uid"), next.GetUID(), "field is immutable"))
	}
	if now.GetDeletionTimestamp() != nil {
		for _, finalizer := range next.GetFinalizers() {
			if !slices.Contains(now.GetFinalizers(), finalizer) {
				wrong = append(wrong, field.Forbidden(path.Child("finalizers"), "no new finalizers can be added if the object is being deleted"))
			}
		}
	}
	if len(wrong) == 0 {
		return nil
	}
	return apierrors.NewInvalid(t.kind.gvk().GroupKind(), now.GetName(), wrong)
}

// keep takes back what a request may not change.
func (s *Store) keep(t *table, r request, now, next client.Object) {
	was, _, _ := t.kind.parts(now)
	meta, _, _ := t.kind.parts(next)
	if r.subresource == "status" && t.kind.counted {
		*meta = *was
		t.kind.setSpec(next, now)
		return
	}
	*meta = metav1.ObjectMeta{
		Name: was.Name, UID: was.UID, ResourceVersion: was.ResourceVersion, Generation: was.Generation,
		CreationTimestamp: was.CreationTimestamp, DeletionTimestamp: was.DeletionTimestamp,
		DeletionGracePeriodSeconds: was.DeletionGracePeriodSeconds,
		Labels:                     meta.Labels, Annotations: meta.Annotations,
		OwnerReferences: meta.OwnerReferences, Finalizers: meta.Finalizers,
	}
	if r.subresource == "status" { // Of a Node: it takes the labels as well.
		t.kind.setSpec(next, now)
		return
	}
	t.kind.setStatus(next, now)
	t.kind.defaults(next)
}

func (s *Store) remove(t *table, r request, now client.Object) error {
	last := t.kind.shallow(now)
	s.stamp(last)
	before := t.entries[now.GetName()].object
	s.commit(t, r, before, nil, last)
	return nil
}

// delete deletes the object, or only says that it is being deleted while it has
// finalizers.
func (s *Store) delete(r request, like client.Object, only *metav1.Preconditions) (client.Object, error) {
	t := s.tables[place(like)]
	e := t.entries[like.GetName()]
	if e == nil {
		return nil, apierrors.NewNotFound(t.kind.resource(), like.GetName())
	}
	now := e.object
	if only != nil && only.UID != nil && *only.UID != now.GetUID() {
		return nil, otherUID(t, *only.UID, now)
	}
	if only != nil && only.ResourceVersion != nil && *only.ResourceVersion != now.GetResourceVersion() {
		return nil, apierrors.NewConflict(t.kind.resource(), now.GetName(),
			fmt.Errorf("Precondition failed: ResourceVersion in precondition: %s, ResourceVersion in object meta: %s", *only.ResourceVersion, now.GetResourceVersion())) //nolint:staticcheck // The server's words.
	}
	if len(now.GetFinalizers()) == 0 {
		return now, s.remove(t, r, now)
	}
	if now.GetDeletionTimestamp() != nil {
		return now, nil
	}
	next := t.kind.shallow(now)
	at, none := s.now(), int64(0)
	next.SetDeletionTimestamp(&at)
	next.SetDeletionGracePeriodSeconds(&none)
	if t.kind.counted {
		next.SetGeneration(now.GetGeneration() + 1)
	}
	s.stamp(next)
	s.commit(t, r, now, next, nil)
	return next, nil
}

// maxObject is etcd's limit for one request, which an object has to fit in.
const maxObject = 3 << 19

// fits refuses an object that etcd would. Only states are large.
func (s *Store) fits(t *table, o client.Object) error {
	if stateSize(o) < maxObject/2 {
		return nil
	}
	raw, err := json.Marshal(o)
	if err != nil {
		return apierrors.NewBadRequest(err.Error())
	}
	if len(raw) > maxObject {
		return apierrors.NewInternalError(fmt.Errorf("etcdserver: request is too large (%s %s)", t.kind.name, o.GetName()))
	}
	return nil
}
