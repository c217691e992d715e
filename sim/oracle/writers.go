package oracle

import (
	"fmt"
	"slices"
	"strings"

	v1 "github.com/nmstate/kubernetes-nmstate/api/v1"
)

// writers: each part of an object has one writer. A handler writes about its
// own node only. What the policy handler writes is the handler's in distributed
// mode, and the controllers' in centralized mode.
//
//	Policy.spec                people       Policy.status                controllers
//	Enactment.spec             controllers  Enactment.status, its life   policy handler
//	NodeNetworkState.spec      policy handler, its managed: people; made by the handler
//	NodeNetworkState.status    handler
//	Node                       outside
type writers struct{}

func (writers) Name() string { return "writers" }

func (writers) Observe(f *Facts, e Event) error {
	w, is := e.What.(Wrote)
	role, node := roleOf(w.Process)
	if !is || role == roleOutside {
		return nil
	}
	if err := ofItsNode(w, role, node); err != nil {
		return err
	}
	switch w.Kind {
	case "NodeNetworkConfigurationPolicy":
		if role == roleHandler || w.Spec || w.Metadata {
			return w.byWrongRole(role)
		}
	case "NodeNetworkConfigurationEnactment":
		return w.enactment(role, f.Centralized())
	case "NodeNetworkState":
		return w.state(role, f.Centralized())
	default:
		return w.byWrongRole(role)
	}
	return nil
}

func (w Wrote) byWrongRole(role string) error {
	var parts []string
	for part, is := range map[string]bool{"metadata": w.Metadata, "spec": w.Spec, "status": w.Status} {
		if is {
			parts = append(parts, part)
		}
	}
	return fmt.Errorf("%s (%s) wrote %s of %s %s (%s)", w.Process, role, strings.Join(slices.Sorted(slices.Values(parts)), ", "), w.Kind, w.Name, w.Verb)
}

// ofItsNode: a handler is the handler of one node.
func ofItsNode(w Wrote, role, node string) error {
	if role != roleHandler {
		return nil
	}
	mine := w.Kind == "NodeNetworkState" && w.Name == node
	if e, is := w.object().(*v1.NodeNetworkConfigurationEnactment); is {
		of, _ := nodeAndPolicy(e)
		mine = of == node
	}
	if !mine {
		return w.byWrongRole(role)
	}
	return nil
}

// enactmentNode is the node that a written enactment is about.
func (w Wrote) enactmentNode() string {
	if e, is := w.object().(*v1.NodeNetworkConfigurationEnactment); is {
		node, _ := nodeAndPolicy(e)
		return node
	}
	return ""
}

func (w Wrote) object() any {
	if w.After != nil {
		return w.After
	}
	return w.Before
}

func (w Wrote) enactment(role string, centralized bool) error {
	made, gone := w.Before == nil, w.After == nil
	switch owner := policyRole(centralized); {
	case gone && role == roleControllers: // Those of nodes that are gone, in both modes.
		return nil
	case made || gone || w.Status || w.Metadata:
		if role != owner || !made && !gone && w.Spec {
			return w.byWrongRole(role)
		}
	case role != roleControllers:
		return w.byWrongRole(role)
	}
	return nil
}

// policyRole is the role of the processes in which the policy handler runs.
func policyRole(centralized bool) string {
	if centralized {
		return roleControllers
	}
	return roleHandler
}

func (w Wrote) state(role string, centralized bool) error {
	if w.Before == nil || w.After == nil {
		if role == roleHandler && w.After != nil {
			return nil // The handler makes it.
		}
		return w.byWrongRole(role)
	}
	before, after := w.Before.(*v1.NodeNetworkState), w.After.(*v1.NodeNetworkState)
	switch {
	case w.Status && role != roleHandler, (w.Spec || w.Metadata) && role != policyRole(centralized):
		return w.byWrongRole(role)
	case w.Spec && isManaged(before) != isManaged(after):
		return fmt.Errorf("%s set managed of node %s to %t", w.Process, w.Name, isManaged(after))
	}
	return nil
}
