package manifests

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// kind names the kind of an object as rules do.
type kind struct{ group, resource string }

// plurals are the resources of the kinds that are installed.
var plurals = map[string]string{
	"ClusterRole": "clusterroles", "ClusterRoleBinding": "clusterrolebindings", "Role": "roles", "RoleBinding": "rolebindings",
	"ServiceAccount": "serviceaccounts", "Service": "services", "DaemonSet": "daemonsets", "Deployment": "deployments",
	"PodDisruptionBudget":       "poddisruptionbudgets",
	"ValidatingAdmissionPolicy": "validatingadmissionpolicies", "ValidatingAdmissionPolicyBinding": "validatingadmissionpolicybindings",
	"NetworkPolicy": "networkpolicies",
}

// rightsToInstall are what the operator's account needs: to write the given objects,
// by their names, and every right that their roles grant, since the API server lets
// nobody grant what he does not have. The first is a ClusterRole, for what has no
// namespace, the second a Role for the rest.
func rightsToInstall(objects []*unstructured.Unstructured) ([]*unstructured.Unstructured, error) {
	var rules [2][]rbacv1.PolicyRule
	names := [2]map[kind][]string{{}, {}}
	for _, object := range objects {
		plural, is := plurals[object.GetKind()]
		if !is {
			return nil, fmt.Errorf("%s %s: hack/manifests does not know the resource of this kind: add it to plurals", object.GetKind(), object.GetName())
		}
		scope := 0
		if object.GetNamespace() != "" {
			scope = 1
		}
		k := kind{object.GroupVersionKind().Group, plural}
		if !slices.Contains(names[scope][k], object.GetName()) {
			names[scope][k] = append(names[scope][k], object.GetName())
		}
		granted, err := rulesOf(object)
		if err != nil {
			return nil, err
		}
		for _, rule := range granted {
			if !slices.ContainsFunc(rules[scope], func(r rbacv1.PolicyRule) bool { return r.String() == rule.String() }) {
				rules[scope] = append(rules[scope], rule)
			}
		}
	}
	clusterRole := &rbacv1.ClusterRole{Rules: append(write(names[0]), rules[0]...)}
	clusterRole.APIVersion, clusterRole.Kind, clusterRole.Name = rbacv1.SchemeGroupVersion.String(), "ClusterRole", "nmstate-operator-installs"
	role := &rbacv1.Role{Rules: append(write(names[1]), rules[1]...)}
	role.APIVersion, role.Kind, role.Name, role.Namespace = rbacv1.SchemeGroupVersion.String(), "Role", "nmstate-operator-installs", "nmstate"
	return plain(clusterRole, role)
}

// write: objects of other names may be seen, which a watch cannot do without. The API
// server asks for the name of what is applied also when it creates that.
func write(names map[kind][]string) (rules []rbacv1.PolicyRule) {
	kinds := slices.SortedFunc(maps.Keys(names), func(a, b kind) int {
		return strings.Compare(a.group+"/"+a.resource, b.group+"/"+b.resource)
	})
	for _, k := range kinds {
		slices.Sort(names[k])
		rules = append(rules,
			rbacv1.PolicyRule{APIGroups: []string{k.group}, Resources: []string{k.resource}, Verbs: []string{"list", "watch"}},
			rbacv1.PolicyRule{APIGroups: []string{k.group}, Resources: []string{k.resource}, ResourceNames: names[k], Verbs: []string{"get", "create", "patch", "delete"}},
		)
	}
	return rules
}

func rulesOf(object *unstructured.Unstructured) ([]rbacv1.PolicyRule, error) {
	if object.GetKind() != "ClusterRole" && object.GetKind() != "Role" {
		return nil, nil
	}
	role := rbacv1.ClusterRole{} // A Role has the same rules.
	raw, err := object.MarshalJSON()
	if err == nil {
		err = json.Unmarshal(raw, &role)
	}
	if err != nil {
		return nil, fmt.Errorf("reading %s %s: %w", object.GetKind(), object.GetName(), err)
	}
	return role.Rules, nil
}

func plain(objects ...any) (out []*unstructured.Unstructured, err error) {
	for _, object := range objects {
		raw, err := json.Marshal(object)
		if err != nil {
			return nil, err
		}
		one := &unstructured.Unstructured{}
		if err := json.Unmarshal(raw, one); err != nil {
			return nil, err
		}
		unstructured.RemoveNestedField(one.Object, "metadata", "creationTimestamp")
		out = append(out, one)
	}
	return out, nil
}
