package view

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "github.com/nmstate/kubernetes-nmstate/api/v1"
)

func TestSettings(t *testing.T) {
	nns := &v1.NodeNetworkState{ObjectMeta: metav1.ObjectMeta{Name: "node1"}}
	nns.Spec.DesiredState = v1.NewState([]byte(`{"interfaces":[
		{"name":"eth1","type":"ethernet","mtu":1400,"ipv4":{"enabled":true,"address":[{"ip":"192.0.2.1","prefix-length":24}]}},
		{"name":"eth1.7","type":"vlan","mtu":1300}]}`))
	nns.Spec.Sources = []v1.DesiredSource{
		{Source: v1.Source{Policy: "mtu"}, OnDelete: "Revert", Paths: []string{"interfaces[eth1].mtu", "interfaces[eth1].type", "interfaces[eth1].ipv4.address"}},
		{Source: v1.Source{Policy: "address"}, Paths: []string{"interfaces[eth1].ipv4.enabled", "interfaces[eth1].ipv4.address[192.0.2.1/24]", "interfaces[eth1].type"}},
		{Source: v1.Source{Policy: "vlan"}, Paths: []string{"interfaces[eth1.7]"}},
	}
	nns.Status.Drift = []v1.Drift{{Path: "interfaces[eth1].mtu", Expected: "1400", Found: "1300", Policy: "mtu", Action: "Reported"}, {Path: "interfaces[eth1].ipv4.address", Expected: "192.0.2.1/24", Action: "Correcting"}}
	committed := on("node1", v1.EnactmentAvailable, "")
	committed.Status.Committed = &v1.CommittedPolicy{Since: metav1.NewTime(now().Add(-time.Hour))}
	nns.Status.Before = []v1.Before{{Of: "interfaces[eth1]", Was: v1.NewState([]byte(`{"state":"up","mtu":1500,"ipv4":{"enabled":true,"dhcp":false,"address":[{"ip":"192.0.2.9","prefix-length":24}]}}`))},
		{Of: "interfaces[eth1.7]", Was: v1.NewState([]byte(`{"state":"absent"}`)), Unset: []string{"mtu"}}}
	const head = "SETTING                      VALUE      POLICY        FOR      BEFORE         DRIFT                       WHEN THE POLICY GOES"
	tests := map[string]struct {
		what string
		want []string
	}{
		"all of an interface": {"eth1", []string{
			head,
			"ipv4.address[192.0.2.1/24]   -          mtu,address   1h0m0s   192.0.2.9/24   found nothing, Correcting   stays: not all of the policies have onDelete Revert",
			"ipv4.enabled                 true       address       -        true           -                           stays: it was the same before",
			"mtu                          1400       mtu           1h0m0s   1500           found 1300, Reported        stays as somebody has set it: 1300",
			"type                         ethernet   mtu,address   1h0m0s   -              -                           stays: it was there before",
		}},
		"a part of it": {"eth1.ipv4.enabled", []string{
			"SETTING        VALUE   POLICY    FOR   BEFORE   DRIFT   WHEN THE POLICY GOES", "ipv4.enabled   true    address   -     true     -       stays: it was the same before",
		}},
		"one with a dot in its name": {"eth1.7.mtu", []string{
			"SETTING   VALUE   POLICY   FOR   BEFORE    DRIFT   WHEN THE POLICY GOES", "mtu       1300    vlan     -     nothing   -       stays; with kubectl nmstate undo vlan it goes, as eth1.7 was not there",
		}},
		"one that nobody has set": {"eth0", []string{"SETTING   VALUE   POLICY   FOR   BEFORE   DRIFT   WHEN THE POLICY GOES"}},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			name, key := SplitInterface(tc.what, []Interface{{Name: "eth0"}, {Name: "eth1"}}, nns)
			settings, err := Settings(nns, []v1.NodeNetworkConfigurationEnactment{committed}, name, key)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tc.want, SettingTable(settings, now())); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
		})
	}
	if name, _ := SplitInterface("eth10", []Interface{{Name: "eth1"}}, nns); name != "" {
		t.Errorf("eth10 is taken for %s", name)
	}
	nns.Spec.Sources = nil
	byHand, err := Settings(nns, nil, "eth1", "mtu")
	if err != nil || len(byHand) != 1 || byHand[0].Undo != "stays, it was written by hand" {
		t.Errorf("by hand: %v %v", byHand, err)
	}
}
