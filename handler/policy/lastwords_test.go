package policy

import (
	"context"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clocktesting "k8s.io/utils/clock/testing"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"

	v1 "github.com/nmstate/kubernetes-nmstate/api/v1"
)

func TestWhatADeletedPolicySaidLastIsKnownForAnHour(t *testing.T) {
	clock := clocktesting.NewFakePassiveClock(time.Unix(0, 0))
	words := &lastWords{clock: clock, said: map[string]lastWord{}}
	asked := 0
	listens := listening{handler.Funcs{
		CreateFunc: func(context.Context, event.CreateEvent, queue) { asked++ },
		DeleteFunc: func(context.Context, event.DeleteEvent, queue) { asked++ },
	}, words}
	deleted := func(object client.Object) { listens.Delete(t.Context(), event.DeleteEvent{Object: object}, nil) }
	policy := func(name, onDelete string) *v1.NodeNetworkConfigurationPolicy {
		return &v1.NodeNetworkConfigurationPolicy{
			ObjectMeta: metav1.ObjectMeta{Name: name},
			Spec:       v1.NodeNetworkConfigurationPolicySpec{OnDelete: onDelete},
		}
	}
	expect := func(want map[string]string, there ...v1.NodeNetworkConfigurationPolicy) {
		t.Helper()
		if diff := cmp.Diff(want, words.without(there)); diff != "" {
			t.Errorf("last words (-want +got):\n%s", diff)
		}
	}

	expect(nil)
	deleted(policy("first", "Revert"))
	deleted(policy("second", "Retain"))
	deleted(&corev1.Node{})
	expect(map[string]string{"first": "Revert", "second": "Retain"})
	expect(map[string]string{"first": "Revert"}, *policy("second", "Revert"))
	expect(map[string]string{"first": "Revert", "second": "Retain"})
	listens.Create(t.Context(), event.CreateEvent{Object: policy("second", "Revert")}, nil)
	expect(map[string]string{"first": "Revert"})
	if asked != 4 {
		t.Errorf("asked for turns %d times, want 4", asked)
	}

	clock.SetTime(time.Unix(0, 0).Add(rememberedFor + time.Second))
	deleted(policy("later", ""))
	expect(map[string]string{"later": ""})
}
