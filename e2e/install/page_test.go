package install

import (
	"slices"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	networkingv1 "k8s.io/api/networking/v1"
	"k8s.io/apimachinery/pkg/labels"
)

const pageComponent = deploy + "/components/page"

func TestThePageForATeamHasNoRights(t *testing.T) {
	for _, object := range build(t, pageComponent) {
		switch kind := object.GetKind(); kind {
		case "ServiceAccount", "Service", "NetworkPolicy", "Deployment":
		default:
			t.Errorf("it has a %s: whatever it reads, it reads with the viewer's token", kind)
		}
	}
	for _, folder := range []string{deploy, centralized, deploy + "/operator"} {
		for _, object := range build(t, folder) {
			if object.GetName() == "nmstate-page" {
				t.Errorf("%s installs the page, which is off by default", folder)
			}
			subjects, _ := object.Object["subjects"].([]any)
			for _, subject := range subjects {
				if subject.(map[string]any)["name"] == "nmstate-page" {
					t.Errorf("%s: %s %s gives the page rights", folder, object.GetKind(), object.GetName())
				}
			}
		}
	}
	pod := find[appsv1.Deployment](t, pageComponent, "Deployment").Spec.Template
	if mounts := pod.Spec.AutomountServiceAccountToken; mounts == nil || *mounts {
		t.Error("its pod has a token")
	}
	for _, volume := range pod.Spec.Volumes {
		if volume.Projected != nil {
			t.Errorf("its pod has the volume %s, which may have a token", volume.Name)
		}
	}
	if args := pod.Spec.Containers[0].Args; slices.Contains(args, "--read-only=false") {
		t.Error("it is not read-only by default")
	}
	policy := find[networkingv1.NetworkPolicy](t, pageComponent, "NetworkPolicy")
	if !labels.SelectorFromSet(policy.Spec.PodSelector.MatchLabels).Matches(labels.Set(pod.Labels)) || len(policy.Spec.PolicyTypes) != 2 {
		t.Errorf("the policy is about %v and %v, the pod is %v", policy.Spec.PolicyTypes, policy.Spec.PodSelector, pod.Labels)
	}
	for _, rule := range policy.Spec.Ingress {
		if len(rule.From) == 0 {
			t.Error("anybody reaches it, and not the proxy only")
		}
	}
}
