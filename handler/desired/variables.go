package desired

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	v1 "github.com/nmstate/kubernetes-nmstate/api/v1"
)

// Variables are the values of a policy's variables on a node. The error names
// each variable that has none there, and where it looked.
func Variables(variables map[string]v1.Variable, node *corev1.Node) (map[string]string, error) {
	if len(variables) == 0 {
		return nil, nil
	}
	values := make(map[string]string, len(variables))
	var missing []error
	for _, name := range slices.Sorted(maps.Keys(variables)) {
		value, source, known := valueOn(variables[name], node)
		switch {
		case !known:
			missing = append(missing, fmt.Errorf("spec.variables[%s]: node %s has no %s, and there is no default", name, node.Name, source))
		case strings.ContainsAny(value, "{}"):
			missing = append(missing, fmt.Errorf("spec.variables[%s]: the value %q of node %s (%s) has a brace, which only templates have", name, value, node.Name, source))
		default:
			values[name] = value
		}
	}
	if len(missing) > 0 {
		return nil, errors.Join(missing...)
	}
	return values, nil
}

// valueOn also tells in words where the value is looked for.
func valueOn(variable v1.Variable, node *corev1.Node) (value, source string, known bool) {
	switch {
	case variable.FromLabel != "":
		source = "label " + variable.FromLabel
		value, known = node.Labels[variable.FromLabel]
	case variable.FromAnnotation != "":
		source = "annotation " + variable.FromAnnotation
		value, known = node.Annotations[variable.FromAnnotation]
	default:
		source = "entry in values"
		value, known = variable.Values[node.Name]
	}
	if !known && variable.Default != nil {
		return *variable.Default, source, true
	}
	return value, source, known
}

// Probes are a policy's probes on a node: variables stand in their targets.
func Probes(probes []v1.Probe, variables map[string]string) ([]v1.Probe, error) {
	filled := slices.Clone(probes)
	for i := range filled {
		target, err := Templates{Variables: variables}.text(filled[i].Target, nil)
		if err != nil {
			return nil, fmt.Errorf("spec.probes[%d].target: %w", i, err)
		}
		filled[i].Target = target
	}
	return filled, nil
}

// FillCaptures puts variables into the expressions of spec.capture.
func FillCaptures(captures, variables map[string]string) (map[string]string, error) {
	filled := make(map[string]string, len(captures))
	for _, name := range slices.Sorted(maps.Keys(captures)) {
		expression, err := Templates{Variables: variables}.text(captures[name], nil)
		if err != nil {
			return nil, fmt.Errorf("spec.capture[%s]: %w", name, err)
		}
		filled[name] = expression
	}
	return filled, nil
}
