package policy

import (
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/tools/events"
	clocktesting "k8s.io/utils/clock/testing"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	v1 "github.com/nmstate/kubernetes-nmstate/api/v1"
	"github.com/nmstate/kubernetes-nmstate/handler/desired"
)

func TestTheNameOfANewEnactment(t *testing.T) {
	about := func(name, node, policy string) client.Object {
		return &v1.NodeNetworkConfigurationEnactment{ObjectMeta: metav1.ObjectMeta{
			Name: name, UID: "there", Labels: map[string]string{v1.EnactmentNodeLabel: node, v1.EnactmentPolicyLabel: policy},
		}}
	}
	for sentence, tt := range map[string]struct {
		policy string
		there  []client.Object
		// made is its name, empty: none is made; says is the error and the event.
		made, says string
	}{
		"nobody has the ordinary one":             {policy: "x.p", made: "n1.x.p"},
		"another node has it":                     {policy: "x.p", there: []client.Object{about("n1.x.p", "n1.x", "p")}, made: "x.p-uid"},
		"it is there, and the cache is late":      {policy: "x.p", there: []client.Object{about("n1.x.p", "n1", "x.p")}},
		"it is there under the second one":        {policy: "x.p", there: []client.Object{about("x.p-uid", "n1", "x.p")}},
		"somebody gave its only one to something": {policy: "p", there: []client.Object{about("n1.p", "", "")}, says: "another node or policy has the name n1.p; delete it"},
	} {
		t.Run(sentence, func(t *testing.T) {
			scheme := runtime.NewScheme()
			if err := v1.AddToScheme(scheme); err != nil {
				t.Fatal(err)
			}
			api := fake.NewClientBuilder().WithScheme(scheme).WithObjects(tt.there...).Build()
			told := events.NewFakeRecorder(1)
			r := New(Options{Client: api, Live: api, Events: told, Clock: clocktesting.NewFakePassiveClock(metav1.Now().Time)})
			g := &gathered{
				input: desired.Input{Node: "n1", NodeUID: "uid"}, node: &corev1.Node{},
				policies: map[string]*v1.NodeNetworkConfigurationPolicy{tt.policy: {}},
			}
			enactment := about("", "n1", tt.policy).(*v1.NodeNetworkConfigurationEnactment)
			enactment.UID = ""
			fresh, err := r.create(t.Context(), newMemory(), g, enactment)
			if fresh != (tt.made != "") || fresh && enactment.Name != tt.made {
				t.Errorf("made %v as %s, want %q", fresh, enactment.Name, tt.made)
			}
			if tt.says == "" {
				if err != nil {
					t.Error(err)
				}
				return
			}
			if err == nil || !strings.Contains(err.Error(), tt.says) {
				t.Errorf("error %v, want %q", err, tt.says)
			}
			if event := <-told.Events; !strings.Contains(event, tt.says) || !strings.Contains(event, desired.EventReconcileFailed) {
				t.Errorf("event %q, want %q", event, tt.says)
			}
		})
	}
}
