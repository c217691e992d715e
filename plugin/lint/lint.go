package lint

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strings"

	yaml "go.yaml.in/yaml/v3"
	kjson "sigs.k8s.io/json"

	v1 "github.com/nmstate/kubernetes-nmstate/api/v1"
	"github.com/nmstate/kubernetes-nmstate/handler/desired"
	"github.com/nmstate/kubernetes-nmstate/handler/state"
)

// Finding is one mistake.
type Finding struct {
	// Line of the text, the first is 1.
	Line int `json:"line"`
	// Path in the document: "spec.desiredState.interfaces[0].mtu".
	Path string `json:"path,omitempty"`
	// Message is what is wrong and what to do.
	Message string `json:"message"`
}

// String is the finding behind a file's name.
func (f Finding) String() string {
	if f.Path == "" {
		return fmt.Sprintf("%d: %s", f.Line, f.Message)
	}
	return fmt.Sprintf("%d: %s: %s", f.Line, f.Path, f.Message)
}

// Report is what was found in a text.
type Report struct {
	// Checked is how many documents were.
	Checked int `json:"checked"`
	// Skipped are the kinds of documents that are not ours.
	Skipped  []string  `json:"skipped,omitempty"`
	Findings []Finding `json:"findings"`
	// Policies that could be read, in the text's order.
	Policies []v1.NodeNetworkConfigurationPolicy `json:"-"`
}

// desiredState is where the state stands in both kinds that have one.
const desiredState = "spec.desiredState"

// Text checks the documents of a YAML or JSON text: policies, node states, and plain
// nmstate states.
func Text(text []byte) Report {
	r := Report{Findings: []Finding{}}
	decoder := yaml.NewDecoder(bytes.NewReader(text))
	for {
		var document yaml.Node
		err := decoder.Decode(&document)
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			r.add(unreadable(err))
			break
		}
		r.document(&document)
	}
	slices.SortStableFunc(r.Findings, func(a, b Finding) int { return a.Line - b.Line })
	return r
}

func (r *Report) add(f Finding) { r.Findings = append(r.Findings, f) }

// place is what the YAML parser says of a mistake.
var place = regexp.MustCompile(`line (\d+): (.*)`)

func unreadable(err error) Finding {
	f := Finding{Line: 1, Message: strings.TrimPrefix(err.Error(), "yaml: ")}
	if found := place.FindStringSubmatch(err.Error()); found != nil {
		_, _ = fmt.Sscan(found[1], &f.Line) // It is digits.
		f.Message = found[2]
	}
	return f
}

func (r *Report) document(document *yaml.Node) {
	if len(document.Content) == 0 || document.Content[0].Tag == "!!null" {
		return
	}
	root := document.Content[0]
	var tree any
	if err := root.Decode(&tree); err != nil {
		r.Checked++
		r.add(unreadable(err))
		return
	}
	raw, err := json.Marshal(tree)
	if err != nil {
		r.Checked++
		r.add(Finding{Line: root.Line, Message: "it cannot be written as JSON: " + err.Error()})
		return
	}
	kind, group := textAt(tree, "kind"), strings.Split(textAt(tree, "apiVersion"), "/")[0]
	switch {
	case group == v1.GroupVersion.Group && kind == "NodeNetworkConfigurationPolicy":
		r.Checked++
		r.policy(root, raw)
	case group == v1.GroupVersion.Group && kind == "NodeNetworkState":
		r.Checked++
		r.nodeState(root, raw)
	case kind != "":
		r.Skipped = append(r.Skipped, kind)
	default:
		r.Checked++
		r.state(root, "", raw)
	}
}

func textAt(tree any, key string) string {
	object, _ := tree.(map[string]any)
	text, _ := object[key].(string)
	return text
}

func (r *Report) policy(root *yaml.Node, raw []byte) {
	var policy v1.NodeNetworkConfigurationPolicy
	if !r.fields(root, raw, &policy) {
		return
	}
	r.Policies = append(r.Policies, policy)
	spec := policy.Spec
	r.state(root, desiredState, spec.DesiredState.Raw)
	if len(spec.Match) > 0 {
		r.Findings = slices.DeleteFunc(r.Findings, func(f Finding) bool {
			return f.Message == "name is missing" && entry.MatchString(f.Path)
		})
	}
	r.templates(root, spec)
	plain := !slices.ContainsFunc(spec.Probes, func(p v1.Probe) bool { return strings.Contains(p.Target, "{{") })
	if err := v1.CheckProbes("spec.probes", spec.Probes); err != nil && plain {
		path, message, _ := strings.Cut(err.Error(), ": ")
		r.add(Finding{Line: lineOf(root, path, ""), Path: path, Message: message})
	}
}

// entry is one of the interfaces. With spec.match it is made for each interface that
// matches, and needs no name.
var entry = regexp.MustCompile(`^spec\.desiredState\.interfaces\[\d+\]$`)

func (r *Report) nodeState(root *yaml.Node, raw []byte) {
	var object v1.NodeNetworkState
	if r.fields(root, raw, &object) {
		r.state(root, desiredState, object.Spec.DesiredState.Raw)
	}
}

// quoted is the field in a message of the strict decoder.
var quoted = regexp.MustCompile(`^(unknown|duplicate) field "(.+)"$`)

// fields checks the fields of a kind, and tells whether the object could be read.
func (r *Report) fields(root *yaml.Node, raw []byte, object any) bool {
	strict, err := kjson.UnmarshalStrict(raw, object)
	var wrong *json.UnmarshalTypeError
	switch {
	case errors.As(err, &wrong):
		r.add(Finding{Line: lineOf(root, wrong.Field, ""), Path: wrong.Field, Message: fmt.Sprintf("expected %s, found %s", wrong.Type, wrong.Value)})
		return false
	case err != nil:
		r.add(Finding{Line: root.Line, Message: err.Error()})
		return false
	}
	for _, one := range strict {
		f := Finding{Line: root.Line, Message: one.Error()}
		if found := quoted.FindStringSubmatch(one.Error()); found != nil {
			above, key := "", found[2]
			if dot := strings.LastIndexByte(found[2], '.'); dot >= 0 {
				above, key = found[2][:dot], found[2][dot+1:]
			}
			f = Finding{Line: lineOf(root, above, key), Path: above, Message: fmt.Sprintf("%s field %q", found[1], key)}
		}
		r.add(f)
	}
	return true
}

// unknownKey is the key in a message of the handler's parser.
var unknownKey = regexp.MustCompile(`^unknown key "([^"]+)"`)

// state checks a desired state that stands at the path.
func (r *Report) state(root *yaml.Node, at string, raw []byte) {
	wanted, err := state.ParseDesired(raw)
	if err == nil {
		// Whether an installation allows commands is the node's to say.
		err = state.CheckCommands(state.State{}, wanted, true)
	}
	if err == nil {
		return
	}
	mistakes := state.Mistakes(err)
	if len(mistakes) == 0 {
		r.add(Finding{Line: lineOf(root, at, ""), Path: at, Message: err.Error()})
	}
	for _, mistake := range mistakes {
		path, key := join(at, mistake.Path), ""
		if found := unknownKey.FindStringSubmatch(mistake.Message); found != nil {
			key = found[1]
		}
		r.add(Finding{Line: lineOf(root, path, key), Path: path, Message: mistake.Message})
	}
}

// templates finds variables and matches that nothing defines. Which values they have is
// another matter on each node.
func (r *Report) templates(root *yaml.Node, spec v1.NodeNetworkConfigurationPolicySpec) {
	variables := map[string]string{}
	for name := range spec.Variables {
		variables[name] = "1"
	}
	_, err := desired.Expand(spec.DesiredState.Raw, desired.Templates{
		Variables: variables, Matching: len(spec.Match) > 0, Matched: []string{"eth0"}, Captures: spec.Capture,
	})
	if err == nil {
		return
	}
	path, message, found := strings.Cut(strings.TrimPrefix(err.Error(), "reading "+desiredState+": "), ": ")
	if !found {
		path, message = "", err.Error()
	}
	path = join(desiredState, path)
	r.add(Finding{Line: lineOf(root, path, ""), Path: path, Message: message})
}

func join(above, path string) string {
	if above == "" || path == "" {
		return above + path
	}
	return above + "." + path
}
