package conformance

import (
	"fmt"
	"reflect"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "github.com/nmstate/kubernetes-nmstate/api/v1"
)

func merge(format string, args ...any) client.Patch {
	return client.RawPatch(types.MergePatchType, fmt.Appendf(nil, format, args...))
}

// operations replace a part of the object, if it still is what it was.
func operations(old client.Object, part, content string) client.Patch {
	return client.RawPatch(types.JSONPatchType, fmt.Appendf(nil,
		`[{"op":"replace","path":"/metadata/resourceVersion","value":%q},{"op":"add","path":%q,"value":%s}]`, old.GetResourceVersion(), part, content))
}

func locked(old client.Object) client.Patch {
	return client.MergeFromWithOptions(old, client.MergeFromWithOptimisticLock{})
}

func patching() map[string]func(*stage) {
	return map[string]func(*stage){
		"a patch of what is not there is refused": func(s *stage) {
			s.refused(s.api.Patch(s.Context(), s.state("a"), merge(`{}`)), apierrors.IsNotFound)
			s.refused(s.api.Status().Patch(s.Context(), s.state("a"), merge(`{}`)), apierrors.IsNotFound)
		},
		"a patch with an old revision is a conflict, with the last one it is not": func(s *stage) {
			old := s.state("a")
			s.created(old)
			next := old.DeepCopy()
			next.Spec.NodeName = next.Name
			s.must(s.api.Patch(s.Context(), next, locked(old)))
			again := old.DeepCopy()
			again.Status.HandlerVersion = "1"
			s.refused(s.api.Status().Patch(s.Context(), again, locked(old)), apierrors.IsConflict, "the object has been modified")
			again.Labels = map[string]string{"a": "b"}
			s.refused(s.api.Patch(s.Context(), again, locked(old)), apierrors.IsConflict, "the object has been modified")
			last := next.DeepCopy()
			last.Status.HandlerVersion = "1"
			s.must(s.api.Status().Patch(s.Context(), last, locked(next)))
			same(s, "version", read(s, old).Status.HandlerVersion, "1")
		},
		"a patch without a revision is done whatever the object is by now": func(s *stage) {
			old := s.state("a")
			s.created(old)
			s.must(s.api.Patch(s.Context(), s.state("a"), merge(`{"spec":{"nodeName":%q}}`, old.Name)))
			next := old.DeepCopy()
			next.Status.HandlerVersion = "1"
			s.must(s.api.Status().Patch(s.Context(), next, client.MergeFrom(old)))
			same(s, "name in the reply", next.Spec.NodeName, old.Name)
			same(s, "version", read(s, old).Status.HandlerVersion, "1")
		},
		"a patch with another UID is refused as invalid, and one of the status is done all the same": func(s *stage) {
			enactment := s.enactment("a")
			s.created(enactment)
			err := s.api.Patch(s.Context(), s.enactment("a"), merge(`{"metadata":{"uid":"another"},"spec":{"approvedGeneration":1}}`))
			s.refused(err, apierrors.IsInvalid, "metadata.uid", "field is immutable")
			s.must(s.api.Status().Patch(s.Context(), s.enactment("a"), merge(`{"metadata":{"uid":"another"},"status":{"hash":"x"}}`)))
			got := read(s, enactment)
			same(s, "hash", got.Status.Hash, "x")
			same(s, "UID", got.UID, enactment.UID)
			s.must(s.api.Patch(s.Context(), s.enactment("a"), merge(`{"metadata":{"uid":%q},"spec":{"approvedGeneration":1}}`, enactment.UID)))
			same(s, "generation", read(s, enactment).Spec.ApprovedGeneration, 1)
		},
		"a patch that changes nothing has no new revision": func(s *stage) {
			state := s.state("a")
			s.created(state)
			s.must(s.api.Status().Patch(s.Context(), s.state("a"), merge(`{"status":{"handlerVersion":"1"}}`)))
			before := read(s, state)
			s.must(s.api.Patch(s.Context(), s.state("a"), merge(`{}`)))
			s.must(s.api.Patch(s.Context(), s.state("a"), merge(`{"spec":{"nodeName":null},"status":{"handlerVersion":"2"}}`)))
			s.must(s.api.Status().Patch(s.Context(), s.state("a"), merge(`{"spec":{"nodeName":%q},"status":{"handlerVersion":"1"}}`, state.Name)))
			after := read(s, state)
			same(s, "revision", after.ResourceVersion, before.ResourceVersion)
			same(s, "generation", after.Generation, 1)
		},
	}
}

func patchingParts() map[string]func(*stage) {
	return map[string]func(*stage){
		"a patch of the status has no new generation and leaves labels alone": func(s *stage) {
			state := s.state("a")
			s.created(state)
			s.must(s.api.Status().Patch(s.Context(), s.state("a"), merge(`{"metadata":{"labels":{"a":"b"}},"status":{"handlerVersion":"1"}}`)))
			got := read(s, state)
			same(s, "generation", got.Generation, 1)
			same(s, "labels", len(got.Labels), 0)
			same(s, "version", got.Status.HandlerVersion, "1")
			if got.ResourceVersion == state.ResourceVersion {
				s.Error("it has the same revision")
			}
		},
		"a patch of labels, annotations and owners has no new generation": func(s *stage) {
			state := s.state("a")
			s.created(state)
			s.must(s.api.Patch(s.Context(), s.state("a"), merge(`{"metadata":{"labels":{"a":"b"},"annotations":{"c":"d"}}}`)))
			s.must(s.api.Patch(s.Context(), s.state("a"), merge(`{"metadata":{"labels":{"a":null,"e":"f"}}}`)))
			got := read(s, state)
			same(s, "generation", got.Generation, 1)
			if !reflect.DeepEqual(got.Labels, map[string]string{"e": "f"}) || got.Annotations["c"] != "d" {
				s.Errorf("got %+v", got.ObjectMeta)
			}
		},
	}
}

func mergingPatches() map[string]func(*stage) {
	return map[string]func(*stage){
		"a patch merges objects, replaces lists, and null removes": func(s *stage) {
			policy := s.policy("a")
			policy.Spec.NodeSelector = map[string]string{"a": "1", "b": "2"}
			policy.Spec.PlanHashes = []string{"aaaaaaaa", "bbbbbbbb"}
			policy.Spec.Rollout = &v1.Rollout{SoakSeconds: 5, Paused: true}
			policy.Spec.Variables = map[string]v1.Variable{"x": {FromLabel: "l"}, "y": {FromLabel: "m"}}
			policy.Spec.Priority = 4
			s.created(policy)
			s.must(s.api.Patch(s.Context(), s.policy("a"), merge(`{"spec":{"nodeSelector":{"a":null,"c":"3"},"planHashes":["cccccccc"],"rollout":{"paused":null,"soakSeconds":6},"variables":{"x":{"default":"d"},"y":null},"priority":null,"maxUnavailable":null}}`)))
			got := read(s, policy).Spec
			if !reflect.DeepEqual(got.NodeSelector, map[string]string{"b": "2", "c": "3"}) || !reflect.DeepEqual(got.PlanHashes, []string{"cccccccc"}) {
				s.Errorf("got %+v", got)
			}
			same(s, "rollout", *got.Rollout, v1.Rollout{SoakSeconds: 6})
			same(s, "variables", len(got.Variables), 1)
			same(s, "the variable's source", got.Variables["x"].FromLabel, "l")
			same(s, "priority", got.Priority, 0)
			same(s, "maxUnavailable, which has a default", got.MaxUnavailable.String(), "50%")
		},
		"a patch merges into an nmstate state too": func(s *stage) {
			state := s.state("a")
			state.Spec.DesiredState = v1.NewState([]byte(`{"interfaces":[{"name":"eth0"}],"dns-resolver":{"config":{"server":["192.0.2.1"],"search":["a"]}},"routes":{"config":[]}}`))
			s.created(state)
			s.must(s.api.Patch(s.Context(), s.state("a"), merge(`{"spec":{"desiredState":{"dns-resolver":{"config":{"search":null,"server":["192.0.2.2"]}},"interfaces":[{"name":"eth1"}],"routes":null,"ovs-db":{"x":null,"y":{"z":1}}}}}`)))
			got := read(s, state)
			same(s, "the state", string(got.Spec.DesiredState.Raw), `{"dns-resolver":{"config":{"server":["192.0.2.2"]}},"interfaces":[{"name":"eth1"}],"ovs-db":{"y":{"z":1}}}`)
			same(s, "generation", got.Generation, 2)
			s.must(s.api.Patch(s.Context(), s.state("a"), merge(`{"spec":{"desiredState":null}}`)))
			same(s, "the state", string(read(s, state).Spec.DesiredState.Raw), "")
		},
		"to a JSON patch null is a value, in a spec, in a status and from there on": func(s *stage) {
			const holds = `{"ovs-db":{"external_ids":{"a":"1","b":null},"other_config":{}}}`
			old := s.state("a")
			old.Spec.DesiredState = v1.NewState([]byte(`{"ovs-db":{"external_ids":{"c":"1"}}}`))
			s.created(old)
			s.must(s.api.Patch(s.Context(), s.state("a"), operations(old, "/spec", `{"desiredState":`+holds+`}`)))
			next := read(s, old)
			same(s, "the state", string(next.Spec.DesiredState.Raw), holds)
			same(s, "generation", next.Generation, 2)
			s.refused(s.api.Patch(s.Context(), s.state("a"), operations(old, "/spec", `{}`)), apierrors.IsConflict, "the object has been modified")
			s.must(s.api.Patch(s.Context(), s.state("a"), merge(`{"metadata":{"labels":{"a":"b"}}}`)))
			same(s, "the state", string(read(s, old).Spec.DesiredState.Raw), holds)
			enactment := s.enactment("a")
			s.created(enactment)
			s.must(s.api.Status().Patch(s.Context(), s.enactment("a"), operations(enactment, "/status", `{"desiredState":`+holds+`}`)))
			same(s, "the state in the status", string(read(s, enactment).Status.DesiredState.Raw), holds)
		},
		"a status that leaves a field out does not remove it": func(s *stage) {
			policy := s.policy("a")
			s.created(policy)
			first, then := merge(`{"status":{"observedGeneration":1,"counts":{"matched":2,"available":1,"progressing":0,"pending":0,"failing":0,"aborted":0,"notReady":0}}}`), merge(`{"status":{"counts":{"available":2}}}`)
			s.must(s.api.Status().Patch(s.Context(), s.policy("a"), first))
			s.must(s.api.Status().Patch(s.Context(), s.policy("a"), then))
			got := read(s, policy).Status
			same(s, "generation", got.ObservedGeneration, 1)
			same(s, "counts", got.Counts, v1.PolicyCounts{Matched: 2, Available: 2})
		},
	}
}

func comparingPatches() map[string]func(*stage) {
	return map[string]func(*stage){
		"what MergeFrom finds different is what changes": func(s *stage) {
			old := s.enactment("a")
			s.created(old)
			next := old.DeepCopy()
			at := metav1.NewTime(time.Date(2026, 1, 2, 3, 4, 5, 6, time.UTC))
			next.Status = v1.NodeNetworkConfigurationEnactmentStatus{
				DesiredState: v1.NewState([]byte(`{"interfaces":[{"name":"eth0","mtu":1400}]}`)), Hash: "x", PolicyGeneration: 2,
				Variables:      map[string]string{"a": "b"},
				CapturedStates: map[string]v1.CapturedState{"c": {State: v1.NewState([]byte(`{"interfaces":[]}`))}},
				Committed:      &v1.CommittedPolicy{Generation: 1, Hash: "y", Since: at},
				Retry:          &v1.EnactmentRetry{Attempts: 1, After: &at},
				Conditions:     []v1.Condition{{Type: v1.EnactmentFailing, Status: metav1.ConditionTrue, LastTransitionTime: at}},
			}
			s.must(s.api.Status().Patch(s.Context(), next, client.MergeFrom(old)))
			got := read(s, old)
			if !reflect.DeepEqual(got.Status, next.Status) || got.Status.Committed.Since.Nanosecond() != 0 || len(got.Status.CapturedStates) != 1 {
				s.Errorf("got %+v, want %+v", got.Status, next.Status)
			}
			last := got.DeepCopy()
			last.Status.Retry, last.Status.Variables, last.Status.Conditions[0].Status = nil, nil, metav1.ConditionFalse
			s.must(s.api.Status().Patch(s.Context(), last, client.MergeFrom(got)))
			after := read(s, old).Status
			if after.Retry != nil || len(after.Variables) != 0 || after.Conditions[0].Status != metav1.ConditionFalse || after.Committed == nil {
				s.Errorf("got %+v", after)
			}
		},
		"what a patch adds has to be whole, what it merges into not": func(s *stage) {
			enactment := s.enactment("a")
			s.created(enactment)
			err := s.api.Status().Patch(s.Context(), s.enactment("a"), merge(`{"status":{"committed":{"generation":1}}}`))
			s.refused(err, apierrors.IsInvalid, "status.committed.hash", "Required value")
			s.must(s.api.Status().Patch(s.Context(), s.enactment("a"), merge(`{"status":{"committed":{"generation":1,"hash":"x"}}}`)))
			s.must(s.api.Status().Patch(s.Context(), s.enactment("a"), merge(`{"status":{"committed":{"generation":2}}}`)))
			same(s, "hash", read(s, enactment).Status.Committed.Hash, "x")
		},
		"a Node is patched as our kinds are": func(s *stage) {
			node := s.node("a")
			s.created(node)
			old := read(s, node)
			next := old.DeepCopy()
			next.Labels = map[string]string{"a": "b"}
			next.Spec.Taints = []corev1.Taint{{Key: "k", Effect: corev1.TaintEffectNoSchedule}}
			s.must(s.api.Patch(s.Context(), next, client.MergeFrom(old)))
			ready := next.DeepCopy()
			ready.Status.Conditions = []corev1.NodeCondition{{Type: corev1.NodeReady, Status: corev1.ConditionTrue}}
			s.must(s.api.Status().Patch(s.Context(), ready, client.MergeFrom(next)))
			got := read(s, node)
			if got.Labels["a"] != "b" || len(got.Spec.Taints) == 0 || len(got.Status.Conditions) != 1 {
				s.Errorf("got %+v", got)
			}
		},
	}
}
