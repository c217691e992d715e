package install

import (
	"bytes"
	_ "embed"
	"errors"
	"fmt"
	"io"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/yaml"

	v1 "github.com/nmstate/kubernetes-nmstate/api/v1"
)

//go:embed manifests/distributed.yaml
var distributed []byte

//go:embed manifests/centralized.yaml
var centralized []byte

// Names of the workloads, and of what everything that is installed is labelled with.
const (
	handlerName     = "nmstate-handler"
	controllersName = "nmstate-controllers"
	managedByLabel  = "app.kubernetes.io/managed-by"
	operatorName    = "nmstate-operator"
)

// Settings are what the operator installs with, whatever an NMState says.
type Settings struct {
	// Namespace of everything that has one.
	Namespace string
	// Centralized: the controllers do the policies of all nodes.
	Centralized bool
	// Secrets: policies may name Secrets of the namespace.
	Secrets bool
	// Commands: policies may have scripts run as root on the nodes.
	Commands bool
	Images   Images
}

// Images are where the pods' images come from.
type Images struct {
	Handler, Controllers string
	PullPolicy           corev1.PullPolicy
	PullSecrets          []corev1.LocalObjectReference
}

// Render returns the objects that an NMState asks for, in the order in which they
// are to be applied. It fails if a setting of the NMState cannot be had.
func Render(settings Settings, owner *v1.NMState) ([]*unstructured.Unstructured, error) {
	source := distributed
	if settings.Centralized {
		source = centralized
	}
	objects, err := parse(source)
	if err != nil {
		return nil, fmt.Errorf("reading the embedded manifests: %w", err)
	}
	for _, object := range objects {
		settle(object, settings.Namespace)
		own(object, owner)
		switch object.GetKind() + " " + object.GetName() {
		case "DaemonSet " + handlerName:
			err = configure(object, func(pod *corev1.PodSpec) error { return handlerPod(pod, settings, owner.Spec) })
		case "Deployment " + controllersName:
			err = configure(object, func(pod *corev1.PodSpec) error { return controllersPod(pod, settings, owner.Spec) })
		}
		if err != nil {
			return nil, err
		}
	}
	return objects, nil
}

func parse(source []byte) ([]*unstructured.Unstructured, error) {
	var objects []*unstructured.Unstructured
	decoder := yaml.NewYAMLOrJSONDecoder(bytes.NewReader(source), 4096)
	for {
		object := &unstructured.Unstructured{}
		err := decoder.Decode(object)
		if errors.Is(err, io.EOF) {
			return objects, nil
		}
		if err != nil {
			return nil, err
		}
		objects = append(objects, object)
	}
}

// settle moves an object, and whom a binding names, into the namespace.
func settle(object *unstructured.Unstructured, namespace string) {
	if object.GetNamespace() != "" {
		object.SetNamespace(namespace)
	}
	subjects, _, _ := unstructured.NestedSlice(object.Object, "subjects")
	for _, subject := range subjects {
		if fields, is := subject.(map[string]any); is && fields["namespace"] != nil {
			fields["namespace"] = namespace
		}
	}
	if len(subjects) > 0 {
		_ = unstructured.SetNestedSlice(object.Object, subjects, "subjects") // It was read from there.
	}
}

// own labels an object and gives it its owner.
func own(object *unstructured.Unstructured, owner *v1.NMState) {
	labels := object.GetLabels()
	if labels == nil {
		labels = map[string]string{}
	}
	labels[managedByLabel] = operatorName
	object.SetLabels(labels)
	controller := true
	object.SetOwnerReferences([]metav1.OwnerReference{{
		APIVersion: v1.GroupVersion.String(), Kind: "NMState", Name: owner.Name, UID: owner.UID, Controller: &controller,
	}})
}

// HandlerImage is the handler's image that stands beside the controllers' image in a
// registry: the same but for the last part of its name.
func HandlerImage(controllers string) (string, error) {
	before, tag, found := strings.Cut(controllers[strings.LastIndex(controllers, "/")+1:], ":")
	if before != "controllers" || strings.Contains(controllers, "@") {
		return "", fmt.Errorf("the operator's image %s does not tell the handler's: name that with --handler-image", controllers)
	}
	image := strings.TrimSuffix(controllers, controllers[strings.LastIndex(controllers, "/")+1:]) + "handler"
	if found {
		image += ":" + tag
	}
	return image, nil
}
