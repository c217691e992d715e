package apiserver_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	v1 "github.com/nmstate/kubernetes-nmstate/api/v1"
	"github.com/nmstate/kubernetes-nmstate/e2e/controlplane"
	"github.com/nmstate/kubernetes-nmstate/e2e/controlplane/controlplanetest"
	"github.com/nmstate/kubernetes-nmstate/sim/apiserver"
	"github.com/nmstate/kubernetes-nmstate/sim/world"
)

// Of each seed so many operations are compared.
const seeds, operations = 5, 500

// TestTheModelDoesWhatARealAPIServerDoes sends both the same drawn requests,
// stale ones among them, and compares each answer and what is stored after it.
func TestTheModelDoesWhatARealAPIServerDoes(t *testing.T) {
	plane := controlplanetest.Start(t, os.Getenv, controlplane.Options{CRDs: "../../deploy/crds"})
	for seed := range uint64(seeds) {
		t.Run(fmt.Sprint("seed ", seed), func(t *testing.T) {
			compare(t, seed, controlplanetest.Client(t, plane, client.Options{Scheme: scheme(t)}))
		})
	}
}

func compare(t *testing.T, seed uint64, api client.Client) {
	pair := [2]*side{{api: api}, {api: apiserver.New(world.New(seed)).As("conformance")}}
	for n := range operations {
		var said, stored [2]string
		for i, s := range pair {
			// The same stream for both: they draw the same as long as they agree.
			chance := rand.New(rand.NewPCG(seed, uint64(n))) //nolint:gosec // It has to repeat itself.
			said[i] = s.operate(t.Context(), chance, fmt.Sprint(seed, "-"))
			stored[i] = s.look(t)
		}
		if said[0] != said[1] {
			t.Logf("the errors were:\n%v\n%v", pair[0].last, pair[1].last)
		}
		if diff := cmp.Diff(said[0]+"\n"+stored[0], said[1]+"\n"+stored[1]); diff != "" {
			t.Fatalf("operation %d (-real +model):\n%s", n, diff)
		}
	}
}

// side is one of the two servers with what was read from it.
type side struct {
	api client.Client
	// read are the versions of the last object, oldest first; about is its kind.
	read  map[string][]client.Object
	about client.Object
	last  error
	// uids are the objects' UIDs in the order in which they were seen.
	uids []types.UID
}

// operate draws a request, and says what it was and what came of it.
func (s *side) operate(ctx context.Context, chance *rand.Rand, prefix string) string {
	kinds := []client.Object{&corev1.Node{}, &v1.NodeNetworkState{}, &v1.NodeNetworkConfigurationPolicy{}, &v1.NodeNetworkConfigurationEnactment{}}
	kind := kinds[chance.IntN(len(kinds))]
	fresh := kind.DeepCopyObject().(client.Object)
	fresh.SetName(prefix + []string{"a", "b"}[chance.IntN(2)])
	key := fmt.Sprintf("%T %s", kind, fresh.GetName())
	s.about = fresh.DeepCopyObject().(client.Object)
	if s.read == nil {
		s.read = map[string][]client.Object{}
	}
	versions := s.read[key]
	base := fresh
	if len(versions) > 0 {
		back := 1
		if chance.IntN(4) == 0 {
			back = 1 + chance.IntN(min(3, len(versions)))
		}
		base = versions[len(versions)-back].DeepCopyObject().(client.Object)
	}
	what, err := s.request(ctx, chance, fresh, base)
	s.last = err
	var now client.Object
	if found := s.about.DeepCopyObject().(client.Object); s.api.Get(ctx, client.ObjectKeyFromObject(fresh), found) == nil {
		now = found
		if n := len(versions); n == 0 || versions[n-1].GetResourceVersion() != now.GetResourceVersion() {
			s.read[key] = append(versions, now)
		}
	}
	return fmt.Sprintf("%s %s: %s", what, key, apierrors.ReasonForError(err))
}

func (s *side) request(ctx context.Context, chance *rand.Rand, fresh, base client.Object) (string, error) {
	next := base.DeepCopyObject().(client.Object)
	scribble(chance, next)
	patch := client.MergeFrom(base)
	locked := chance.IntN(2) == 0 && base.GetResourceVersion() != ""
	if locked {
		patch = client.MergeFromWithOptions(base, client.MergeFromWithOptimisticLock{})
	}
	uid, revision := base.GetUID(), base.GetResourceVersion()
	switch draw := chance.IntN(20); {
	case draw < 3:
		scribble(chance, fresh)
		return "create", s.api.Create(ctx, fresh)
	case draw < 6:
		return "update", s.api.Update(ctx, next)
	case draw < 8:
		return "update status", s.api.Status().Update(ctx, next)
	case draw < 12:
		return fmt.Sprint("patch ", locked), s.api.Patch(ctx, next, patch)
	case draw < 16:
		return fmt.Sprint("patch status ", locked), s.api.Status().Patch(ctx, next, patch)
	case draw == 16 && uid != "":
		return "delete of a UID", s.api.Delete(ctx, fresh, client.Preconditions{UID: &uid})
	case draw == 17 && revision != "":
		return "delete of a revision", s.api.Delete(ctx, fresh, client.Preconditions{ResourceVersion: &revision})
	case draw == 18:
		raw := fmt.Appendf(nil, `{"metadata":{"uid":%q,"annotations":{"n":"%d"}}}`, uid, chance.IntN(3))
		return "patch of a UID", s.api.Patch(ctx, fresh, client.RawPatch(types.MergePatchType, raw))
	}
	return "delete", s.api.Delete(ctx, fresh)
}

// scribble changes a few things that the schema allows.
func scribble(chance *rand.Rand, o client.Object) {
	word := []string{"", "x", "y"}
	for range chance.IntN(3) {
		switch chance.IntN(5) {
		case 0:
			o.SetLabels(map[string]string{"a": word[chance.IntN(3)]})
		case 1:
			if o.GetDeletionTimestamp() == nil || len(o.GetFinalizers()) > 0 {
				o.SetFinalizers([]string{"example.com/a", "example.com/b"}[:chance.IntN(3)])
			}
		default:
			scribbleParts(chance, o, word)
		}
	}
}

func scribbleParts(chance *rand.Rand, o client.Object, word []string) {
	states := []string{``, `{}`, `{"interfaces":[{"name":"eth0"}]}`, `{"interfaces":[],"dns-resolver":{"config":{"server":["192.0.2.1"]}}}`, `{"dns-resolver":{"config":{"search":["a"]}},"routes":{"config":[]}}`}
	state := v1.NewState([]byte(states[chance.IntN(len(states))]))
	at := metav1.Unix(int64(chance.IntN(3)), 0)
	number := int64(chance.IntN(3))
	switch o := o.(type) {
	case *corev1.Node:
		o.Spec.Unschedulable = number == 0
		o.Status.Conditions = []corev1.NodeCondition{{Type: corev1.NodeReady, Status: corev1.ConditionTrue, LastHeartbeatTime: at}}[:chance.IntN(2)]
	case *v1.NodeNetworkState:
		o.Spec.DesiredState, o.Status.CurrentState = state, state
		o.Spec.Sources = []v1.DesiredSource{{Source: v1.Source{Policy: "p", Generation: number}}}[:chance.IntN(2)]
		o.Status.AppliedHash, o.Status.LastSuccessfulUpdateTime = word[chance.IntN(3)], at
		if o.Status.Transaction = nil; number > 0 {
			o.Status.Transaction = &v1.Transaction{Generation: number, Phase: "Idle", Since: at}
		}
	case *v1.NodeNetworkConfigurationPolicy:
		o.Spec.DesiredState, o.Spec.Priority = state, int32(number)
		if o.Spec.MaxUnavailable = nil; number > 0 {
			o.Spec.NodeSelector = map[string]string{"a": word[number], word[number] + "b": "c"}
		}
		o.Status.Counts.Matched, o.Status.ObservedGeneration = int32(number), number
	case *v1.NodeNetworkConfigurationEnactment:
		o.Spec.ApprovedGeneration = number
		o.Status.DesiredState, o.Status.Hash = state, word[chance.IntN(3)]
		if o.Status.Committed = nil; number > 0 {
			o.Status.Committed = &v1.CommittedPolicy{Generation: number, Since: at, DesiredState: state}
		}
		o.Status.Variables = map[string]string{"v": word[number]}
	}
}

// look is what is stored, without what may differ.
func (s *side) look(t *testing.T) string {
	t.Helper()
	o := s.about
	if err := s.api.Get(t.Context(), client.ObjectKeyFromObject(o), o); err != nil {
		return string(apierrors.ReasonForError(err))
	}
	versions := s.read[fmt.Sprintf("%T %s", o, o.GetName())]
	deleted := o.GetDeletionTimestamp() != nil
	uid := 0
	for uid < len(s.uids) && s.uids[uid] != o.GetUID() {
		uid++
	}
	if uid == len(s.uids) {
		s.uids = append(s.uids, o.GetUID())
	}
	o.SetManagedFields(nil)
	o.SetUID("")
	o.SetResourceVersion("")
	o.SetCreationTimestamp(metav1.Time{})
	o.SetDeletionTimestamp(nil)
	if node, is := o.(*corev1.Node); is {
		node.Spec.Taints = nil // A real server's admission adds one that says NotReady.
	}
	raw, err := yaml.Marshal(o)
	if err != nil {
		t.Fatal(err)
	}
	return fmt.Sprintf("object %d, version %d, deleted %v\n%s", uid, len(versions), deleted, raw)
}
