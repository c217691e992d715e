package install

import (
	"context"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	clocktesting "k8s.io/utils/clock/testing"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	v1 "github.com/nmstate/kubernetes-nmstate/api/v1"
)

func TestAnNMStateIsAnsweredOnceForEachGeneration(t *testing.T) {
	scheme := runtime.NewScheme()
	if err := v1.AddToScheme(scheme); err != nil {
		t.Fatal(err)
	}
	object := &v1.NMState{ObjectMeta: metav1.ObjectMeta{Name: "nmstate", Generation: 1}}
	writes := 0
	api := fake.NewClientBuilder().WithScheme(scheme).WithObjects(object).WithStatusSubresource(object).
		WithInterceptorFuncs(interceptor.Funcs{SubResourcePatch: func(ctx context.Context, c client.Client, name string,
			object client.Object, patch client.Patch, options ...client.SubResourcePatchOption,
		) error {
			writes++
			return c.SubResource(name).Patch(ctx, object, patch, options...)
		}}).Build()
	clock := clocktesting.NewFakeClock(time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC))
	r := NewAbsent(api, clock)
	key := client.ObjectKeyFromObject(object)
	step := func(want int) {
		t.Helper()
		if _, err := r.Reconcile(t.Context(), reconcile.Request{NamespacedName: key}); err != nil {
			t.Fatal(err)
		}
		if writes != want {
			t.Fatalf("%d writes, want %d", writes, want)
		}
	}
	step(1)
	step(1)

	if err := api.Get(t.Context(), key, object); err != nil {
		t.Fatal(err)
	}
	degraded := object.Status.Conditions[2]
	if degraded.Type != v1.PolicyDegraded || degraded.Status != metav1.ConditionTrue || degraded.Reason != "NotSupported" ||
		!strings.Contains(degraded.Message, "kubectl apply -k deploy/operator") {
		t.Errorf("Degraded: %+v", degraded)
	}

	object.Generation = 2
	if err := api.Update(t.Context(), object); err != nil {
		t.Fatal(err)
	}
	clock.Step(time.Hour)
	step(2)
	if err := api.Get(t.Context(), key, object); err != nil {
		t.Fatal(err)
	}
	if !object.Status.Conditions[2].LastTransitionTime.Equal(&degraded.LastTransitionTime) {
		t.Error("the transition time moved although the status did not")
	}
}
