package conformance

import (
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/labels"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "github.com/nmstate/kubernetes-nmstate/api/v1"
)

func (s *stage) cachedByLabel(like client.Object, indexes map[string]client.IndexerFunc) Cached {
	s.Helper()
	by := cache.ByObject{Label: labels.SelectorFromSet(labels.Set{v1.EnactmentNodeLabel: s.prefix})}
	options := cache.Options{DefaultTransform: cache.TransformStripManagedFields(), ByObject: map[client.Object]cache.ByObject{like: by}}
	return s.server.Cached(s.T, options, like, indexes)
}

// labelled is an enactment that cachedByLabel shows.
func (s *stage) labelled(of string) *v1.NodeNetworkConfigurationEnactment {
	enactment := s.enactment(of)
	enactment.Labels = map[string]string{v1.EnactmentNodeLabel: s.prefix}
	return enactment
}

// told waits for so many changes, and returns them.
func (s *stage) told(c Cached, n int) []Change {
	s.Helper()
	s.server.Eventually(s.T, func() error {
		if got := len(c.Changes()); got < n {
			return fmt.Errorf("%d changes, want %d", got, n)
		}
		return nil
	})
	changes := c.Changes()
	if len(changes) != n {
		s.Fatalf("%d changes, want %d", len(changes), n)
	}
	return changes
}

func caching() map[string]func(*stage) {
	return map[string]func(*stage){
		"a cache tells what was there, and each change with the object before": func(s *stage) {
			first := s.labelled("a")
			s.created(first)
			cached := s.cachedByLabel(s.enactment(""), nil)
			second := s.labelled("b")
			s.created(second)
			s.told(cached, 2)
			s.must(s.api.Patch(s.Context(), s.enactment("a"), merge(`{"spec":{"approvedGeneration":1}}`)))
			s.told(cached, 3)
			s.must(s.api.Delete(s.Context(), s.enactment("b")))
			changes := s.told(cached, 4)
			same(s, "what was there", changes[0].New.GetName(), first.Name)
			same(s, "its object before", changes[0].Old, nil)
			same(s, "what came", changes[1].New.GetName(), second.Name)
			same(s, "what changed, before", changes[2].Old.GetResourceVersion(), first.ResourceVersion)
			same(s, "what changed, after", changes[2].New.GetGeneration(), 2)
			same(s, "what is gone, after", changes[3].New, nil)
			same(s, "what is gone", changes[3].Old.GetName(), second.Name)
			if revision(s, changes[3].Old) <= revision(s, changes[2].New) {
				s.Error("what is gone has not the revision of its end")
			}
		},
		"what leaves a cache's selection is told as gone, what enters as new": func(s *stage) {
			s.created(s.labelled("a"), s.enactment("b"))
			cached := s.cachedByLabel(s.enactment(""), nil)
			s.must(s.api.Patch(s.Context(), s.enactment("a"), merge(`{"metadata":{"labels":null}}`)))
			s.told(cached, 2)
			s.must(s.api.Patch(s.Context(), s.enactment("b"), merge(`{"metadata":{"labels":{%q:%q}}}`, v1.EnactmentNodeLabel, s.prefix)))
			changes := s.told(cached, 3)
			same(s, "what is gone, after", changes[1].New, nil)
			same(s, "what is gone", changes[1].Old.GetName(), s.name("a"))
			same(s, "what is new, before", changes[2].Old, nil)
			same(s, "what is new", changes[2].New.GetName(), s.name("b"))
		},
		"a cache by name has one object": func(s *stage) {
			s.created(s.state("a"), s.state("b"))
			options := cache.Options{ByObject: map[client.Object]cache.ByObject{s.state(""): {Field: fields.OneTermEqualSelector("metadata.name", s.name("a"))}}}
			cached := s.server.Cached(s.T, options, s.state(""), nil)
			var list v1.NodeNetworkStateList
			s.must(cached.List(s.Context(), &list))
			same(s, "objects", len(list.Items), 1)
			s.must(cached.Get(s.Context(), client.ObjectKey{Name: s.name("a")}, &v1.NodeNetworkState{}))
			s.refused(cached.Get(s.Context(), client.ObjectKey{Name: s.name("b")}, &v1.NodeNetworkState{}), apierrors.IsNotFound, "NodeNetworkState.nmstate.io", s.name("b"))
		},
		"a cache keeps what its transform leaves": func(s *stage) {
			node := s.node("a")
			node.Annotations = map[string]string{"a": "b"}
			s.created(node)
			strip := func(o any) (any, error) {
				o.(*corev1.Node).Annotations = nil
				return o, nil
			}
			options := cache.Options{ByObject: map[client.Object]cache.ByObject{s.node(""): {Transform: strip}}}
			cached := s.server.Cached(s.T, options, s.node(""), nil)
			var got corev1.Node
			s.must(cached.Get(s.Context(), client.ObjectKeyFromObject(node), &got))
			same(s, "annotations", len(got.Annotations), 0)
			same(s, "annotations on the server", len(read(s, node).Annotations), 1)
			for _, change := range cached.Changes() {
				same(s, "annotations that were told", len(change.New.GetAnnotations()), 0)
			}
		},
	}
}

func cachedReads() map[string]func(*stage) {
	return map[string]func(*stage){
		"a cached list is by index, by label, or all": func(s *stage) {
			for of, policy := range map[string]string{"a": "x", "b": "y", "c": "x"} {
				enactment := s.labelled(of)
				enactment.Labels[v1.EnactmentPolicyLabel] = policy
				s.created(enactment)
			}
			byPolicy := func(o client.Object) []string { return []string{o.GetLabels()[v1.EnactmentPolicyLabel]} }
			cached := s.cachedByLabel(s.enactment(""), map[string]client.IndexerFunc{"policy": byPolicy})
			names := func(options ...client.ListOption) string {
				var list v1.NodeNetworkConfigurationEnactmentList
				s.must(cached.List(s.Context(), &list, options...))
				var found []string
				for _, e := range list.Items {
					found = append(found, e.Name)
				}
				slices.Sort(found)
				return fmt.Sprint(found)
			}
			same(s, "by index", names(client.MatchingFields{"policy": "x"}), fmt.Sprint([]string{s.name("a"), s.name("c")}))
			same(s, "by label", names(client.MatchingLabels{v1.EnactmentPolicyLabel: "y"}), fmt.Sprint([]string{s.name("b")}))
			same(s, "all", names(), fmt.Sprint([]string{s.name("a"), s.name("b"), s.name("c")}))
			same(s, "by index, unknown", names(client.MatchingFields{"policy": "z"}), "[]")
			s.must(s.api.Patch(s.Context(), s.enactment("a"), merge(`{"metadata":{"labels":{%q:"y"}}}`, v1.EnactmentPolicyLabel)))
			s.told(cached, 4)
			same(s, "by index, after a change", names(client.MatchingFields{"policy": "y"}), fmt.Sprint([]string{s.name("a"), s.name("b")}))
			s.refused(cached.List(s.Context(), &v1.NodeNetworkConfigurationEnactmentList{}, client.MatchingFields{"other": "x"}), func(err error) bool { return err != nil }, "field:other")
		},
		"a cached read is a copy, unless none is wanted": func(s *stage) {
			enactment := s.labelled("a")
			s.created(enactment)
			cached, key := s.cachedByLabel(s.enactment(""), nil), client.ObjectKeyFromObject(enactment)
			var one, two, shared v1.NodeNetworkConfigurationEnactment
			s.must(cached.Get(s.Context(), key, &one))
			one.Labels["a"] = "b"
			s.must(cached.Get(s.Context(), key, &two))
			same(s, "label", two.Labels["a"], "")
			same(s, "kind", two.Kind, "NodeNetworkConfigurationEnactment")
			s.must(cached.Get(s.Context(), key, &shared, client.UnsafeDisableDeepCopy))
			same(s, "kind of what is shared", shared.Kind, "")
			var list v1.NodeNetworkConfigurationEnactmentList
			s.must(cached.List(s.Context(), &list, client.UnsafeDisableDeepCopy))
			shared.Labels["a"] = "c" // Never to be done, but it shows.
			same(s, "label of what is shared", list.Items[0].Labels["a"], "c")
		},
	}
}

func consistentReads() map[string]func(*stage) {
	return map[string]func(*stage){
		"a consistent client reads its own writes": func(s *stage) {
			cached := s.cachedByLabel(s.enactment(""), nil)
			api := cached.Consistent()
			var list v1.NodeNetworkConfigurationEnactmentList
			for i := range int64(10) {
				enactment := s.labelled(fmt.Sprint(i))
				s.must(api.Create(s.Context(), enactment))
				s.must(api.List(s.Context(), &list))
				same(s, "objects", len(list.Items), int(i)+1)
				s.must(api.Patch(s.Context(), s.enactment(fmt.Sprint(i)), merge(`{"spec":{"approvedGeneration":%d}}`, i+1)))
				var got v1.NodeNetworkConfigurationEnactment
				s.must(api.Get(s.Context(), client.ObjectKeyFromObject(enactment), &got))
				same(s, "generation", got.Spec.ApprovedGeneration, i+1)
				s.must(api.Status().Patch(s.Context(), s.enactment(fmt.Sprint(i)), merge(`{"status":{"policyGeneration":%d}}`, i+1)))
				s.must(api.Get(s.Context(), client.ObjectKeyFromObject(enactment), &got))
				same(s, "generation of the status", got.Status.PolicyGeneration, i+1)
			}
			for i := range list.Items {
				s.must(api.Delete(s.Context(), &list.Items[i], client.Preconditions{UID: &list.Items[i].UID}))
				var left v1.NodeNetworkConfigurationEnactmentList
				s.must(api.List(s.Context(), &left))
				same(s, "objects", len(left.Items), len(list.Items)-i-1)
			}
		},
	}
}
