package main

import (
	"strings"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "github.com/nmstate/kubernetes-nmstate/api/v1"
)

func TestUndo(t *testing.T) {
	retains := policyOf(v1.PolicyAvailable, "", "")
	reverts := policyOf(v1.PolicyAvailable, "", "")
	reverts.Spec.OnDelete = "Revert"
	has := enactmentOf("node1", v1.EnactmentAvailable, "")
	has.Status.Committed = &v1.CommittedPolicy{Generation: 1}
	waits := enactmentOf("node1", v1.EnactmentPending, "")
	waits.Status.WaitsToLeave = true
	state := func(onDelete string, observed int64) client.Object {
		s := &v1.NodeNetworkState{ObjectMeta: metav1.ObjectMeta{Name: "node1", Generation: 2}}
		s.Spec.Sources, s.Status.ObservedGeneration = []v1.DesiredSource{{Source: v1.Source{Policy: "mtu"}, OnDelete: onDelete}}, observed
		return s
	}
	const deleted, stays = true, false
	tests := map[string]struct {
		objects []client.Object
		args    string
		code    int
		says    string
		gone    bool
	}{
		"one that is reverted when it goes":              {[]client.Object{reverts}, "undo mtu", 0, "policy mtu: deleted\npolicy mtu: undone\n", deleted},
		"one that would be retained":                     {[]client.Object{retains, enactmentOf("node2", v1.EnactmentFailing, "")}, "undo mtu --wait=false", 0, "policy mtu: spec.onDelete is Revert now\npolicy mtu: deleted\n", deleted},
		"a node that knows it":                           {[]client.Object{retains, has, state("Revert", 2)}, "undo mtu --wait=false", 0, "policy mtu: deleted\n", deleted},
		"a node that does not know it yet":               {[]client.Object{retains, has, state("", 2)}, "undo mtu --timeout 1ms", 1, "policy mtu is not deleted: after 1ms: nodes that do not know yet", stays},
		"a node that has not looked at it yet":           {[]client.Object{retains, has, state("Revert", 1)}, "undo mtu --timeout 1ms", 1, "policy mtu is not deleted", stays},
		"a node that is gone":                            {[]client.Object{retains, has}, "undo mtu --wait=false", 0, "policy mtu: deleted\n", deleted},
		"a node that is not done":                        {[]client.Object{reverts, has}, "undo mtu --timeout 1ms", 1, "policy mtu is deleted: after 1ms: nodes that are not done", deleted},
		"a node whose turn has not come":                 {[]client.Object{reverts, waits}, "undo mtu --timeout 1ms", 1, "nodes that are not done, kubectl get nns tells why: node1 (waits for its turn)", deleted},
		"one that there is not":                          {nil, "undo mtu", 1, "reading policy mtu", deleted},
		"no time at all":                                 {[]client.Object{reverts}, "undo mtu --timeout=-1s", 2, "want more than 0", stays},
		"what would come back, and no node has answered": {[]client.Object{reverts}, "undo mtu --dry-run --timeout 1ms", 1, "not every node says what would come back", stays},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			var objects []client.Object
			for _, object := range tc.objects {
				objects = append(objects, object.DeepCopyObject().(client.Object))
			}
			got, api := run(t, objects, "", strings.Fields(tc.args)...)
			if got.code != tc.code || !strings.Contains(got.out+got.err, tc.says) {
				t.Errorf("exit code %d, want %d\n%s%s\nwant: %s", got.code, tc.code, got.out, got.err, tc.says)
			}
			var list v1.NodeNetworkConfigurationPolicyList
			if err := api.List(t.Context(), &list); err != nil {
				t.Fatal(err)
			}
			err := api.Get(t.Context(), client.ObjectKey{Name: "mtu"}, &v1.NodeNetworkConfigurationPolicy{})
			if apierrors.IsNotFound(err) != tc.gone || len(list.Items) > 1 {
				t.Errorf("policies: %v, it should be gone: %v", list.Items, tc.gone)
			}
		})
	}
}
