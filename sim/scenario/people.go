package scenario

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	v1 "github.com/nmstate/kubernetes-nmstate/api/v1"
)

// manifests are the policies of a file.
func manifests(text string) ([]*v1.NodeNetworkConfigurationPolicy, error) {
	var all []*v1.NodeNetworkConfigurationPolicy
	for document := range strings.SplitSeq("\n"+text, "\n---\n") {
		if strings.TrimSpace(document) == "" {
			continue
		}
		policy := &v1.NodeNetworkConfigurationPolicy{}
		if err := yaml.UnmarshalStrict([]byte(document), policy); err != nil {
			return nil, err
		}
		if policy.Kind != "NodeNetworkConfigurationPolicy" || policy.Name == "" {
			return nil, fmt.Errorf("kind %q, name %q: want policies with names", policy.Kind, policy.Name)
		}
		all = append(all, policy)
	}
	return all, nil
}

func doApply(ctx context.Context, r *run, s *Step) error {
	policies, err := manifests(r.scenario.Files[s.Args["FILE"]])
	if err != nil {
		return fmt.Errorf("%s: %w", s.Args["FILE"], err)
	}
	for _, policy := range policies {
		spec := policy.DeepCopy()
		err := r.Client().Create(ctx, policy)
		if apierrors.IsAlreadyExists(err) {
			err = change(ctx, r, spec, func(now *v1.NodeNetworkConfigurationPolicy) { now.Spec = spec.Spec })
		}
		if err != nil {
			return fmt.Errorf("applying %s: %w", spec.Name, err)
		}
	}
	return nil
}

func doDelete(ctx context.Context, r *run, s *Step) error {
	meta := metav1.ObjectMeta{Name: s.Args["NAME"]}
	if s.Args["policy|state"] == "policy" {
		return r.Client().Delete(ctx, &v1.NodeNetworkConfigurationPolicy{ObjectMeta: meta})
	}
	return r.Client().Delete(ctx, &v1.NodeNetworkState{ObjectMeta: meta})
}

// alterNodes changes the Node objects that are meant.
func (r *run) alterNodes(ctx context.Context, said string, alter func(*corev1.Node)) error {
	return r.each(said, func(node string) error {
		return change(ctx, r, &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: node}}, alter)
	})
}

// put sets "KEY=VALUE" in a map, or takes "KEY-" out of it.
func put(values map[string]string, said string) map[string]string {
	if key, is := strings.CutSuffix(said, "-"); is && !strings.Contains(said, "=") {
		delete(values, key)
		return values
	}
	if values == nil {
		values = map[string]string{}
	}
	key, value, _ := strings.Cut(said, "=")
	values[key] = value
	return values
}

func doLabel(ctx context.Context, r *run, s *Step) error {
	return r.alterNodes(ctx, s.Args["NODES"], func(n *corev1.Node) { n.Labels = put(n.Labels, s.Args["LABEL"]) })
}

func doTaint(ctx context.Context, r *run, s *Step) error {
	said, gone := strings.CutSuffix(s.Args["TAINT"], "-")
	rest, effect, _ := strings.Cut(said, ":")
	key, value, _ := strings.Cut(rest, "=")
	return r.alterNodes(ctx, s.Args["NODES"], func(n *corev1.Node) {
		n.Spec.Taints = slices.DeleteFunc(n.Spec.Taints, func(t corev1.Taint) bool { return t.Key == key })
		if !gone {
			n.Spec.Taints = append(n.Spec.Taints, corev1.Taint{Key: key, Value: value, Effect: corev1.TaintEffect(effect)})
		}
	})
}

func doAnnotate(ctx context.Context, r *run, s *Step) error {
	meta := metav1.ObjectMeta{Name: s.Args["NAME"]}
	var object client.Object = &corev1.Node{ObjectMeta: meta}
	switch s.Args["policy|state|node"] {
	case "policy":
		object = &v1.NodeNetworkConfigurationPolicy{ObjectMeta: meta}
	case "state":
		object = &v1.NodeNetworkState{ObjectMeta: meta}
	}
	return change(ctx, r, object, func(o client.Object) { o.SetAnnotations(put(o.GetAnnotations(), s.Args["LABEL"])) })
}

// doReady has the kubelet say it.
func doReady(ready bool) doing {
	return func(ctx context.Context, r *run, s *Step) error {
		return r.each(s.Args["NODES"], func(node string) error { return r.Ready(ctx, node, ready) })
	}
}

func (r *run) alterState(ctx context.Context, node string, alter func(*v1.NodeNetworkState)) error {
	return change(ctx, r, &v1.NodeNetworkState{ObjectMeta: metav1.ObjectMeta{Name: node}}, alter)
}

func doManage(managed bool) doing {
	return func(ctx context.Context, r *run, s *Step) error {
		return r.each(s.Args["NODES"], func(node string) error {
			return r.alterState(ctx, node, func(n *v1.NodeNetworkState) { n.Spec.Managed = &managed })
		})
	}
}

func doDesire(ctx context.Context, r *run, s *Step) error {
	raw, err := yaml.YAMLToJSON([]byte(r.scenario.Files[s.Args["FILE"]]))
	if err != nil {
		return fmt.Errorf("%s: %w", s.Args["FILE"], err)
	}
	return r.alterState(ctx, s.Args["NODE"], func(n *v1.NodeNetworkState) { n.Spec.DesiredState = v1.NewState(raw) })
}

func doConfirm(ctx context.Context, r *run, s *Step) error {
	meta := metav1.ObjectMeta{Name: s.Args["NAME"]}
	var object client.Object = &v1.NodeNetworkState{ObjectMeta: meta}
	if s.Args["policy|state"] == "policy" {
		object = &v1.NodeNetworkConfigurationPolicy{ObjectMeta: meta}
	}
	return change(ctx, r, object, func(o client.Object) {
		o.SetAnnotations(put(o.GetAnnotations(), fmt.Sprintf("%s=%d", v1.ConfirmAnnotation, o.GetGeneration())))
	})
}

func doPin(ctx context.Context, r *run, s *Step) error {
	var policy v1.NodeNetworkConfigurationPolicy
	if err := r.Client().Get(ctx, client.ObjectKey{Name: s.Args["NAME"]}, &policy); err != nil {
		return fmt.Errorf("reading the policy: %w", err)
	}
	if len(policy.Status.Plans) == 0 {
		return errors.New("the policy has no plans to pin")
	}
	return change(ctx, r, &policy, func(p *v1.NodeNetworkConfigurationPolicy) {
		p.Spec.Mode, p.Spec.PlanHashes = "", nil
		for _, plan := range policy.Status.Plans {
			p.Spec.PlanHashes = append(p.Spec.PlanHashes, plan.Hash)
		}
	})
}
