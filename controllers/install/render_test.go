package install

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"

	v1 "github.com/nmstate/kubernetes-nmstate/api/v1"
)

var settings = Settings{Namespace: "nmstate", Images: Images{Handler: "r/handler:1", Controllers: "r/controllers:1", PullPolicy: corev1.PullAlways}}

// pods renders an NMState with the spec and returns the pods of handler and controllers.
func pods(t *testing.T, s Settings, spec string) (handler, controllers corev1.PodSpec) {
	t.Helper()
	owner := &v1.NMState{ObjectMeta: metav1.ObjectMeta{Name: "nmstate", UID: "u"}}
	if err := yaml.UnmarshalStrict([]byte(spec), &owner.Spec); err != nil {
		t.Fatal(err)
	}
	objects, err := Render(s, owner)
	if err != nil {
		t.Fatal(err)
	}
	daemons, deployment := decode[appsv1.DaemonSet](t, objects, "DaemonSet"), decode[appsv1.Deployment](t, objects, "Deployment")
	return daemons[0].Spec.Template.Spec, deployment[0].Spec.Template.Spec
}

func decode[T any](t *testing.T, objects []*unstructured.Unstructured, kind string) (found []T) {
	t.Helper()
	for _, object := range objects {
		if object.GetKind() != kind {
			continue
		}
		var one T
		raw, err := json.Marshal(object)
		if err == nil {
			err = json.Unmarshal(raw, &one)
		}
		if err != nil {
			t.Fatal(err)
		}
		found = append(found, one)
	}
	return found
}

func TestWhatTheFieldsOfAnNMStateDo(t *testing.T) {
	type facts struct {
		handler, controllers []string
	}
	for sentence, c := range map[string]struct {
		spec string
		want facts
	}{
		"an empty one changes nothing but the images": {`{}`, facts{}},
		"nodeSelector keeps the handler on some nodes, of Linux as ever": {
			`{nodeSelector: {role: worker}}`, facts{handler: []string{"select kubernetes.io/os=linux,role=worker"}},
		},
		"affinity places the handler": {
			`{affinity: {nodeAffinity: {requiredDuringSchedulingIgnoredDuringExecution: {nodeSelectorTerms: [{matchExpressions: [{key: net, operator: Exists}]}]}}}}`,
			facts{handler: []string{"demand net"}},
		},
		"tolerations of the handler replace ours": {
			`{tolerations: [{key: special, operator: Exists}]}`, facts{handler: []string{"tolerate special"}},
		},
		"no tolerations at all are none": {`{tolerations: []}`, facts{handler: []string{"tolerate nothing"}}},
		"infraNodeSelector moves the controllers off the control plane": {
			`{infraNodeSelector: {node-role.kubernetes.io/infra: ""}}`,
			facts{controllers: []string{"demand nothing", "select kubernetes.io/os=linux,node-role.kubernetes.io/infra="}},
		},
		"infraAffinity replaces that of the controllers": {
			`{infraAffinity: {nodeAffinity: {requiredDuringSchedulingIgnoredDuringExecution: {nodeSelectorTerms: [{matchExpressions: [{key: infra, operator: Exists}]}]}}}}`,
			facts{controllers: []string{"demand infra"}},
		},
		"an empty infraAffinity lets the controllers run anywhere": {`{infraAffinity: {}}`, facts{controllers: []string{"demand nothing"}}},
		"infraTolerations are the controllers'": {
			`{infraTolerations: [{key: infra, operator: Exists}]}`, facts{controllers: []string{"tolerate infra"}},
		},
		"the host of the DNS probe is the handler's": {
			`{probeConfiguration: {dns: {host: example.com}}}`, facts{handler: []string{"flag --dns-probe-host=example.com"}},
		},
		"the log level is that of both": {
			`{logLevel: debug}`, facts{handler: []string{"flag --log-level=debug"}, controllers: []string{"flag --log-level=debug"}},
		},
		"metrics are served by both where it says": {
			`{metricsConfiguration: {bindAddress: "127.0.0.1:8444"}}`,
			facts{
				handler:     []string{"flag --metrics-bind-address=127.0.0.1:8444", "port metrics 8444"},
				controllers: []string{"flag --metrics-bind-address=127.0.0.1:8444", "port metrics 8444"},
			},
		},
		"metrics that are turned off have no port": {
			`{metricsConfiguration: {bindAddress: "0"}}`,
			facts{
				handler:     []string{"flag --metrics-bind-address=0", "no port metrics"},
				controllers: []string{"flag --metrics-bind-address=0", "no port metrics"},
			},
		},
		"certificates that there are not are accepted": {`{selfSignConfiguration: {caRotateInterval: 1h}}`, facts{}},
	} {
		t.Run(sentence, func(t *testing.T) {
			plainHandler, plainControllers := pods(t, settings, "{}")
			handler, controllers := pods(t, settings, c.spec)
			for _, one := range []struct {
				before, after corev1.PodSpec
				want          []string
			}{{plainHandler, handler, c.want.handler}, {plainControllers, controllers, c.want.controllers}} {
				was, is := tell(one.before), tell(one.after)
				changed := slices.DeleteFunc(is, func(fact string) bool { return slices.Contains(was, fact) })
				slices.Sort(one.want)
				if difference := cmp.Diff(one.want, changed, cmpopts.EquateEmpty()); difference != "" {
					t.Errorf("%s (-want +got):\n%s", one.after.Containers[0].Name, difference)
				}
			}
		})
	}
}

// tell is what these tests compare of a pod.
func tell(pod corev1.PodSpec) []string {
	container := pod.Containers[0]
	var facts []string
	for _, arg := range container.Args {
		facts = append(facts, "flag "+arg)
	}
	metrics := "no port metrics"
	for _, port := range container.Ports {
		if port.Name == "metrics" {
			metrics = fmt.Sprint("port metrics ", port.ContainerPort)
		}
	}
	var selected, tolerated, demanded []string
	for key, value := range pod.NodeSelector {
		selected = append(selected, key+"="+value)
	}
	for _, toleration := range pod.Tolerations {
		tolerated = append(tolerated, toleration.Key)
	}
	if pod.Affinity != nil && pod.Affinity.NodeAffinity != nil {
		for _, term := range pod.Affinity.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution.NodeSelectorTerms {
			demanded = append(demanded, term.MatchExpressions[0].Key)
		}
	}
	list := func(names []string) string {
		if slices.Sort(names); len(names) == 0 {
			return "nothing"
		}
		return strings.Join(names, ",")
	}
	facts = append(facts, metrics, "select "+list(selected), "tolerate "+list(tolerated), "demand "+list(demanded))
	slices.Sort(facts)
	return facts
}

func TestASettingThatCannotBeHadIsNamed(t *testing.T) {
	for address, want := range map[string]string{
		"8443":           `spec.metricsConfiguration.bindAddress "8443": want an address and a port`,
		":metrics":       `spec.metricsConfiguration.bindAddress ":metrics": want an address and a port`,
		":70000":         `spec.metricsConfiguration.bindAddress ":70000": want an address and a port`,
		":0":             `spec.metricsConfiguration.bindAddress ":0": want an address and a port`,
		"127.0.0.1:9680": `spec.metricsConfiguration.bindAddress "127.0.0.1:9680": health is asked for on port 9680: take another one`,
		":8081":          `spec.metricsConfiguration.bindAddress ":8081": health is asked for on port 8081: take another one`,
	} {
		owner := &v1.NMState{Spec: v1.NMStateSpec{MetricsConfiguration: &v1.MetricsConfiguration{BindAddress: address}}}
		if _, err := Render(settings, owner); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%s: want %s, got %v", address, want, err)
		}
	}
}

func TestEverythingIsOwnedLabelledAndInTheNamespace(t *testing.T) {
	for _, central := range []bool{false, true} {
		s := settings
		s.Namespace, s.Centralized = "elsewhere", central
		objects, err := Render(s, &v1.NMState{ObjectMeta: metav1.ObjectMeta{Name: "nmstate", UID: "u"}})
		if err != nil {
			t.Fatal(err)
		}
		for _, object := range objects {
			owners := object.GetOwnerReferences()
			if len(owners) != 1 || owners[0].UID != "u" || owners[0].Kind != "NMState" || object.GetLabels()[managedByLabel] != operatorName {
				t.Errorf("%s %s: owners %v, labels %v", object.GetKind(), object.GetName(), owners, object.GetLabels())
			}
			if namespace := object.GetNamespace(); namespace != "" && namespace != "elsewhere" {
				t.Errorf("%s %s is in the namespace %s", object.GetKind(), object.GetName(), namespace)
			}
			if kind := object.GetKind(); kind == "Namespace" || kind == "CustomResourceDefinition" {
				t.Errorf("%s %s would be deleted with the NMState", kind, object.GetName())
			}
		}
		for _, binding := range append(decode[rbacv1.RoleBinding](t, objects, "RoleBinding"), decode[rbacv1.RoleBinding](t, objects, "ClusterRoleBinding")...) {
			for _, subject := range binding.Subjects {
				if subject.Namespace != "elsewhere" {
					t.Errorf("%s binds an account of %s", binding.Name, subject.Namespace)
				}
			}
		}
	}
}

func TestThePodsAreThoseOfTheSettings(t *testing.T) {
	s := settings
	s.Centralized, s.Secrets, s.Commands, s.Images.PullSecrets = true, true, true, []corev1.LocalObjectReference{{Name: "registry"}}
	handler, controllers := pods(t, s, "{}")
	for image, pod := range map[string]corev1.PodSpec{"r/handler:1": handler, "r/controllers:1": controllers} {
		c := pod.Containers[0]
		if c.Image != image || c.ImagePullPolicy != corev1.PullAlways || !slices.Equal(pod.ImagePullSecrets, s.Images.PullSecrets) || !slices.Contains(c.Args, "--mode=centralized") {
			t.Errorf("image %s %s %v, arguments %v", c.Image, c.ImagePullPolicy, pod.ImagePullSecrets, c.Args)
		}
	}
	for _, flag := range []string{"--answer-nmstates=false", "--secrets-namespace=$(NAMESPACE)", "--allow-commands=true"} {
		if args := controllers.Containers[0].Args; !slices.Contains(args, flag) {
			t.Errorf("the controllers have no %s: %v", flag, args)
		}
	}
	const scripts = "/etc/NetworkManager/dispatcher.d"
	container, volume := handler.Containers[0], handler.Volumes[len(handler.Volumes)-1]
	mount := container.VolumeMounts[len(container.VolumeMounts)-1]
	if !slices.Contains(container.Args, "--allow-commands=true") || mount.MountPath != scripts || volume.HostPath == nil || volume.HostPath.Path != scripts || mount.Name != volume.Name {
		t.Errorf("the handler does not reach scripts: arguments %v, %v, %v", container.Args, mount, volume)
	}
}

func TestTheHandlersImageStandsBesideTheControllers(t *testing.T) {
	for image, want := range map[string]string{
		"localhost/kubernetes-nmstate/controllers:devel": "localhost/kubernetes-nmstate/handler:devel",
		"registry:5000/controllers":                      "registry:5000/handler",
		"registry:5000/net/controllers:1.2":              "registry:5000/net/handler:1.2",
		"controllers:1":                                  "handler:1",
	} {
		if got, err := HandlerImage(image); err != nil || got != want {
			t.Errorf("%s: want %s, got %s, %v", image, want, got, err)
		}
	}
	for _, image := range []string{"registry/net/nmstate-controllers:1", "registry/controllers@sha256:00", "registry/controllers:1@sha256:00"} {
		if got, err := HandlerImage(image); err == nil || !strings.Contains(err.Error(), "name that with --handler-image") {
			t.Errorf("%s: got %s, %v", image, got, err)
		}
	}
}
