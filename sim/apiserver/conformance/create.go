package conformance

import (
	"maps"
	"slices"
	"strconv"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "github.com/nmstate/kubernetes-nmstate/api/v1"
)

func sortedKeys(group map[string]func(*stage)) []string { return slices.Sorted(maps.Keys(group)) }

func revision(s *stage, o client.Object) uint64 {
	s.Helper()
	n, err := strconv.ParseUint(o.GetResourceVersion(), 10, 64)
	s.must(err)
	return n
}

func creating() map[string]func(*stage) {
	return map[string]func(*stage){
		"a create gives a UID, a revision, generation 1 and a time in whole seconds": func(s *stage) {
			a, b := s.state("a"), s.state("b")
			s.created(a, b)
			if a.UID == "" || a.UID == b.UID || revision(s, a) >= revision(s, b) || a.CreationTimestamp.IsZero() || a.CreationTimestamp.Nanosecond() != 0 {
				s.Errorf("got %+v, %+v", a.ObjectMeta, b.ObjectMeta)
			}
			same(s, "generation", a.Generation, 1)
			same(s, "revision as read", read(s, a).ResourceVersion, a.ResourceVersion)
		},
		"a create of our kinds leaves the status out": func(s *stage) {
			state, policy, enactment := s.state("a"), s.policy("a"), s.enactment("a")
			state.Status.HandlerVersion = "x"
			policy.Status.ObservedGeneration = 3
			enactment.Status.Hash = "x"
			s.created(state, policy, enactment)
			same(s, "the reply's version", state.Status.HandlerVersion, "")
			same(s, "version", read(s, state).Status.HandlerVersion, "")
			same(s, "generation", read(s, policy).Status.ObservedGeneration, 0)
			same(s, "hash", read(s, enactment).Status.Hash, "")
		},
		"a create of a Node keeps the status": func(s *stage) {
			node := s.node("a")
			node.Status.Conditions = []corev1.NodeCondition{{Type: corev1.NodeReady, Status: corev1.ConditionTrue}}
			s.created(node)
			if len(read(s, node).Status.Conditions) != 1 {
				s.Error("it is gone")
			}
		},
		"a create of what is there is refused": func(s *stage) {
			s.created(s.state("a"))
			s.refused(s.api.Create(s.Context(), s.state("a")), apierrors.IsAlreadyExists, s.name("a"))
		},
		"a create with a revision is refused": func(s *stage) {
			state := s.state("a")
			state.ResourceVersion = "1"
			s.refused(s.api.Create(s.Context(), state), func(err error) bool { return err != nil }, "resourceVersion")
			same(s, "being there", s.there(s.state("a")), false)
		},
		"a create sets what the schema sets by itself": func(s *stage) {
			state, policy, bonded := s.state("a"), s.policy("a"), s.policy("b")
			bonded.Spec.Match = []v1.InterfaceRule{{Name: "eth*"}}
			bonded.Spec.AutoConfig = &v1.AutoConfig{Bonding: &v1.AutoBonding{}}
			s.created(state, policy, bonded)
			if state.Spec.Managed == nil || !*state.Spec.Managed || policy.Spec.MaxUnavailable == nil {
				s.Fatalf("got %+v, %+v", state.Spec, policy.Spec)
			}
			same(s, "maxUnavailable", policy.Spec.MaxUnavailable.String(), "50%")
			same(s, "bonding", *read(s, bonded).Spec.AutoConfig.Bonding, v1.AutoBonding{Mode: "active-backup", NamePrefix: "bond"})
		},
		"an nmstate state comes back with its keys sorted and all else as it was": func(s *stage) {
			state := s.state("a")
			state.Spec.DesiredState = v1.NewState([]byte(`{"routes": {"config": []}, "interfaces": [{"name": "eth0", "mtu": 9000, "a": [1, null], "n": null, "f": 1.5, "s": "<&>\u00e4"}], "empty": {}}`))
			s.created(state)
			const want = `{"empty":{},"interfaces":[{"a":[1,null],"f":1.5,"mtu":9000,"n":null,"name":"eth0","s":"\u003c\u0026\u003eä"}],"routes":{"config":[]}}`
			same(s, "the state", string(read(s, state).Spec.DesiredState.Raw), want)
			same(s, "the reply's", string(state.Spec.DesiredState.Raw), want)
		},
		"times are kept in whole seconds": func(s *stage) {
			state := s.state("a")
			s.created(state)
			at := time.Date(2026, 1, 2, 3, 4, 5, 678, time.UTC)
			state.Status.LastSuccessfulUpdateTime = metav1.NewTime(at)
			s.must(s.api.Status().Update(s.Context(), state))
			same(s, "the time", read(s, state).Status.LastSuccessfulUpdateTime.UTC(), at.Truncate(time.Second))
		},
	}
}

func reading() map[string]func(*stage) {
	return map[string]func(*stage){
		"a get of what is not there says so": func(s *stage) {
			s.refused(s.api.Get(s.Context(), client.ObjectKey{Name: s.name("a")}, &v1.NodeNetworkState{}), apierrors.IsNotFound, "nodenetworkstates.nmstate.io", s.name("a"))
		},
		"a list is by name, and by labels if asked": func(s *stage) {
			for _, of := range []string{"b", "c", "a"} {
				enactment := s.enactment(of)
				enactment.Labels = map[string]string{v1.EnactmentNodeLabel: s.prefix}
				s.created(enactment)
			}
			s.created(s.enactment("other"))
			var list v1.NodeNetworkConfigurationEnactmentList
			s.must(s.api.List(s.Context(), &list, client.MatchingLabels{v1.EnactmentNodeLabel: s.prefix}))
			var names []string
			for _, e := range list.Items {
				names = append(names, e.Name)
			}
			if want := []string{s.name("a"), s.name("b"), s.name("c")}; !slices.Equal(names, want) {
				s.Errorf("got %v, want %v", names, want)
			}
			if list.ResourceVersion == "" {
				s.Error("the list has no revision")
			}
		},
		"what was read may be changed without changing what is stored": func(s *stage) {
			policy := s.policy("a")
			policy.Labels = map[string]string{"a": "b"}
			s.created(policy)
			policy.Labels["a"] = "c"
			read(s, policy).Labels["a"] = "d"
			same(s, "label", read(s, policy).Labels["a"], "b")
		},
	}
}
