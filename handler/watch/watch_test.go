package watch_test

import (
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/predicate"

	v1 "github.com/nmstate/kubernetes-nmstate/api/v1"
	"github.com/nmstate/kubernetes-nmstate/handler/watch"
)

func TestAnObjectThatWasMadeAgainWhileTheWatchWasBrokenIsAChange(t *testing.T) {
	of := func(uid types.UID, generation int64) *v1.NodeNetworkConfigurationPolicy {
		return &v1.NodeNetworkConfigurationPolicy{ObjectMeta: metav1.ObjectMeta{Name: "p", UID: uid, Generation: generation}}
	}
	passes := watch.Watch{Predicate: predicate.GenerationChangedPredicate{}}.Passes()
	for sentence, c := range map[string]struct {
		before, after *v1.NodeNetworkConfigurationPolicy
		want          bool
	}{
		"it is another one of the same generation": {of("a", 1), of("b", 1), true},
		"it is the same, with another spec":        {of("a", 1), of("a", 2), true},
		"it is the same, with another status":      {of("a", 1), of("a", 1), false},
	} {
		if got := passes.Update(event.UpdateEvent{ObjectOld: c.before, ObjectNew: c.after}); got != c.want {
			t.Errorf("%s: passes %v, want %v", sentence, got, c.want)
		}
	}
}
