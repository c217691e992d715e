package install

import (
	"slices"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
)

func TestPoliciesRunCommandsOnlyWhereTheInstallationLetsThem(t *testing.T) {
	const allowed, folder = "testdata/commands", "/etc/NetworkManager/dispatcher.d"
	for _, overlay := range []string{deploy, elsewhere, centralized, withSecrets, allowed} {
		handler := find[appsv1.DaemonSet](t, overlay, "DaemonSet").Spec.Template.Spec
		controllers := find[appsv1.Deployment](t, overlay, "Deployment").Spec.Template.Spec
		for name, pod := range map[string]corev1.PodSpec{"handler": handler, "controllers": controllers} {
			if slices.Contains(pod.Containers[0].Args, "--allow-commands") != (overlay == allowed) {
				t.Errorf("%s: %s has the arguments %v", overlay, name, pod.Containers[0].Args)
			}
		}
		reaches := slices.ContainsFunc(handler.Volumes, func(v corev1.Volume) bool { return v.HostPath != nil && v.HostPath.Path == folder }) &&
			slices.ContainsFunc(handler.Containers[0].VolumeMounts, func(m corev1.VolumeMount) bool { return m.MountPath == folder && !m.ReadOnly })
		if reaches != (overlay == allowed) {
			t.Errorf("%s: the handler reaches the scripts: %t", overlay, reaches)
		}
	}
}
