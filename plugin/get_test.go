package main

import (
	"context"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	v1 "github.com/nmstate/kubernetes-nmstate/api/v1"
)

// TestStatesAreReadPageByPage is with an API server that gives one state at a time.
func TestStatesAreReadPageByPage(t *testing.T) {
	pages := []string{"node1", "node2", "node3"}
	asked := 0
	api := interceptor.NewClient(planning(t, nil).(client.WithWatch), interceptor.Funcs{
		List: func(_ context.Context, _ client.WithWatch, into client.ObjectList, options ...client.ListOption) error {
			var o client.ListOptions
			o.ApplyOptions(options)
			if o.Limit != statesAtOnce || o.Continue != strings.Repeat("x", asked) {
				t.Errorf("asked for %d from %q", o.Limit, o.Continue)
			}
			list := into.(*v1.NodeNetworkStateList)
			list.Items = []v1.NodeNetworkState{{ObjectMeta: metav1.ObjectMeta{Name: pages[asked]}, Status: v1.NodeNetworkStateStatus{
				CurrentState: v1.NewState([]byte(`{"interfaces":[{"name":"eth1","type":"ethernet"}]}`)), Truncated: &v1.Truncated{},
			}}}
			if asked++; asked < len(pages) {
				list.Continue = strings.Repeat("x", asked)
			}
			return nil
		},
	})
	got := runOn(t.Context(), api, "get", "interfaces")
	for _, node := range pages {
		if strings.Count(got.out, "\n"+node) != 1 || !strings.Contains(got.err, "node "+node+" reports only a part") {
			t.Errorf("exit code %d\n%s%s", got.code, got.out, got.err)
		}
	}
}
