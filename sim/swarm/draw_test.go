package swarm_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "github.com/nmstate/kubernetes-nmstate/api/v1"
	"github.com/nmstate/kubernetes-nmstate/handler/desired"
	"github.com/nmstate/kubernetes-nmstate/sim/swarm"
)

func TestTheSameSeedDrawsTheSameRun(t *testing.T) {
	if diff := cmp.Diff(swarm.Draw(7, swarm.Size{}).String(), swarm.Draw(7, swarm.Size{}).String()); diff != "" {
		t.Error(diff)
	}
	if swarm.Draw(7, swarm.Size{}).String() == swarm.Draw(8, swarm.Size{}).String() {
		t.Error("another seed drew the same run")
	}
}

func TestARunCanBeWrittenDown(t *testing.T) {
	for seed := range uint64(20) {
		run := swarm.Draw(seed, swarm.Size{})
		raw, err := json.Marshal(run)
		if err != nil {
			t.Fatal(err)
		}
		var read swarm.Run
		if err := json.Unmarshal(raw, &read); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(run, read); diff != "" {
			t.Fatal(diff)
		}
	}
}

// What a person could not write is not drawn: everything is as the schema and
// the strict parser want it, except for the mistake that is there on purpose.
func TestPoliciesAreWhatPeopleCouldWrite(t *testing.T) {
	about := map[string]int{}
	for seed := range uint64(200) {
		run := swarm.Draw(seed, swarm.Size{Lean: seed%2 == 0})
		if err := run.Check(); err != nil {
			t.Fatal(err)
		}
		for _, a := range run.Actions {
			if a.At < 0 || a.At > run.Safety {
				t.Errorf("seed %d: %s is outside of the phase", seed, a)
			}
			about[string(a.Verb)]++
			if a.Spec == nil {
				continue
			}
			about[strings.Split(a.What, ",")[0]]++
			if err := v1.CheckProbes("spec.probes", a.Spec.Probes); err != nil {
				t.Errorf("seed %d, %s: %v", seed, a, err)
			}
			if a.Spec.DefaultProbes != "" && len(a.Spec.Probes) == 0 {
				t.Errorf("seed %d, %s: defaultProbes without probes", seed, a)
			}
			if err := rendered(a.Spec, run.Cluster.Nodes[0]); err != nil && !strings.HasPrefix(a.What, misspelt) {
				t.Errorf("seed %d, %s: %v", seed, a, err)
			}
		}
	}
	if len(about) < 7+14+10 {
		t.Errorf("only these are drawn: %v", about)
	}
}

const misspelt = "bad: a misspelt key"

// rendered tells why a policy comes to nothing on a node.
func rendered(spec *v1.NodeNetworkConfigurationPolicySpec, on swarm.Node) error {
	node := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: on.Name, Labels: map[string]string{"example.com/mtu": "1400"}}}
	values, err := desired.Variables(spec.Variables, node)
	if err != nil {
		return err
	}
	if spec.AutoConfig != nil {
		return nil
	}
	raw, err := desired.Expand(spec.DesiredState.Raw, desired.Templates{Variables: values, Matching: len(spec.Match) > 0, Matched: []string{"eth1"}})
	if err != nil {
		return err
	}
	_, err = desired.Render(raw, spec.Priority, true)
	return err
}

func BenchmarkDraw(b *testing.B) {
	b.ReportAllocs()
	for seed := uint64(0); b.Loop(); seed++ {
		swarm.Draw(seed, swarm.Size{})
	}
}
