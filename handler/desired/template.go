package desired

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/nmstate/kubernetes-nmstate/handler/state"
)

const (
	opening = "{{"
	closing = "}}"

	matchName     = "match.name"
	variablePart  = "var."
	capturePart   = "capture."
	matchTemplate = "{{ match.name }}"
)

// Templates are what the templates of a desired state stand for on a node.
type Templates struct {
	// Variables have a value each.
	Variables map[string]string
	// Matching: the policy has spec.match, which selected Matched.
	Matching bool
	Matched  []string
	// Captures are spec.capture. Their templates stay, for libnmstate.
	Captures map[string]string
}

// Expand reads a desired state and puts values in the place of its templates:
//
//	{{ var.x }}         the variable's value; a string that is nothing but
//	                    templates may stand for a number or boolean.
//	{{ match.name }}    a matched interface. An entry of interfaces without a
//	                    name, and elsewhere the innermost item of a list that
//	                    has the template, is there once for each of them.
//	{{ capture.x... }}  stays.
//	{{ secret.x.y }}    stays, where a secret may stand.
//
// Where nothing matched, a list that was only such items is left out rather
// than empty, since an empty list asks for something. The error names the
// place and the template.
func Expand(raw []byte, templates Templates) ([]byte, error) {
	// JSON may spell a brace as \u007b.
	if !templates.Matching && !bytes.Contains(raw, []byte(opening)) && !bytes.Contains(raw, []byte(`\u00`)) {
		return raw, nil
	}
	document, err := state.Parse(raw)
	if err != nil {
		return nil, fmt.Errorf("reading spec.desiredState: %w", err)
	}
	expanded, _, err := templates.object("", document.Tree(), nil)
	if err != nil {
		return nil, fmt.Errorf("reading spec.desiredState: %w", err)
	}
	tree, _ := expanded.(map[string]any)
	if templates.Matching {
		if err := onlyOnce(tree["interfaces"]); err != nil {
			return nil, fmt.Errorf("reading spec.desiredState: %w", err)
		}
	}
	return state.Typed(state.FromTree(tree)).JSON(), nil
}

// value is a copy with values in the place of templates; nothing is left of it
// when it returns false. The name is that of the matched interface that it is
// made for, nil where it does not itself stand for several.
func (t Templates) value(place string, value any, name *string) (any, bool, error) {
	switch value := value.(type) {
	case string:
		text, err := t.filled(place, value, name)
		if err != nil {
			return nil, false, fmt.Errorf("%s: %w", place, err)
		}
		return text, true, nil
	case map[string]any:
		return t.object(place, value, name)
	case []any:
		return t.list(place, value, name)
	}
	return value, true, nil
}

func (t Templates) object(place string, tree map[string]any, name *string) (any, bool, error) {
	expanded := make(map[string]any, len(tree))
	for _, key := range slices.Sorted(maps.Keys(tree)) {
		here := key
		if place != "" {
			here = place + "." + key
		}
		if strings.Contains(key, opening) {
			return nil, false, fmt.Errorf("%s: a template can be a value but no key", here)
		}
		filled, left, err := t.value(here, tree[key], name)
		if err != nil {
			return nil, false, err
		}
		if left {
			expanded[key] = filled
		}
	}
	return expanded, len(expanded) > 0 || len(tree) == 0, nil
}

func (t Templates) list(place string, items []any, name *string) (any, bool, error) {
	expanded := make([]any, 0, len(items))
	for i, item := range items {
		here := fmt.Sprintf("%s[%d]", place, i)
		if name == nil && t.isRepeated(place, item) {
			repeated, err := t.repeated(here, item, isNameless(place, item))
			if err != nil {
				return nil, false, err
			}
			expanded = append(expanded, repeated...)
			continue
		}
		filled, left, err := t.value(here, item, name)
		if err != nil {
			return nil, false, err
		}
		if left {
			expanded = append(expanded, filled)
		}
	}
	return expanded, len(expanded) > 0 || len(items) == 0, nil
}

// repeated are the item's copies, one for each matched interface.
func (t Templates) repeated(place string, item any, nameless bool) ([]any, error) {
	if !t.Matching {
		return nil, fmt.Errorf("%s: %s needs spec.match, which selects the interfaces that it stands for", place, matchTemplate)
	}
	var copies []any
	for _, name := range t.Matched {
		filled, _, err := t.value(place, item, &name)
		if err != nil {
			return nil, err
		}
		if entry, is := filled.(map[string]any); is && nameless {
			entry["name"] = name
		}
		copies = append(copies, filled)
	}
	return copies, nil
}

// isRepeated tells whether the item is there once for each matched interface.
func (t Templates) isRepeated(place string, item any) bool {
	return (t.Matching && isNameless(place, item)) || namesMatch(item)
}

func isNameless(place string, item any) bool {
	entry, is := item.(map[string]any)
	return is && place == "interfaces" && entry["name"] == nil
}

// namesMatch looks for the template in a value, but not in the lists in it:
// their items are innermost then.
func namesMatch(value any) bool {
	switch value := value.(type) {
	case string:
		return slices.Contains(references(value), matchName)
	case map[string]any:
		for _, item := range value {
			if namesMatch(item) {
				return true
			}
		}
	}
	return false
}

// filled is a value of a desired state. One of a Secret stays, for the node.
func (t Templates) filled(place, written string, name *string) (string, error) {
	if !state.MentionsSecret(written) {
		if state.IsSecretPath(place) && slices.ContainsFunc(references(written), isVariable) {
			return "", errVariable
		}
		return t.text(written, name)
	}
	named, err := state.CheckSecretReference(place, written)
	if err != nil {
		return "", err
	}
	return named.String(), nil
}

// errVariable: the enactment shows the values of variables.
var errVariable = errors.New("a variable cannot stand here, since the enactment shows the values of variables: write {{ secret.NAME.KEY }}")

func isVariable(reference string) bool { return strings.HasPrefix(reference, variablePart) }

// text puts values in the place of the templates in a string. The name is that
// of the interface that it is made for, nil where it is made once.
func (t Templates) text(written string, name *string) (string, error) {
	var text strings.Builder
	rest := written
	for {
		before, after, begins := strings.Cut(rest, opening)
		text.WriteString(before)
		if !begins {
			return text.String(), nil
		}
		inner, beyond, ends := strings.Cut(after, closing)
		if !ends {
			return "", fmt.Errorf("%q begins a template with {{ and does not end it with }}", written)
		}
		value, err := t.resolved(strings.TrimSpace(inner), name)
		if err != nil {
			return "", err
		}
		text.WriteString(value)
		rest = beyond
	}
}

func (t Templates) resolved(reference string, name *string) (string, error) {
	switch {
	case reference == matchName && name != nil:
		if strings.ContainsAny(*name, "{}") {
			return "", fmt.Errorf("%s: the name %q has a brace, which only templates have", matchTemplate, *name)
		}
		return *name, nil
	case reference == matchName:
		return "", fmt.Errorf("%s is not in an item of a list, which could be repeated for each matched interface", matchTemplate)
	case isVariable(reference):
		if value, known := t.Variables[strings.TrimPrefix(reference, variablePart)]; known {
			return value, nil
		}
		return "", fmt.Errorf("{{ %s }}: spec.variables has no such variable%s", reference, amongst(t.Variables))
	case strings.HasPrefix(reference, capturePart):
		capture, _, _ := strings.Cut(strings.TrimPrefix(reference, capturePart), ".")
		if _, known := t.Captures[capture]; known {
			return opening + " " + reference + " " + closing, nil
		}
		return "", fmt.Errorf("{{ %s }}: spec.capture has no capture %q%s", reference, capture, amongst(t.Captures))
	}
	return "", fmt.Errorf("{{ %s }} names nothing: a template is match.name, var.NAME, capture.NAME or secret.NAME.KEY", reference)
}

// onlyOnce refuses an interface that is there twice beside spec.match: one of
// the two would be lost.
func onlyOnce(made any) error {
	seen := map[string]bool{}
	for _, entry := range objects(made) {
		name := nameOf(entry)
		key := name
		if entry["type"] == "ovs-bridge" { // It is beside a kernel interface of its name.
			key += " ovs-bridge"
		}
		if seen[key] {
			return fmt.Errorf("interfaces[%s] is there twice, beside the entry for a matched interface or once for each of several: say all in one entry, or put %s into its name", name, matchTemplate)
		}
		seen[key] = true
	}
	return nil
}

// references are what stands between the braces of a string's templates.
func references(written string) []string {
	var found []string
	for {
		_, after, begins := strings.Cut(written, opening)
		inner, beyond, ends := strings.Cut(after, closing)
		if !begins || !ends {
			return found
		}
		found = append(found, strings.TrimSpace(inner))
		written = beyond
	}
}

// amongst lists the names that there are, for a message.
func amongst(named map[string]string) string {
	if len(named) == 0 {
		return ""
	}
	return "; there is " + strings.Join(slices.Sorted(maps.Keys(named)), ", ")
}
