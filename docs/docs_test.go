package docs

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/yaml"

	"github.com/nmstate/kubernetes-nmstate/handler/state"
)

// texts are the documents that people read, from this folder.
func texts(t *testing.T) []string {
	t.Helper()
	var names []string
	for _, pattern := range []string{"*.md", "../*.md", "../hack/adr/*.md"} {
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

// refused marks an example that the handler refuses, and how.
var refused = regexp.MustCompile(`(?m)^# Refused: (.*)$`)

func TestEveryDesiredStateIsUnderstood(t *testing.T) {
	for _, name := range append(examples(t), "demos/state.yaml") {
		t.Run(name, func(t *testing.T) {
			want := ""
			if found := refused.FindStringSubmatch(read(t, name)); found != nil {
				want = found[1]
			}
			for _, object := range objects(t, name) {
				desired, ok, err := unstructured.NestedMap(object.Object, "spec", "desiredState")
				if err != nil {
					t.Fatal(err)
				}
				if !ok {
					continue
				}
				raw, err := json.Marshal(desired)
				if err != nil {
					t.Fatal(err)
				}
				_, err = state.ParseDesired(raw)
				if got := message(err); got != want {
					t.Errorf("spec.desiredState of %s: want %q, got %q", object.GetName(), want, got)
				}
			}
		})
	}
}

func message(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
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
var target = regexp.MustCompile("(?m)(?:^|`)make ([a-z][a-z-]*)")

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
