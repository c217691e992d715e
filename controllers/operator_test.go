package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/clientcmd"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "github.com/nmstate/kubernetes-nmstate/api/v1"
	"github.com/nmstate/kubernetes-nmstate/controllers/install"
	"github.com/nmstate/kubernetes-nmstate/e2e/controlplane"
	kustomize "github.com/nmstate/kubernetes-nmstate/e2e/install"
)

const (
	operatorAccount = "system:serviceaccount:nmstate:nmstate-operator"
	deployed        = "Available=True SuccessfullyDeployed"
	deploying       = "Progressing=True Deploying"
)

// installation is an API server with the operator on it, which runs as a process with
// the rights of deploy/operator. Nothing runs pods: the test says how these fare.
type installation struct {
	*cluster
	objects []*unstructured.Unstructured
}

func TestTheOperatorOnARealAPIServer(t *testing.T) {
	i := newInstallation(t)
	for _, test := range []struct {
		sentence string
		run      func(i *installation)
	}{
		{"an NMState installs everything, and is Available when the pods are ready", operatorInstalls},
		{"a second one is told that it is ignored", operatorIgnores},
		{"while the handler rolls out over the nodes nothing is applied", operatorRollsOut},
		{"what somebody deletes or changes comes back", operatorMends},
		{"a change of the NMState is a change of the pods, and a setting that goes is gone", operatorChanges},
		{"what cannot be had changes nothing and is named", operatorRefuses},
		{"the operator can do nothing else", operatorRights},
		{"deleting the NMState removes all of it, and no policy, state or kind", operatorRemoves},
	} {
		if !t.Run(test.sentence, func(t *testing.T) {
			inner := *i.cluster
			inner.T = t
			test.run(&installation{cluster: &inner, objects: i.objects})
		}) {
			return
		}
	}
	requests, err := controlplane.ReadRequests(i.audit, controlplane.Filter{UserAgent: "nmstate-operator/"})
	if err != nil {
		t.Fatal(err)
	}
	for _, request := range requests {
		if request.Code == 403 {
			t.Errorf("forbidden: %s %s/%s %s", request.Verb, request.Group, request.Resource, request.Name)
		}
	}
}

func newInstallation(t *testing.T) *installation {
	t.Helper()
	c, _ := newPlane(t)
	objects, err := kustomize.Build("../deploy/operator")
	if err == nil {
		err = kustomize.Apply(c.ctx, c.api, objects)
	}
	if err != nil {
		t.Fatal(err)
	}
	admin := c.kubeconfig
	c.kubeconfig = impersonating(t, admin, operatorAccount)
	c.start("operator", "--handler-image", "r/handler:1", "--controllers-image", "r/controllers:1", "--log-level", "debug")
	i := &installation{cluster: c}
	i.objects, err = install.Render(install.Settings{Namespace: "nmstate"}, &v1.NMState{})
	if err != nil {
		t.Fatal(err)
	}
	return i
}

// says waits until an NMState has the condition.
func (i *installation) says(name, want string) (message string) {
	i.Helper()
	i.poll("NMState "+name+": "+want, func() (bool, string) {
		object := &v1.NMState{}
		if err := i.api.Get(i.ctx, client.ObjectKey{Name: name}, object); err != nil {
			return false, err.Error()
		}
		var all []string
		for _, c := range object.Status.Conditions {
			one := fmt.Sprintf("%s=%s %s", c.Type, c.Status, c.Reason)
			if all = append(all, one); one == want && c.ObservedGeneration == object.Generation {
				message = c.Message
			}
		}
		return message != "", strings.Join(all, ", ")
	})
	return message
}

func (i *installation) workloads() (*appsv1.DaemonSet, *appsv1.Deployment) {
	i.Helper()
	daemons, deployment := &appsv1.DaemonSet{}, &appsv1.Deployment{}
	if err := errors.Join(i.api.Get(i.ctx, client.ObjectKey{Namespace: "nmstate", Name: "nmstate-handler"}, daemons),
		i.api.Get(i.ctx, client.ObjectKey{Namespace: "nmstate", Name: "nmstate-controllers"}, deployment)); err != nil {
		i.Fatal(err)
	}
	return daemons, deployment
}

// fare says how the pods fare: ready is on how many of three nodes.
func (i *installation) fare(ready int32) {
	i.Helper()
	daemons, deployment := i.workloads()
	daemons.Status = appsv1.DaemonSetStatus{ObservedGeneration: daemons.Generation, DesiredNumberScheduled: 3, UpdatedNumberScheduled: 3, NumberAvailable: ready}
	deployment.Status = appsv1.DeploymentStatus{
		ObservedGeneration: deployment.Generation, Replicas: 2, UpdatedReplicas: 2, ReadyReplicas: 2, AvailableReplicas: 2,
		Conditions: []appsv1.DeploymentCondition{{Type: appsv1.DeploymentAvailable, Status: corev1.ConditionTrue}},
	}
	if err := errors.Join(i.api.Status().Update(i.ctx, daemons), i.api.Status().Update(i.ctx, deployment)); err != nil {
		i.Fatal(err)
	}
}

func (i *installation) applies() int {
	i.Helper()
	requests, err := controlplane.ReadRequests(i.audit, controlplane.Filter{UserAgent: "nmstate-operator/", Verbs: []string{"patch"}})
	if err != nil {
		i.Fatal(err)
	}
	requests = slices.DeleteFunc(requests, func(r controlplane.Request) bool { return r.Group == v1.GroupVersion.Group || r.Resource == "events" })
	return len(requests)
}

func operatorInstalls(i *installation) {
	i.create(&v1.NodeNetworkConfigurationPolicy{ObjectMeta: metav1.ObjectMeta{Name: "kept"}})
	i.addNode("a", nil)
	i.create(&v1.NodeNetworkState{ObjectMeta: metav1.ObjectMeta{Name: "a"}})
	i.create(&v1.NMState{ObjectMeta: metav1.ObjectMeta{Name: "nmstate"}, Spec: v1.NMStateSpec{LogLevel: "debug"}})
	if message := i.says("nmstate", deploying); !strings.Contains(message, "the DaemonSet nmstate-handler is being taken up") {
		i.Errorf("it waits for: %s", message)
	}
	for _, object := range i.objects {
		if err := i.api.Get(i.ctx, client.ObjectKeyFromObject(object), object.DeepCopy()); err != nil {
			i.Error(err)
		}
	}
	i.fare(2)
	i.poll("it counts the nodes", func() (bool, string) {
		message := i.says("nmstate", deploying)
		return message == "the handler is ready on 2 of 3 nodes", message
	})
	i.fare(3)
	i.says("nmstate", deployed)
}

func operatorIgnores(i *installation) {
	i.create(&v1.NMState{ObjectMeta: metav1.ObjectMeta{Name: "another"}, Spec: v1.NMStateSpec{LogLevel: "info"}})
	if message := i.says("another", "Degraded=True Ignored"); !strings.Contains(message, "NMState nmstate, which is older") {
		i.Errorf("it is told: %s", message)
	}
	if daemons, _ := i.workloads(); !slices.Contains(daemons.Spec.Template.Spec.Containers[0].Args, "--log-level=debug") {
		i.Error("it had an effect")
	}
	i.delete(&v1.NMState{ObjectMeta: metav1.ObjectMeta{Name: "another"}})
}

func operatorRollsOut(i *installation) {
	before := i.applies()
	for ready := range int32(3) {
		i.fare(ready)
		i.poll("it follows", func() (bool, string) {
			message := i.says("nmstate", deploying)
			return message == fmt.Sprintf("the handler is ready on %d of 3 nodes", ready), message
		})
	}
	i.fare(3)
	i.says("nmstate", deployed)
	if more := i.applies() - before; more > 0 {
		i.Errorf("%d objects were applied again", more)
	}
}

func operatorMends(i *installation) {
	i.delete(&rbacv1.ClusterRole{ObjectMeta: metav1.ObjectMeta{Name: "nmstate-handler"}})
	daemons, _ := i.workloads()
	scaled := client.RawPatch(types.MergePatchType, []byte(`{"spec":{"template":{"spec":{"hostNetwork":false}}}}`))
	if err := i.api.Patch(i.ctx, daemons, scaled); err != nil {
		i.Fatal(err)
	}
	i.poll("both are back", func() (bool, string) {
		daemons, _ := i.workloads()
		err := i.api.Get(i.ctx, client.ObjectKey{Name: "nmstate-handler"}, &rbacv1.ClusterRole{})
		return err == nil && daemons.Spec.Template.Spec.HostNetwork, fmt.Sprint(err)
	})
}

func operatorChanges(i *installation) {
	edit := func(patch string) {
		i.Helper()
		object := &v1.NMState{ObjectMeta: metav1.ObjectMeta{Name: "nmstate"}}
		if err := i.api.Patch(i.ctx, object, client.RawPatch(types.MergePatchType, []byte(patch))); err != nil {
			i.Fatal(err)
		}
		i.says("nmstate", deploying)
	}
	edit(`{"spec":{"nodeSelector":{"net":"yes"},"infraNodeSelector":{"infra":"yes"},"metricsConfiguration":{"bindAddress":":8444"},"logLevel":"info"}}`)
	daemons, controllers := i.workloads()
	if pod := daemons.Spec.Template.Spec; pod.NodeSelector["net"] != "yes" || pod.Containers[0].Ports[0].ContainerPort != 8444 || slices.Contains(pod.Containers[0].Args, "--log-level=debug") {
		i.Errorf("handler: %v %v %v", pod.NodeSelector, pod.Containers[0].Ports, pod.Containers[0].Args)
	}
	if pod := controllers.Spec.Template.Spec; pod.NodeSelector["infra"] != "yes" || pod.Affinity.NodeAffinity != nil || pod.Affinity.PodAntiAffinity == nil {
		i.Errorf("controllers: %v %v", pod.NodeSelector, pod.Affinity)
	}
	edit(`{"spec":{"nodeSelector":null,"infraNodeSelector":null,"metricsConfiguration":null}}`)
	daemons, controllers = i.workloads()
	if pod := daemons.Spec.Template.Spec; pod.NodeSelector["net"] != "" || pod.Containers[0].Ports[0].ContainerPort != 9681 {
		i.Errorf("handler: %v %v", pod.NodeSelector, pod.Containers[0].Ports)
	}
	if pod := controllers.Spec.Template.Spec; pod.NodeSelector["infra"] != "" || pod.Affinity.NodeAffinity == nil {
		i.Errorf("controllers: %v %v", pod.NodeSelector, pod.Affinity)
	}
}

func operatorRefuses(i *installation) {
	before, _ := i.workloads()
	object := &v1.NMState{ObjectMeta: metav1.ObjectMeta{Name: "nmstate"}}
	if err := i.api.Patch(i.ctx, object, client.RawPatch(types.MergePatchType, []byte(`{"spec":{"logLevel":"debug","metricsConfiguration":{"bindAddress":"here"}}}`))); err != nil {
		i.Fatal(err)
	}
	if message := i.says("nmstate", "Degraded=True InvalidConfiguration"); !strings.Contains(message, "spec.metricsConfiguration.bindAddress") {
		i.Errorf("it is told: %s", message)
	}
	if after, _ := i.workloads(); after.Generation != before.Generation {
		i.Error("the DaemonSet was changed")
	}
}

func operatorRights(i *installation) {
	config, err := clientcmd.BuildConfigFromFlags("", i.kubeconfig)
	if err != nil {
		i.Fatal(err)
	}
	operator, err := client.New(config, client.Options{Scheme: i.api.Scheme()})
	if err != nil {
		i.Fatal(err)
	}
	role := func(name string, rule rbacv1.PolicyRule) func(context.Context) error {
		return func(ctx context.Context) error {
			object := &unstructured.Unstructured{Object: map[string]any{
				"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "ClusterRole", "metadata": map[string]any{"name": name},
				"rules": []any{map[string]any{"apiGroups": []any{rule.APIGroups[0]}, "resources": []any{rule.Resources[0]}, "verbs": []any{rule.Verbs[0]}}},
			}}
			return operator.Apply(ctx, client.ApplyConfigurationFromUnstructured(object), client.FieldOwner("thief"), client.ForceOwnership)
		}
	}
	read := rbacv1.PolicyRule{APIGroups: []string{""}, Resources: []string{"nodes"}, Verbs: []string{"get"}}
	secrets := rbacv1.PolicyRule{APIGroups: []string{""}, Resources: []string{"secrets"}, Verbs: []string{"get"}}
	for sentence, attempt := range map[string]func(context.Context) error{
		"a role of another name":        role("of-mine", read),
		"a right that it does not have": role("nmstate-handler", secrets),
		"to create a role": func(ctx context.Context) error {
			return operator.Create(ctx, &rbacv1.ClusterRole{ObjectMeta: metav1.ObjectMeta{Name: "nmstate-handler"}})
		},
		"to read Secrets": func(ctx context.Context) error { return operator.List(ctx, &corev1.SecretList{}) },
		"to delete a DaemonSet of another name": func(ctx context.Context) error {
			return operator.Delete(ctx, &appsv1.DaemonSet{ObjectMeta: metav1.ObjectMeta{Namespace: "nmstate", Name: "other"}})
		},
		"to delete a DaemonSet in another place": func(ctx context.Context) error {
			return operator.Delete(ctx, &appsv1.DaemonSet{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "nmstate-handler"}})
		},
		"to write a policy": func(ctx context.Context) error {
			return operator.Create(ctx, &v1.NodeNetworkConfigurationPolicy{ObjectMeta: metav1.ObjectMeta{Name: "p"}})
		},
		"to delete a NodeNetworkState": func(ctx context.Context) error {
			return operator.Delete(ctx, &v1.NodeNetworkState{ObjectMeta: metav1.ObjectMeta{Name: "a"}})
		},
	} {
		if err := attempt(i.ctx); !apierrors.IsForbidden(err) {
			i.Errorf("%s: want it forbidden, got %v", sentence, err)
		}
	}
}

func operatorRemoves(i *installation) {
	i.delete(&v1.NMState{ObjectMeta: metav1.ObjectMeta{Name: "nmstate"}})
	i.poll("everything is gone", func() (bool, string) {
		var there []string
		for _, object := range i.objects {
			if err := i.api.Get(i.ctx, client.ObjectKeyFromObject(object), object.DeepCopy()); !apierrors.IsNotFound(err) {
				there = append(there, object.GetKind()+" "+object.GetName())
			}
		}
		return len(there) == 0, strings.Join(there, ", ")
	})
	if err := errors.Join(
		i.api.Get(i.ctx, client.ObjectKey{Name: "kept"}, &v1.NodeNetworkConfigurationPolicy{}), i.api.Get(i.ctx, client.ObjectKey{Name: "a"}, &v1.NodeNetworkState{}),
		i.api.Get(i.ctx, client.ObjectKey{Name: "nmstate"}, &corev1.Namespace{}), i.api.List(i.ctx, &v1.NMStateList{}),
	); err != nil {
		i.Error(err)
	}
}
