package docs

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/yaml"
	sigsyaml "sigs.k8s.io/yaml"

	v1 "github.com/nmstate/kubernetes-nmstate/api/v1"
	"github.com/nmstate/kubernetes-nmstate/handler/desired"
	"github.com/nmstate/kubernetes-nmstate/handler/state"
)

// texts are the documents that people read, from this folder.
func texts(t *testing.T) []string {
	t.Helper()
	var names []string
	for _, pattern := range []string{"*.md", "../*.md", "../hack/adr/*.md", "../sim/*.md", "../kind/*.md"} {
		found, err := filepath.Glob(pattern)
		if err != nil {
			t.Fatal(err)
		}
		names = append(names, found...)
	}
	if len(names) == 0 {
		t.Fatal("found no documents")
	}
	return names
}

// examples are the files that stand in the texts.
func examples(t *testing.T) []string {
	t.Helper()
	names, err := filepath.Glob("examples/*.yaml")
	if err != nil || len(names) == 0 {
		t.Fatalf("found no examples: %v", err)
	}
	return names
}

func read(t *testing.T, name string) string {
	t.Helper()
	content, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return string(content)
}

// block is a fenced block of YAML.
var block = regexp.MustCompile("(?ms)^```yaml\n(.*?)^```$")

func TestEveryYAMLBlockIsAnExample(t *testing.T) {
	example := map[string]string{}
	for _, name := range examples(t) {
		example[read(t, name)] = name
	}
	report := read(t, "demos/state.yaml")
	used := map[string]bool{}
	for _, name := range texts(t) {
		for _, found := range block.FindAllStringSubmatch(read(t, name), -1) {
			source, ok := example[found[1]]
			switch {
			case ok:
				used[source] = true
			case strings.Contains("\n"+report, "\n"+found[1]): // Part of a long report.
			default:
				t.Errorf("%s: this block is neither a file of docs/examples nor a part of docs/demos/state.yaml:\n%s", name, found[1])
			}
		}
	}
	for _, name := range examples(t) {
		if !used[name] {
			t.Errorf("%s stands in no document", name)
		}
	}
}

// capture is a template that libnmstate fills in on the node.
var capture = regexp.MustCompile(`\{\{ *capture\.[^}]*\}\}`)

// rendered is a policy's desired state as it comes out on node1, where eth1
// matches and captures find eth1.
func rendered(policy *v1.NodeNetworkConfigurationPolicy) error {
	values, err := desired.Variables(policy.Spec.Variables, &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "node1"}})
	if err != nil {
		return err
	}
	raw, err := desired.Expand(policy.Spec.DesiredState.Raw, desired.Templates{
		Variables: values, Matching: len(policy.Spec.Match) > 0, Matched: []string{"eth1"}, Captures: policy.Spec.Capture,
	})
	if err != nil {
		return err
	}
	made, err := desired.Render(capture.ReplaceAll(raw, []byte("eth1")), policy.Spec.Priority, true)
	if err != nil {
		return err
	}
	if err := state.CheckCommands(state.State{}, made.State, false); err != nil {
		return err
	}
	return desired.Trespass(made.State, desired.DefaultProtected())
}

func TestEveryDesiredStateIsUnderstood(t *testing.T) {
	all, err := Examples(os.DirFS("examples"))
	if err != nil {
		t.Fatal(err)
	}
	for _, example := range all {
		t.Run(example.Name, func(t *testing.T) {
			for _, manifest := range example.Manifests {
				var policy v1.NodeNetworkConfigurationPolicy
				if err := sigsyaml.UnmarshalStrict([]byte(manifest), &policy); err != nil {
					t.Fatal(err)
				}
				if policy.Spec.AutoConfig != nil {
					continue
				}
				err := rendered(&policy)
				if expected := example.Outcome.Status == "Failing" && err != nil && strings.Contains(err.Error(), example.Outcome.Message); err != nil && !expected {
					t.Errorf("policy %s: %v", policy.Name, err)
				}
			}
		})
	}
}

func TestTheReportIsADesiredState(t *testing.T) {
	for _, object := range objects(t, "demos/state.yaml") {
		spec, _, err := unstructured.NestedMap(object.Object, "spec", "desiredState")
		if err != nil {
			t.Fatal(err)
		}
		raw, err := json.Marshal(spec)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := state.ParseDesired(raw); err != nil {
			t.Error(err)
		}
	}
}

// objects are the Kubernetes objects of a file; a topology has none.
func objects(t *testing.T, name string) []unstructured.Unstructured {
	t.Helper()
	var all []unstructured.Unstructured
	for document := range strings.SplitSeq(read(t, name), "\n---\n") {
		object := unstructured.Unstructured{}
		if err := yaml.NewYAMLOrJSONDecoder(bytes.NewReader([]byte(document)), 1<<16).Decode(&object.Object); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if object.GetKind() != "" {
			all = append(all, object)
		}
	}
	return all
}

// link is a link or a picture to something in this repository.
var link = regexp.MustCompile(`\]\(([^)#:]+)(#[^)]*)?\)`)

func TestLinksLeadSomewhere(t *testing.T) {
	for _, name := range texts(t) {
		for _, found := range link.FindAllStringSubmatch(read(t, name), -1) {
			if _, err := os.Stat(filepath.Join(filepath.Dir(name), found[1])); err != nil {
				t.Errorf("%s: the link to %s leads nowhere", name, found[1])
			}
		}
	}
}

// target is a make target where a text tells to run one.
var target = regexp.MustCompile("(?m)(?:^|`)make ([a-z][a-z0-9-]*)")

func TestMakeTargetsExist(t *testing.T) {
	makefile := read(t, "../Makefile")
	for _, name := range texts(t) {
		for _, found := range target.FindAllStringSubmatch(read(t, name), -1) {
			if !strings.Contains(makefile, "\n"+found[1]+":") {
				t.Errorf("%s: there is no make %s", name, found[1])
			}
		}
	}
}
