package install

import (
	"slices"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
)

// constraints are the fields of OpenShift's kind that our pods have to do with.
type constraints struct {
	AllowHostDirVolumePlugin, AllowHostNetwork, AllowHostPorts, AllowHostIPC, AllowHostPID bool
	AllowPrivilegedContainer, AllowPrivilegeEscalation, ReadOnlyRootFilesystem             bool
	AllowedCapabilities                                                                    []corev1.Capability
	Volumes, SeccompProfiles                                                               []string
	RunAsUser, SELinuxContext                                                              struct{ Type string }
}

// There is no OpenShift to test on: this compares what the handler's pod asks for with
// what it is let have.
func TestTheConstraintsAreWhatTheHandlersPodAsksFor(t *testing.T) {
	const folder = "testdata/openshift"
	allowed := find[constraints](t, folder, "SecurityContextConstraints")
	pod := find[appsv1.DaemonSet](t, folder, "DaemonSet").Spec.Template.Spec
	container := pod.Containers[0]
	hasPath := slices.ContainsFunc(pod.Volumes, func(v corev1.Volume) bool { return v.HostPath != nil })
	for what, same := range map[string]bool{
		"the host's network":            allowed.AllowHostNetwork == pod.HostNetwork,
		"a port of the host":            allowed.AllowHostPorts == (pod.HostNetwork && len(container.Ports) > 0),
		"folders of the host":           allowed.AllowHostDirVolumePlugin == hasPath,
		"the host's processes":          allowed.AllowHostPID == pod.HostPID && allowed.AllowHostIPC == pod.HostIPC,
		"privilege":                     allowed.AllowPrivilegedContainer == (container.SecurityContext.Privileged != nil),
		"more of it later":              allowed.AllowPrivilegeEscalation == *container.SecurityContext.AllowPrivilegeEscalation,
		"a root file system to write":   allowed.ReadOnlyRootFilesystem == *container.SecurityContext.ReadOnlyRootFilesystem,
		"capabilities":                  slices.Equal(allowed.AllowedCapabilities, container.SecurityContext.Capabilities.Add),
		"root, and a type of SELinux":   allowed.RunAsUser.Type == "RunAsAny" && allowed.SELinuxContext.Type == "RunAsAny",
		"the runtime's seccomp profile": slices.Equal(allowed.SeccompProfiles, []string{"runtime/default"}) && pod.SecurityContext.SeccompProfile.Type == corev1.SeccompProfileTypeRuntimeDefault,
		"volumes of hostPath, emptyDir": slices.Contains(allowed.Volumes, "hostPath") && slices.Contains(allowed.Volumes, "emptyDir"),
	} {
		if !same {
			t.Errorf("%s: the constraints and the pod are not of one mind: %+v", what, allowed)
		}
	}
	for _, volume := range pod.Volumes {
		if volume.HostPath == nil && volume.EmptyDir == nil {
			t.Errorf("volume %s is of a type that this test does not know", volume.Name)
		}
	}
}
