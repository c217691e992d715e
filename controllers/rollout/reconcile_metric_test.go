package rollout

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/client_golang/prometheus"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	v1 "github.com/nmstate/kubernetes-nmstate/api/v1"
)

func TestEnactmentsAreCountedByNodeAndFeaturesAreMarked(t *testing.T) {
	scheme := runtime.NewScheme()
	if err := v1.AddToScheme(scheme); err != nil {
		t.Fatal(err)
	}
	enactment := func(node, policy string, is v1.ConditionType, features ...string) *v1.NodeNetworkConfigurationEnactment {
		e := &v1.NodeNetworkConfigurationEnactment{ObjectMeta: metav1.ObjectMeta{
			Name: v1.EnactmentName(node, policy), OwnerReferences: []metav1.OwnerReference{{APIVersion: "v1", Kind: "Node", Name: node}},
		}}
		e.Status.Conditions = []v1.Condition{{Type: is, Status: metav1.ConditionTrue}, {Type: v1.EnactmentAborted, Status: metav1.ConditionFalse}}
		e.Status.Features = features
		return e
	}
	reader := fake.NewClientBuilder().WithScheme(scheme).WithObjects(
		enactment("a", "p", v1.EnactmentAvailable, "lldp", "static-route"),
		enactment("a", "q", v1.EnactmentAvailable, "lldp"),
		enactment("b", "p", v1.EnactmentFailing, "static-route", "mptcp"),
	).Build()
	elected := make(chan struct{})
	registry := prometheus.NewRegistry()
	registry.MustRegister(Metrics(t.Context(), reader, elected, "")...)
	if families, err := registry.Gather(); err != nil || len(families) != 0 {
		t.Errorf("before it is elected it tells %v, %v", families, err)
	}
	close(elected)
	families, err := registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]float64{}
	for _, family := range families {
		for _, metric := range family.GetMetric() {
			words := []string{strings.TrimPrefix(family.GetName(), "kubernetes_nmstate_")}
			for _, label := range metric.GetLabel() {
				words = append(words, label.GetValue())
			}
			if value := metric.GetGauge().GetValue(); value != 0 || !strings.HasPrefix(words[0], "policies_") {
				got[strings.Join(words, " ")] = value
			}
		}
	}
	want := map[string]float64{
		"enactments_status a Available": 2, "enactments_status b Failing": 1,
		// One policy on two nodes, and two policies on one, are no more than one that uses it.
		"features_applied lldp": 1, "features_applied static-route": 1, "features_applied mptcp": 1,
	}
	if difference := cmp.Diff(want, got); difference != "" {
		t.Errorf("(-want +got):\n%s", difference)
	}
}

func TestANodeThatLiesMakesNoSeriesOfItsOwn(t *testing.T) {
	scheme := runtime.NewScheme()
	if err := v1.AddToScheme(scheme); err != nil {
		t.Fatal(err)
	}
	e := &v1.NodeNetworkConfigurationEnactment{ObjectMeta: metav1.ObjectMeta{Name: "a.p", OwnerReferences: []metav1.OwnerReference{{APIVersion: "v1", Kind: "Node", Name: "a"}}}}
	for i := range 5000 {
		e.Status.Features = append(e.Status.Features, fmt.Sprintf("made-up-%d", i), fmt.Sprintf("Made up %d", i), strings.Repeat("x", 100+i%100))
		e.Status.Conditions = append(e.Status.Conditions, v1.Condition{Type: v1.ConditionType(fmt.Sprintf("MadeUp%d", i)), Status: metav1.ConditionTrue})
	}
	reader := fake.NewClientBuilder().WithScheme(scheme).WithObjects(e).Build()
	conditions, features := counts{}, counts{}
	if err := errors.Join(countEnactments(t.Context(), reader, conditions), countFeatures(t.Context(), reader, features)); err != nil {
		t.Fatal(err)
	}
	if len(conditions) != 0 || len(features) > maxFeatures {
		t.Errorf("%d series of conditions, %d of features", len(conditions), len(features))
	}
	for name := range features {
		if !strings.HasPrefix(name[0], "made-up-") {
			t.Errorf("%q is told as a feature", name[0])
		}
	}
}

func TestANodeThatReportedAndHasNoHandlerIsTold(t *testing.T) {
	scheme := runtime.NewScheme()
	if err := errors.Join(v1.AddToScheme(scheme), corev1.AddToScheme(scheme)); err != nil {
		t.Fatal(err)
	}
	ready := func(node string, is corev1.ConditionStatus) *corev1.Node {
		return &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: node}, Status: corev1.NodeStatus{Conditions: []corev1.NodeCondition{{Type: corev1.NodeReady, Status: is}}}}
	}
	state := func(node string) *v1.NodeNetworkState {
		return &v1.NodeNetworkState{ObjectMeta: metav1.ObjectMeta{Name: node}}
	}
	pod := func(node string, is corev1.ConditionStatus) *corev1.Pod {
		p := handlerPod("handler-"+node, node, is, time.Time{})
		return &p
	}
	elsewhere := pod("away", corev1.ConditionTrue)
	elsewhere.Namespace = "other"
	reader := fake.NewClientBuilder().WithScheme(scheme).WithObjects(
		ready("served", corev1.ConditionTrue), state("served"), pod("served", corev1.ConditionTrue),
		ready("crashing", corev1.ConditionTrue), state("crashing"), pod("crashing", corev1.ConditionFalse),
		ready("away", corev1.ConditionTrue), state("away"), elsewhere,
		ready("down", corev1.ConditionUnknown), state("down"),
		ready("never-selected", corev1.ConditionTrue),
	).Build()
	found := counts{}
	if err := countMissing(t.Context(), reader, "nmstate", found); err != nil {
		t.Fatal(err)
	}
	if difference := cmp.Diff(counts{{"crashing"}: 1, {"away"}: 1}, found); difference != "" {
		t.Errorf("(-want +got):\n%s", difference)
	}
	found = counts{}
	if err := countMissing(t.Context(), reader, "", found); err != nil || len(found) > 0 {
		t.Errorf("where handlers are no pods: %v, %v", found, err)
	}
}

func TestAPolicyThatWaitsForAPersonIsPaused(t *testing.T) {
	scheme := runtime.NewScheme()
	if err := v1.AddToScheme(scheme); err != nil {
		t.Fatal(err)
	}
	policy := func(name string, reason v1.ConditionReason, progresses metav1.ConditionStatus) *v1.NodeNetworkConfigurationPolicy {
		return &v1.NodeNetworkConfigurationPolicy{ObjectMeta: metav1.ObjectMeta{Name: name}, Status: v1.NodeNetworkConfigurationPolicyStatus{Conditions: []v1.Condition{
			{Type: v1.PolicyProgressing, Status: progresses}, {Type: v1.Reconciling, Status: metav1.ConditionTrue, Reason: reason},
		}}}
	}
	reader := fake.NewClientBuilder().WithScheme(scheme).WithObjects(
		policy("paused", v1.ReasonPaused, metav1.ConditionTrue), policy("soaking", v1.ReasonSoaking, metav1.ConditionTrue), policy("over", v1.ReasonPaused, metav1.ConditionFalse),
	).Build()
	found := counts{}
	if err := countPaused(t.Context(), reader, found); err != nil {
		t.Fatal(err)
	}
	if difference := cmp.Diff(counts{{}: 1}, found); difference != "" {
		t.Errorf("(-want +got):\n%s", difference)
	}
}
