package apiserver

import (
	"encoding/json"
	"math/rand/v2"
	"reflect"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "github.com/nmstate/kubernetes-nmstate/api/v1"
	"github.com/nmstate/kubernetes-nmstate/handler/patch"
	"github.com/nmstate/kubernetes-nmstate/sim/world"
)

// TestADifferenceDoesWhatThePatchDoes patches objects with both, objects that
// are what was compared with and others, and watches that the short way is
// taken at all.
func TestADifferenceDoesWhatThePatchDoes(t *testing.T) {
	store := New(world.New(1))
	chance := rand.New(rand.NewPCG(1, 2))
	for n := range 3000 {
		kind := kinds()[n%numKinds]
		from, to := kind.fresh(), kind.fresh()
		scribble(chance, from, 3)
		if chance.IntN(3) > 0 {
			to = from.DeepCopyObject().(client.Object)
		}
		scribble(chance, to, 2)
		from.SetResourceVersion("7")
		to.SetResourceVersion("7")
		now := stored(t, store, from)
		if chance.IntN(3) == 0 {
			scribble(chance, now, 2)
			now = stored(t, store, now)
		}
		sent := patch.Since{Read: from}
		made, err := store.differ.contentOf(sent, to)
		if err != nil || made.tree == nil {
			t.Fatalf("the short way is not taken: %v", err)
		}
		data, err := sent.Data(to)
		if err != nil {
			t.Fatal(err)
		}
		want, got := kind.shallow(now), kind.shallow(now)
		if err := store.merger.merge(reflect.ValueOf(want).Elem(), data); err != nil {
			t.Fatal(err)
		}
		if err := store.merger.mergeTree(reflect.ValueOf(got).Elem(), made.tree); err != nil {
			t.Fatal(err)
		}
		if !reflect.DeepEqual(want, got) {
			t.Fatalf("%s (-patch +ours)\n%s\n%s\nto %s\nof %s\nand %s", kind.name, cmp.Diff(want, got), data, encoded(t, now), encoded(t, from), encoded(t, to))
		}
	}
}

// stored is the object as a server would have it.
func stored(t *testing.T, store *Store, o client.Object) client.Object {
	t.Helper()
	made, err := store.received(store.tables[place(o)], o)
	if err != nil {
		t.Fatal(err)
	}
	return made
}

func encoded(t *testing.T, o any) string {
	t.Helper()
	raw, err := json.Marshal(o)
	if err != nil {
		t.Fatal(err)
	}
	return string(raw)
}

// scribble sets some fields.
func scribble(chance *rand.Rand, o client.Object, times int) {
	for range times {
		fill(chance, reflect.ValueOf(o).Elem(), 0)
	}
	meta := o.(metav1.Object)
	meta.SetManagedFields(nil)
}

func fill(chance *rand.Rand, v reflect.Value, depth int) {
	if depth > 6 || chance.IntN(4) == 0 {
		return
	}
	words := []string{"", "a", "<b>"}
	switch v.Addr().Interface().(type) {
	case *v1.State:
		states := []string{``, `{}`, `{"interfaces":[{"name":"eth0","mtu":1500}],"routes":{"config":[]}}`, `{"interfaces":[{"name":"eth1"}],"dns":{"a":{"b":null}}}`, `{"interfaces": [{"name": "eth1"}], "dns": {"a": {"b": null}}}`}
		v.Set(reflect.ValueOf(v1.NewState([]byte(states[chance.IntN(len(states))]))))
		return
	case *metav1.Time:
		v.Set(reflect.ValueOf(metav1.NewTime(time.Unix(int64(chance.IntN(3)), int64(chance.IntN(2))))))
		return
	case *intstr.IntOrString:
		v.Set(reflect.ValueOf(intstr.FromInt32(int32(chance.IntN(2)))))
		return
	case *corev1.ResourceList, *metav1.FieldsV1:
		return
	}
	switch v.Kind() {
	case reflect.Struct:
		if v.NumField() == 0 {
			return
		}
		for range 2 {
			if f := v.Field(chance.IntN(v.NumField())); f.CanSet() {
				fill(chance, f, depth+1)
			}
		}
		if i := chance.IntN(v.NumField()); chance.IntN(8) == 0 && v.Field(i).CanSet() {
			v.Field(i).SetZero()
		}
	case reflect.Pointer:
		if v.IsNil() || chance.IntN(6) == 0 {
			v.Set(reflect.New(v.Type().Elem()))
		}
		fill(chance, v.Elem(), depth+1)
	case reflect.Slice:
		made := reflect.MakeSlice(v.Type(), chance.IntN(3), 3)
		for i := range made.Len() {
			fill(chance, made.Index(i), depth+1)
		}
		v.Set(made)
	case reflect.Map:
		made := reflect.MakeMap(v.Type())
		for range chance.IntN(3) {
			value := reflect.New(v.Type().Elem()).Elem()
			fill(chance, value, depth+1)
			made.SetMapIndex(reflect.ValueOf(words[chance.IntN(3)]).Convert(v.Type().Key()), value)
		}
		v.Set(made)
	case reflect.String:
		v.SetString(words[chance.IntN(3)])
	case reflect.Bool:
		v.SetBool(chance.IntN(2) == 0)
	case reflect.Int, reflect.Int32, reflect.Int64:
		v.SetInt(int64(chance.IntN(3)))
	}
}
