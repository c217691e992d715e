package view

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "github.com/nmstate/kubernetes-nmstate/api/v1"
)

func TestDriftTable(t *testing.T) {
	states := []v1.NodeNetworkState{{ObjectMeta: metav1.ObjectMeta{Name: "node2"}}, {ObjectMeta: metav1.ObjectMeta{Name: "node1"}}}
	if diff := cmp.Diff([]string{"nothing has drifted on 2 nodes"}, DriftTable(Drifts(states), 2, now())); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	states[0].Status.Drift = []v1.Drift{{Path: "routes.config[0.0.0.0/0]", Expected: "there", Action: "Damped"}}
	states[1].Status.Drift = []v1.Drift{{Path: "interfaces[eth1].mtu", Expected: "1400", Found: "1300", Policy: "mtu", Action: "Reported", Since: metav1.NewTime(now().Add(-time.Minute))}}
	want := []string{
		"NODE    PATH                       EXPECTED   FOUND   POLICY   ACTION     FOR",
		"node1   interfaces[eth1].mtu       1400       1300    mtu      Reported   1m0s",
		"node2   routes.config[0.0.0.0/0]   there      -       -        Damped     -",
	}
	if diff := cmp.Diff(want, DriftTable(Drifts(states), 2, now())); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}
