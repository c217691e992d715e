package install

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/nmstate/kubernetes-nmstate/e2e/controlplane"
	"github.com/nmstate/kubernetes-nmstate/e2e/controlplane/controlplanetest"
)

const (
	deploy      = "../../deploy"
	distributed = deploy + "/overlays/distributed"
	centralized = deploy + "/overlays/centralized"
	// elsewhere is an administrator's own overlay, with another namespace and other names.
	elsewhere = "testdata/elsewhere"
)

func build(t testing.TB, folder string) []*unstructured.Unstructured {
	t.Helper()
	objects, err := Build(folder)
	if err != nil {
		t.Fatal(err)
	}
	return objects
}

func id(o client.Object) string {
	return strings.TrimSpace(o.GetObjectKind().GroupVersionKind().Kind + " " + o.GetNamespace() + "/" + o.GetName())
}

func TestInstallingPutsEverythingThereAndUninstallingTakesItAway(t *testing.T) {
	plane := controlplanetest.Start(t, os.Getenv, controlplane.Options{})
	api := controlplanetest.Client(t, plane, client.Options{})
	installed := map[string][]*unstructured.Unstructured{}
	for _, folder := range []string{deploy, centralized, distributed} { // There, and back again.
		installed[folder] = build(t, folder)
		if err := Apply(t.Context(), api, installed[folder]); err != nil {
			t.Fatalf("%s: %v", folder, err)
		}
		for _, object := range installed[folder] {
			there := object.DeepCopy()
			if err := api.Get(t.Context(), client.ObjectKeyFromObject(object), there); err != nil {
				t.Errorf("%s: %v", folder, err)
			}
		}
	}
	mustAll(t, api, installed[deploy], "is there", func(err error) bool { return err == nil })
	mustBeListed(t, api, installed[deploy])
	if err := Remove(t.Context(), api, installed[deploy]); err != nil {
		t.Fatal(err)
	}
	var own []*unstructured.Unstructured
	for _, object := range installed[deploy] {
		if object.GetNamespace() == "" && object.GetKind() != "Namespace" {
			own = append(own, object) // Those of the namespace end with it, which is not the API server's doing alone.
		}
	}
	mustAll(t, api, own, "is gone", apierrors.IsNotFound)
}

func mustAll(t *testing.T, api client.Client, objects []*unstructured.Unstructured, what string, is func(error) bool) {
	t.Helper()
	controlplanetest.Eventually(t, func(ctx context.Context) error {
		var not []error
		for _, object := range objects {
			if err := api.Get(ctx, client.ObjectKeyFromObject(object), object.DeepCopy()); !is(err) {
				not = append(not, fmt.Errorf("%s: not yet that it %s: %w", id(object), what, err))
			}
		}
		return errors.Join(not...)
	})
}

// mustBeListed waits until the API server lists the objects of each definition. One
// that it is told to delete before is deleted minutes later on a busy machine: the
// storage is not there yet, and its finalizer tries again ever more seldom.
func mustBeListed(t *testing.T, api client.Client, objects []*unstructured.Unstructured) {
	t.Helper()
	for _, object := range objects {
		if object.GetKind() != "CustomResourceDefinition" {
			continue
		}
		group, _, _ := unstructured.NestedString(object.Object, "spec", "group")
		kind, _, _ := unstructured.NestedString(object.Object, "spec", "names", "kind")
		versions, _, _ := unstructured.NestedSlice(object.Object, "spec", "versions")
		for _, version := range versions {
			name, _, _ := unstructured.NestedString(version.(map[string]any), "name")
			list := &unstructured.UnstructuredList{}
			list.SetGroupVersionKind(schema.GroupVersionKind{Group: group, Version: name, Kind: kind + "List"})
			controlplanetest.Eventually(t, func(ctx context.Context) error { return api.List(ctx, list) })
		}
	}
}

func TestTheModesAreTheSameObjects(t *testing.T) {
	ids := func(folder string) (all []string) {
		for _, object := range build(t, folder) {
			all = append(all, id(object))
		}
		slices.Sort(all)
		return all
	}
	if !slices.Equal(ids(deploy), ids(distributed)) || !slices.Equal(ids(deploy), ids(centralized)) {
		t.Errorf("deploy has\n%v\ndistributed\n%v\ncentralized\n%v", ids(deploy), ids(distributed), ids(centralized))
	}
}

// find decodes the object of a kind that an overlay has.
func find[T any](t *testing.T, folder, kind string) T {
	t.Helper()
	var found T
	for _, object := range build(t, folder) {
		if object.GetKind() != kind {
			continue
		}
		raw, err := json.Marshal(object)
		if err == nil {
			err = json.Unmarshal(raw, &found)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	return found
}

func TestTheControllersRunOnTheControlPlaneUnlessAskedOtherwise(t *testing.T) {
	for folder, keys := range map[string][]string{
		deploy: {"node-role.kubernetes.io/control-plane"}, elsewhere: {"node-role.kubernetes.io/control-plane"}, "testdata/any-node": nil,
	} {
		pod := find[appsv1.Deployment](t, folder, "Deployment").Spec.Template.Spec
		var demanded []string
		if on := pod.Affinity.NodeAffinity; on != nil {
			for _, term := range on.RequiredDuringSchedulingIgnoredDuringExecution.NodeSelectorTerms {
				demanded = append(demanded, term.MatchExpressions[0].Key)
			}
		}
		if !slices.Equal(demanded, keys) {
			t.Errorf("%s: its controllers demand the labels %v of a node, want %v", folder, demanded, keys)
		}
		for _, flag := range []string{"--leader-election-namespace", "--handler-namespace"} {
			if !slices.Contains(pod.Containers[0].Args, flag+"=$(NAMESPACE)") || pod.Containers[0].Env[0].ValueFrom.FieldRef.FieldPath != "metadata.namespace" {
				t.Errorf("%s: %s of the controllers is not the namespace they are in", folder, flag)
			}
		}
		if labels := find[appsv1.DaemonSet](t, folder, "DaemonSet").Spec.Template.Labels; labels["app.kubernetes.io/name"] != "nmstate-handler" {
			t.Errorf("%s: the controllers do not find the handlers' pods by their labels %v", folder, labels)
		}
	}
}

func TestWhatTheHandlerMayDoOnItsHost(t *testing.T) {
	daemon := find[appsv1.DaemonSet](t, deploy, "DaemonSet")
	pod := daemon.Spec.Template.Spec
	var mounted []string
	for _, volume := range pod.Volumes {
		if volume.HostPath != nil {
			mounted = append(mounted, volume.HostPath.Path)
		}
	}
	want := []string{
		"/run/dbus", "/var/lib/kubernetes-nmstate",
		"/etc/NetworkManager/system-connections", "/run/NetworkManager", "/var/lib/NetworkManager", "/run/openvswitch",
	}
	if !slices.Equal(mounted, want) {
		t.Errorf("host folders %v, want %v", mounted, want)
	}
	security := pod.Containers[0].SecurityContext
	if security.Privileged != nil || *security.AllowPrivilegeEscalation || !*security.ReadOnlyRootFilesystem ||
		!slices.Equal(security.Capabilities.Drop, []corev1.Capability{"ALL"}) ||
		!slices.Equal(security.Capabilities.Add, []corev1.Capability{"NET_ADMIN", "NET_RAW"}) {
		t.Errorf("security context %+v", security)
	}
	if pod.HostPID || pod.HostIPC || !pod.HostNetwork {
		t.Error("want the host's network and nothing else of its namespaces")
	}
	for _, probe := range []*corev1.Probe{pod.Containers[0].LivenessProbe, pod.Containers[0].ReadinessProbe} {
		if probe.HTTPGet.Host != "127.0.0.1" {
			t.Errorf("probe over %q: a trial that takes the address away would kill its own handler", probe.HTTPGet.Host)
		}
	}
}

func TestTheOlderProjectsLabelsFindThePods(t *testing.T) {
	for _, folder := range []string{deploy, centralized} {
		handler := find[appsv1.DaemonSet](t, folder, "DaemonSet").Spec.Template
		controllers := find[appsv1.Deployment](t, folder, "Deployment").Spec.Template
		monitor := find[corev1.Service](t, folder, "Service")
		for sentence, c := range map[string]struct{ labels, selector map[string]string }{
			"scripts find the handlers": {handler.Labels, map[string]string{
				"app": "kubernetes-nmstate", "component": "kubernetes-nmstate-handler", "name": "nmstate-handler",
			}},
			"scripts find what tells of policies": {controllers.Labels, map[string]string{
				"app": "kubernetes-nmstate", "component": "kubernetes-nmstate-metrics", "name": "nmstate-metrics",
			}},
			"the Service has the handlers' metrics":    {handler.Labels, monitor.Spec.Selector},
			"the Service has the controllers' metrics": {controllers.Labels, monitor.Spec.Selector},
		} {
			if len(c.selector) == 0 || !labels.SelectorFromSet(c.selector).Matches(labels.Set(c.labels)) {
				t.Errorf("%s: %s: pods are labelled %v, looked for is %v", folder, sentence, c.labels, c.selector)
			}
		}
		for _, pod := range []corev1.PodTemplateSpec{handler, controllers} {
			if !slices.ContainsFunc(pod.Spec.Containers[0].Ports, func(p corev1.ContainerPort) bool {
				return p.Name == monitor.Spec.Ports[0].TargetPort.StrVal
			}) {
				t.Errorf("%s: %s has no port %s", folder, pod.Labels["name"], monitor.Spec.Ports[0].TargetPort.StrVal)
			}
		}
	}
}

func TestAHandlerHasMoreTimeToEndThanItTakes(t *testing.T) {
	pod := find[appsv1.DaemonSet](t, deploy, "DaemonSet").Spec.Template.Spec
	for _, argument := range pod.Containers[0].Args {
		if text, is := strings.CutPrefix(argument, "--termination-grace="); is {
			grace, err := time.ParseDuration(text)
			if err != nil {
				t.Fatal(err)
			}
			if killed := time.Duration(*pod.TerminationGracePeriodSeconds) * time.Second; killed < grace+20*time.Second {
				t.Errorf("a handler takes up to %s to end and is killed after %s", grace, killed)
			}
			return
		}
	}
	t.Error("no --termination-grace")
}

func TestBothProgramsRunInTheModeOfTheOverlay(t *testing.T) {
	for _, c := range []struct {
		folder string
		want   bool
	}{{deploy, false}, {centralized, true}} {
		handler := find[appsv1.DaemonSet](t, c.folder, "DaemonSet").Spec.Template.Spec.Containers[0].Args
		controllers := find[appsv1.Deployment](t, c.folder, "Deployment").Spec.Template.Spec.Containers[0].Args
		for _, arguments := range [][]string{handler, controllers} {
			if got := slices.Contains(arguments, "--mode=centralized"); got != c.want {
				t.Errorf("%s: %v: centralized %v, want %v", c.folder, arguments, got, c.want)
			}
		}
	}
}
