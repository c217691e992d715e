package conformance

import (
	"fmt"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "github.com/nmstate/kubernetes-nmstate/api/v1"
)

func deleting() map[string]func(*stage) {
	return map[string]func(*stage){
		"a delete of what is not there is refused": func(s *stage) {
			s.refused(s.api.Delete(s.Context(), s.state("a")), apierrors.IsNotFound)
		},
		"a delete with another UID is a conflict, with its UID it is done": func(s *stage) {
			enactment := s.enactment("a")
			s.created(enactment)
			another := enactment.UID + "x"
			s.refused(s.api.Delete(s.Context(), s.enactment("a"), client.Preconditions{UID: &another}), apierrors.IsConflict, "UID")
			same(s, "being there", s.there(enactment), true)
			s.must(s.api.Delete(s.Context(), s.enactment("a"), client.Preconditions{UID: &enactment.UID}))
			same(s, "being there", s.there(enactment), false)
		},
		"a delete with an old revision is a conflict": func(s *stage) {
			state := s.state("a")
			s.created(state)
			old := state.ResourceVersion
			s.must(s.api.Patch(s.Context(), state, merge(`{"metadata":{"labels":{"a":"b"}}}`)))
			s.refused(s.api.Delete(s.Context(), s.state("a"), client.Preconditions{ResourceVersion: &old}), apierrors.IsConflict, "ResourceVersion")
			s.must(s.api.Delete(s.Context(), s.state("a"), client.Preconditions{ResourceVersion: &state.ResourceVersion}))
		},
		"what is made again has another UID and generation 1": func(s *stage) {
			first := s.policy("a")
			s.created(first)
			s.must(s.api.Patch(s.Context(), s.policy("a"), merge(`{"spec":{"priority":1}}`)))
			s.must(s.api.Delete(s.Context(), s.policy("a")))
			second := s.policy("a")
			s.created(second)
			same(s, "generation", second.Generation, 1)
			if second.UID == first.UID {
				s.Error("it has the same UID")
			}
			next := first.DeepCopy()
			next.Spec.Priority = 2
			s.refused(s.api.Patch(s.Context(), next, locked(first)), apierrors.IsConflict)
		},
		"a delete waits for the finalizers": func(s *stage) {
			policy := s.policy("a")
			policy.Finalizers = []string{"example.com/one", "example.com/two"}
			s.created(policy)
			s.must(s.api.Delete(s.Context(), s.policy("a")))
			going := read(s, policy)
			if going.DeletionTimestamp.IsZero() || going.ResourceVersion == policy.ResourceVersion {
				s.Errorf("got %+v", going.ObjectMeta)
			}
			same(s, "generation", going.Generation, 2)
			s.must(s.api.Delete(s.Context(), s.policy("a")))
			same(s, "revision after another delete", read(s, policy).ResourceVersion, going.ResourceVersion)
			err := s.api.Patch(s.Context(), s.policy("a"), merge(`{"metadata":{"finalizers":["example.com/one","example.com/two","example.com/three"]}}`))
			s.refused(err, apierrors.IsInvalid, "metadata.finalizers", "Forbidden")
			s.must(s.api.Patch(s.Context(), s.policy("a"), merge(`{"metadata":{"finalizers":["example.com/two"]}}`)))
			same(s, "being there", s.there(policy), true)
			s.must(s.api.Status().Patch(s.Context(), s.policy("a"), merge(`{"status":{"observedGeneration":2}}`)))
			s.must(s.api.Patch(s.Context(), s.policy("a"), merge(`{"metadata":{"finalizers":null}}`)))
			same(s, "being there", s.there(policy), false)
		},
	}
}

// managersOf are the managers of a part of the desired state, as the product finds them.
func managersOf(state *v1.NodeNetworkState, words ...string) string {
	var found []string
	for _, entry := range state.ManagedFields {
		if entry.Subresource == "" && entry.FieldsV1 != nil && containsAll(string(entry.FieldsV1.GetRawBytes()), words) {
			found = append(found, entry.Manager)
		}
	}
	return strings.Join(found, " ")
}

func containsAll(text string, words []string) bool {
	for _, word := range words {
		if !strings.Contains(text, word) {
			return false
		}
	}
	return true
}

func managing() map[string]func(*stage) {
	const desired, routes = `"f:desiredState"`, `"f:routes"`
	return map[string]func(*stage){
		"managed fields tell who wrote which part of a desired state last": func(s *stage) {
			state := s.state("a")
			state.Spec.DesiredState = v1.NewState([]byte(`{"interfaces":[],"routes":{"config":[]}}`))
			s.must(s.server.As("creator").Create(s.Context(), state, client.FieldOwner("first")))
			same(s, "managers after the create", managersOf(read(s, state), desired), "first")
			patch := merge(`{"spec":{"desiredState":{"routes":{"config":[1]}}}}`)
			s.must(s.server.As("second").Patch(s.Context(), s.state("a"), patch))
			got := read(s, state)
			same(s, "managers", managersOf(got, desired), "first second")
			same(s, "managers of what is in the routes", managersOf(got, desired, routes, `"f:config"`), "second")
			patch = merge(`{"spec":{"desiredState":{"interfaces":[1],"dns-resolver":{}}}}`)
			s.must(s.api.Patch(s.Context(), s.state("a"), patch, client.FieldOwner("second")))
			got = read(s, state)
			same(s, "managers of the interfaces", managersOf(got, `"f:interfaces"`), "second")
			same(s, "managers of the object, which the first made", managersOf(got, desired), "first second")
			s.must(s.api.Status().Patch(s.Context(), s.state("a"), merge(`{"status":{"handlerVersion":"1"}}`)))
			s.must(s.api.Patch(s.Context(), s.state("a"), merge(`{"metadata":{"labels":{"a":"b"}}}`)))
			same(s, "managers after writes of other parts", managersOf(read(s, state), desired), "first second")
			s.must(s.api.Patch(s.Context(), s.state("a"), merge(`{"spec":{"desiredState":null}}`)))
			same(s, "managers of nothing", managersOf(read(s, state), desired), "")
		},
		"who writes the same value again does not take it over": func(s *stage) {
			state := s.state("a")
			state.Spec.DesiredState = v1.NewState([]byte(`{"interfaces":[{"name":"eth0"}]}`))
			s.must(s.server.As("first").Create(s.Context(), state))
			s.must(s.server.As("second").Patch(s.Context(), s.state("a"), merge(`{"spec":{"nodeName":%q,"desiredState":{"interfaces":[{"name":"eth0"}]}}}`, state.Name)))
			same(s, "managers", managersOf(read(s, state), desired), "first")
		},
	}
}

// gone is a condition.
func (s *stage) gone(o client.Object) func() error {
	return func() error {
		if s.there(o) {
			return fmt.Errorf("%s is there", o.GetName())
		}
		return nil
	}
}

func ownedBy(o client.Object, owners ...client.Object) client.Object {
	var references []metav1.OwnerReference
	for _, owner := range owners {
		reference := metav1.OwnerReference{APIVersion: "v1", Kind: "Node", Name: owner.GetName(), UID: owner.GetUID()}
		if _, is := owner.(*v1.NodeNetworkConfigurationPolicy); is {
			reference.APIVersion, reference.Kind = v1.GroupVersion.String(), "NodeNetworkConfigurationPolicy"
		}
		references = append(references, reference)
	}
	o.SetOwnerReferences(references)
	return o
}

func collecting() map[string]func(*stage) {
	cases := map[string]func(*stage){
		"what a Node owns goes with it": func(s *stage) {
			node, state := s.node("a"), s.state("a")
			s.created(node)
			s.created(ownedBy(state, node))
			s.must(s.api.Delete(s.Context(), s.node("a")))
			s.server.Eventually(s.T, s.gone(state))
		},
		"what has two owners stays while one is there, and forgets the other": func(s *stage) {
			node, policy, enactment := s.node("a"), s.policy("a"), s.enactment("a")
			s.created(node, policy)
			s.created(ownedBy(enactment, node, policy))
			s.must(s.api.Delete(s.Context(), s.node("a")))
			s.server.Eventually(s.T, func() error {
				if n := len(read(s, enactment).OwnerReferences); n != 1 {
					return fmt.Errorf("it has %d owners", n)
				}
				return nil
			})
			got := read(s, enactment)
			same(s, "owner", got.OwnerReferences[0].UID, policy.UID)
			same(s, "generation", got.Generation, 1)
			s.must(s.api.Delete(s.Context(), s.policy("a")))
			s.server.Eventually(s.T, s.gone(enactment))
		},
		"what is made for an owner that is not there goes": func(s *stage) {
			node, state := s.node("a"), s.state("a")
			s.created(node)
			s.must(s.api.Delete(s.Context(), s.node("a")))
			s.created(ownedBy(state, node))
			s.server.Eventually(s.T, s.gone(state))
		},
		"an owner that was made again is another one": func(s *stage) {
			node, state := s.node("a"), s.state("a")
			s.created(node)
			s.created(ownedBy(state, node))
			s.must(s.api.Delete(s.Context(), s.node("a")))
			s.created(s.node("a"))
			s.server.Eventually(s.T, s.gone(state))
		},
	}
	for sentence, check := range cases {
		cases[sentence] = func(s *stage) {
			if !s.server.Collects() {
				s.Skip("this server has no garbage collector")
			}
			check(s)
		}
	}
	return cases
}
