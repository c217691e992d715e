package conformance

import (
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"

	v1 "github.com/nmstate/kubernetes-nmstate/api/v1"
)

func updating() map[string]func(*stage) {
	return map[string]func(*stage){
		"an update of what is not there is refused": func(s *stage) {
			state := s.state("a")
			state.ResourceVersion = "1"
			s.refused(s.api.Update(s.Context(), state), apierrors.IsNotFound)
			s.refused(s.api.Status().Update(s.Context(), state), apierrors.IsNotFound)
		},
		"an update with an old revision is a conflict": func(s *stage) {
			old := s.state("a")
			s.created(old)
			next := old.DeepCopy()
			next.Spec.NodeName = next.Name
			s.must(s.api.Update(s.Context(), next))
			s.refused(s.api.Update(s.Context(), old), apierrors.IsConflict, "the object has been modified")
			s.refused(s.api.Status().Update(s.Context(), old), apierrors.IsConflict, "the object has been modified")
		},
		"an update of our kinds without a revision is refused, of a Node it is not": func(s *stage) {
			state, node := s.state("a"), s.node("a")
			s.created(state, node)
			state.ResourceVersion, node.ResourceVersion = "", ""
			s.refused(s.api.Update(s.Context(), state), apierrors.IsInvalid)
			node.Labels = map[string]string{"a": "b"}
			s.must(s.api.Update(s.Context(), node))
		},
		"an update with another UID is a conflict": func(s *stage) {
			state := s.state("a")
			s.created(state)
			state.UID = "another"
			s.refused(s.api.Update(s.Context(), state), apierrors.IsConflict, "UID")
			s.refused(s.api.Status().Update(s.Context(), state), apierrors.IsConflict, "UID")
		},
		"only a change of the spec has a new generation": func(s *stage) {
			policy := s.policy("a")
			s.created(policy)
			policy.Labels, policy.Annotations = map[string]string{"a": "b"}, map[string]string{"c": "d"}
			s.must(s.api.Update(s.Context(), policy))
			same(s, "generation after labels", policy.Generation, 1)
			policy.Spec.Priority = 3
			s.must(s.api.Update(s.Context(), policy))
			same(s, "generation after the spec", policy.Generation, 2)
			policy.Status.ObservedGeneration = 2
			s.must(s.api.Status().Update(s.Context(), policy))
			same(s, "generation after the status", policy.Generation, 2)
		},
		"a Node has no generation": func(s *stage) {
			node := s.node("a")
			s.created(node)
			node.Spec.Unschedulable = true
			s.must(s.api.Update(s.Context(), node))
			same(s, "generation", read(s, node).Generation, 0)
		},
	}
}

func updatingParts() map[string]func(*stage) {
	return map[string]func(*stage){
		"an update leaves the status as it is": func(s *stage) {
			state := s.state("a")
			s.created(state)
			state.Status.HandlerVersion = "1"
			s.must(s.api.Status().Update(s.Context(), state))
			state.Spec.NodeName, state.Status.HandlerVersion = state.Name, "2"
			s.must(s.api.Update(s.Context(), state))
			same(s, "the reply's version", state.Status.HandlerVersion, "1")
			same(s, "version", read(s, state).Status.HandlerVersion, "1")
			node := s.node("a")
			s.created(node)
			node.Spec.Unschedulable = true
			node.Status.Conditions = []corev1.NodeCondition{{Type: corev1.NodeReady, Status: corev1.ConditionTrue}}
			s.must(s.api.Update(s.Context(), node))
			same(s, "conditions of a Node", len(read(s, node).Status.Conditions), 0)
		},
		"an update of the status leaves all else as it is": func(s *stage) {
			state := s.state("a")
			s.created(state)
			state.Labels, state.Spec.NodeName, state.Status.HandlerVersion = map[string]string{"a": "b"}, state.Name, "1"
			s.must(s.api.Status().Update(s.Context(), state))
			got := read(s, state)
			same(s, "labels", len(got.Labels), 0)
			same(s, "name", got.Spec.NodeName, "")
			same(s, "version", got.Status.HandlerVersion, "1")
			same(s, "generation", got.Generation, 1)
		},
		"an update that changes nothing has no new revision": func(s *stage) {
			policy := s.policy("a")
			policy.Spec.DesiredState = v1.NewState([]byte(`{"interfaces":[]}`))
			s.created(policy)
			policy.Status.ObservedGeneration = 1
			s.must(s.api.Status().Update(s.Context(), policy))
			before := policy.ResourceVersion
			s.must(s.server.As("another").Update(s.Context(), policy))
			s.must(s.server.As("another").Status().Update(s.Context(), policy))
			s.must(s.api.Status().Update(s.Context(), policy))
			same(s, "revision", read(s, policy).ResourceVersion, before)
		},
	}
}

func updatingLittle() map[string]func(*stage) {
	return map[string]func(*stage){
		"a status that says nothing is a change once": func(s *stage) {
			state := s.state("a")
			s.created(state)
			before := state.ResourceVersion
			s.must(s.api.Status().Update(s.Context(), state))
			if state.ResourceVersion == before {
				s.Error("it is none")
			}
			before = state.ResourceVersion
			s.must(s.api.Status().Update(s.Context(), state))
			same(s, "revision after another one", state.ResourceVersion, before)
		},
		"a write of a Node's status takes its labels along, and not its spec": func(s *stage) {
			node := s.node("a")
			s.created(node)
			s.must(s.api.Status().Patch(s.Context(), s.node("a"), merge(`{"metadata":{"labels":{"a":"b"}},"spec":{"unschedulable":true}}`)))
			got := read(s, node)
			same(s, "label", got.Labels["a"], "b")
			same(s, "unschedulable", got.Spec.Unschedulable, false)
		},
		"the times and the UID of an object cannot be changed": func(s *stage) {
			node := s.node("a")
			s.created(node)
			uid, at := node.UID, node.CreationTimestamp
			node.CreationTimestamp.Time = at.AddDate(1, 0, 0)
			s.must(s.api.Update(s.Context(), node))
			got := read(s, node)
			if got.UID != uid || !got.CreationTimestamp.Equal(&at) {
				s.Errorf("got %+v", got.ObjectMeta)
			}
		},
	}
}
