package install

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	rbacv1 "k8s.io/api/rbac/v1"
)

const withSecrets = "testdata/secrets"

func TestOnlyTheControllersReadSecretsAndOnlyWhereTheyAreLetTo(t *testing.T) {
	for _, folder := range []string{deploy, elsewhere, centralized, withSecrets} {
		var want []string
		if folder == withSecrets {
			want = []string{
				"Role net-system/nmstate-secrets: get, list, watch", "RoleBinding net-system/nmstate-secrets: ServiceAccount net-system/nmstate-controllers",
			}
		}
		if got := rightsToSecrets(t, folder); !slices.Equal(got, want) {
			t.Errorf("%s: %q, want %q", folder, got, want)
		}
		args := find[appsv1.Deployment](t, folder, "Deployment").Spec.Template.Spec.Containers[0].Args
		if slices.Contains(args, "--secrets-namespace=$(NAMESPACE)") != (folder == withSecrets) {
			t.Errorf("%s: the controllers have the arguments %v", folder, args)
		}
	}
}

// rightsToSecrets are the roles with a right to Secrets, or to everything, and who is
// bound to the one of the component.
func rightsToSecrets(t *testing.T, folder string) (found []string) {
	t.Helper()
	for _, object := range build(t, folder) {
		raw, err := json.Marshal(object)
		if err != nil {
			t.Fatal(err)
		}
		var role rbacv1.Role // A ClusterRole has the same rules.
		var binding rbacv1.RoleBinding
		switch object.GetKind() {
		case "Role", "ClusterRole":
			err = json.Unmarshal(raw, &role)
		case "RoleBinding", "ClusterRoleBinding":
			err = json.Unmarshal(raw, &binding)
		}
		if err != nil {
			t.Fatal(err)
		}
		for _, rule := range role.Rules {
			if slices.Contains(rule.Resources, "secrets") || slices.Contains(rule.Resources, "*") {
				found = append(found, fmt.Sprintf("%s: %s", id(object), strings.Join(rule.Verbs, ", ")))
			}
		}
		if binding.RoleRef.Name == "nmstate-secrets" {
			for _, s := range binding.Subjects {
				found = append(found, fmt.Sprintf("%s: %s %s/%s", id(object), s.Kind, s.Namespace, s.Name))
			}
		}
	}
	return found
}
