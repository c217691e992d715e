package v1

import (
	"regexp"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/validation"
)

// EnactmentName is the ordinary name of the enactment of a policy on a node. Other
// nodes and policies may come to the same: node a.b with policy c, and node a with
// policy b.c. So nobody reads it: Node and Policy tell what an enactment is about.
func EnactmentName(node, policy string) string { return node + "." + policy }

// EnactmentNames are the names that the enactment of a policy on a node may have, in
// the order in which they are tried: the ordinary one, where it is short enough, and
// where it could be that of another node or policy one with the node's UID. The latter
// is never taken: no ordinary name ends in a UID, and the admission policy lets a
// handler use that of its own node only (hack/adr/0016-enactment-names.md).
func EnactmentNames(node string, uid types.UID, policy string) []string {
	plain, unique := EnactmentName(node, policy), policy+"-"+string(uid)
	switch {
	case len(plain) > validation.DNS1123SubdomainMaxLength || endsInUID(policy):
		return []string{unique}
	case strings.Contains(node, ".") || strings.Contains(policy, "."):
		return []string{plain, unique}
	}
	return []string{plain}
}

func endsInUID(name string) bool {
	if len(name) < 36 {
		return false
	}
	// The admission policy has the same expression (deploy/rbac/own-node.yaml).
	is, err := regexp.MatchString(`[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$`, name)
	return err == nil && is
}

// Node is the name of the node that the enactment is about. Admission lets a handler
// create enactments that its own node owns, and nobody changes an owner. One of the
// older project may have no owner; its label is believed.
func (e *NodeNetworkConfigurationEnactment) Node() string {
	is := func(o metav1.OwnerReference) bool { return o.APIVersion == "v1" && o.Kind == "Node" }
	if i := slices.IndexFunc(e.OwnerReferences, is); i >= 0 {
		return e.OwnerReferences[i].Name
	}
	return e.Labels[EnactmentNodeLabel]
}

// Policy is the name of the policy that the enactment is about. A label always has
// room for it.
func (e *NodeNetworkConfigurationEnactment) Policy() string { return e.Labels[EnactmentPolicyLabel] }
