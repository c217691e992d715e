package install

import (
	"fmt"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"

	v1 "github.com/nmstate/kubernetes-nmstate/api/v1"
)

const (
	metricsPort = "metrics"
	// allowCommands is a flag of both programs.
	allowCommands = "allow-commands"
	// Ports on which the pods answer kubelet.
	handlerHealth, controllersHealth = 9680, 8081
)

// configure changes the pod of a workload.
func configure(object *unstructured.Unstructured, change func(*corev1.PodSpec) error) error {
	path := []string{"spec", "template", "spec"}
	fields, _, err := unstructured.NestedMap(object.Object, path...)
	if err != nil {
		return fmt.Errorf("reading the pod of %s %s: %w", object.GetKind(), object.GetName(), err)
	}
	pod := &corev1.PodSpec{}
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(fields, pod); err != nil {
		return fmt.Errorf("reading the pod of %s %s: %w", object.GetKind(), object.GetName(), err)
	}
	if err := change(pod); err != nil {
		return err
	}
	if fields, err = runtime.DefaultUnstructuredConverter.ToUnstructured(pod); err != nil {
		return fmt.Errorf("writing the pod of %s %s: %w", object.GetKind(), object.GetName(), err)
	}
	return unstructured.SetNestedMap(object.Object, fields, path...)
}

func handlerPod(pod *corev1.PodSpec, settings Settings, spec v1.NMStateSpec) error {
	place(pod, spec.Affinity, spec.NodeSelector, spec.Tolerations)
	pull(pod, settings.Images.Handler, settings.Images)
	container := &pod.Containers[0]
	if spec.ProbeConfiguration != nil && spec.ProbeConfiguration.DNS.Host != "" {
		setFlag(container, "dns-probe-host", spec.ProbeConfiguration.DNS.Host)
	}
	if settings.Commands {
		setFlag(container, allowCommands, "true")
		reachScripts(pod)
	}
	return observe(container, spec, handlerHealth)
}

func controllersPod(pod *corev1.PodSpec, settings Settings, spec v1.NMStateSpec) error {
	// Who says where the controllers run says so instead of our own demand for the
	// control plane; one beside the other could leave no node.
	if spec.InfraAffinity == nil && spec.InfraNodeSelector != nil && pod.Affinity != nil {
		pod.Affinity.NodeAffinity = nil
	}
	place(pod, spec.InfraAffinity, spec.InfraNodeSelector, spec.InfraTolerations)
	pull(pod, settings.Images.Controllers, settings.Images)
	container := &pod.Containers[0]
	setFlag(container, "answer-nmstates", "false")
	if settings.Secrets {
		setFlag(container, "secrets-namespace", "$(NAMESPACE)")
	}
	if settings.Commands {
		setFlag(container, allowCommands, "true")
	}
	return observe(container, spec, controllersHealth)
}

// reachScripts gives the handler the folder of the scripts that NetworkManager runs.
func reachScripts(pod *corev1.PodSpec) {
	const name, folder = "scripts", "/etc/NetworkManager/dispatcher.d"
	create := corev1.HostPathDirectoryOrCreate
	pod.Volumes = append(pod.Volumes, corev1.Volume{
		Name: name, VolumeSource: corev1.VolumeSource{HostPath: &corev1.HostPathVolumeSource{Path: folder, Type: &create}},
	})
	mounts := &pod.Containers[0].VolumeMounts
	*mounts = append(*mounts, corev1.VolumeMount{Name: name, MountPath: folder})
}

// place replaces the affinity and the tolerations, and adds to the labels that are
// demanded of a node: every node that the pods can run on is a Linux one.
func place(pod *corev1.PodSpec, affinity *corev1.Affinity, selector map[string]string, tolerations []corev1.Toleration) {
	if affinity != nil {
		pod.Affinity = affinity.DeepCopy()
	}
	for key, value := range selector {
		if pod.NodeSelector == nil {
			pod.NodeSelector = map[string]string{}
		}
		pod.NodeSelector[key] = value
	}
	if tolerations != nil {
		pod.Tolerations = tolerations
	}
}

func pull(pod *corev1.PodSpec, image string, images Images) {
	pod.Containers[0].Image = image
	pod.ImagePullSecrets = images.PullSecrets
	if images.PullPolicy != "" {
		pod.Containers[0].ImagePullPolicy = images.PullPolicy
	}
}

// observe sets the level of the log and where metrics are served.
func observe(container *corev1.Container, spec v1.NMStateSpec, health int32) error {
	if spec.LogLevel != "" {
		setFlag(container, "log-level", spec.LogLevel)
	}
	if spec.MetricsConfiguration == nil || spec.MetricsConfiguration.BindAddress == "" {
		return nil
	}
	address := spec.MetricsConfiguration.BindAddress
	setFlag(container, "metrics-bind-address", address)
	var ports []corev1.ContainerPort
	for _, port := range container.Ports {
		if port.Name != metricsPort {
			ports = append(ports, port)
		}
	}
	if address != "0" {
		port, err := portOf(address)
		if err != nil {
			return err
		}
		if port == health {
			return fmt.Errorf("spec.metricsConfiguration.bindAddress %q: health is asked for on port %d: take another one", address, health)
		}
		ports = append(ports, corev1.ContainerPort{Name: metricsPort, ContainerPort: port, Protocol: corev1.ProtocolTCP})
	}
	container.Ports = ports
	return nil
}

func portOf(address string) (int32, error) {
	text := address[strings.LastIndex(address, ":")+1:]
	port, err := strconv.ParseUint(text, 10, 16)
	if err != nil || port == 0 || text == address {
		return 0, fmt.Errorf(`spec.metricsConfiguration.bindAddress %q: want an address and a port, such as ":8443" or "127.0.0.1:8443", or "0" for no metrics`, address)
	}
	return int32(port), nil //nolint:gosec // It has 16 bits.
}

// setFlag replaces a flag of the program, or adds it.
func setFlag(container *corev1.Container, name, value string) {
	flag := "--" + name + "=" + value
	for i, arg := range container.Args {
		if strings.HasPrefix(arg, "--"+name+"=") {
			container.Args[i] = flag
			return
		}
	}
	container.Args = append(container.Args, flag)
}
