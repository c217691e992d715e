package main

import (
	"os"
	"regexp"
	"strings"
	"testing"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/cli-runtime/pkg/genericiooptions"
	"k8s.io/client-go/util/jsonpath"
	"sigs.k8s.io/yaml"
)

func read[T any](t *testing.T, file string) T {
	t.Helper()
	var into T
	raw, err := os.ReadFile(file)
	if err == nil {
		err = yaml.UnmarshalStrict(raw, &into)
	}
	if err != nil {
		t.Fatalf("%s: %v", file, err)
	}
	return into
}

// k9sPlugin is what k9s reads of one.
type k9sPlugin struct {
	ShortCut    string   `json:"shortCut"`
	Description string   `json:"description"`
	Scopes      []string `json:"scopes"`
	Command     string   `json:"command"`
	Confirm     bool     `json:"confirm"`
	Background  bool     `json:"background"`
	Args        []string `json:"args"`
}

// TestK9sRunsCommandsThatThereAre: a key of k9s whose command is wrong shows nothing.
func TestK9sRunsCommandsThatThereAre(t *testing.T) {
	type file struct {
		Plugins map[string]k9sPlugin `json:"plugins"`
	}
	keys := map[string]string{}
	for name, one := range read[file](t, "k9s/plugins.yaml").Plugins {
		if other := keys[one.ShortCut]; other != "" {
			t.Errorf("%s and %s have the same key", name, other)
		}
		keys[one.ShortCut] = name
		line := strings.NewReplacer(`"`, "", "$NAME", "node1", "$CONTEXT", "lab").Replace(strings.Join(one.Args, " "))
		_, line, is := strings.Cut(line, "nmstate ")
		if !is {
			t.Errorf("%s does not run the plugin", name)
			continue
		}
		line, _, _ = strings.Cut(line, " |")
		cmd, rest, err := newPlugin(genericiooptions.NewTestIOStreamsDiscard(), nil).command().Find(strings.Fields(line))
		if err == nil {
			err = cmd.ParseFlags(rest)
		}
		if err == nil {
			err = cmd.ValidateArgs(cmd.Flags().Args())
		}
		if err != nil || !cmd.HasParent() {
			t.Errorf("%s: %s: %v", name, line, err)
		}
	}
	if len(keys) == 0 {
		t.Error("there are no plugins")
	}
}

// TestK9sShowsFieldsThatThereAre holds each column against the schema of its kind.
func TestK9sShowsFieldsThatThereAre(t *testing.T) {
	type views struct {
		Views map[string]struct {
			SortColumn string   `json:"sortColumn"`
			Columns    []string `json:"columns"`
		} `json:"views"`
	}
	for kind, view := range read[views](t, "k9s/views.yaml").Views {
		plural := kind[strings.LastIndexByte(kind, '/')+1:]
		crd := read[apiextensionsv1.CustomResourceDefinition](t, "../deploy/crds/nmstate.io_"+plural+".yaml")
		if kind != "nmstate.io/v1/"+crd.Spec.Names.Plural {
			t.Errorf("there is no %s", kind)
		}
		for _, column := range view.Columns {
			name, path, is := strings.Cut(column, ":")
			if !is {
				continue
			}
			path, _, _ = strings.Cut(path, "|")
			if err := jsonpath.New(name).Parse("{" + path + "}"); err != nil {
				t.Errorf("%s %s: %v", kind, name, err)
			}
			if missing := missingField(crd.Spec.Versions[0].Schema.OpenAPIV3Schema, path); missing != "" {
				t.Errorf("%s %s: there is no %s in %s", kind, name, missing, path)
			}
		}
	}
}

var index = regexp.MustCompile(`\[[^\]]*\]`)

// missingField is the first field of a path that a schema does not have.
func missingField(schema *apiextensionsv1.JSONSchemaProps, path string) string {
	for field := range strings.SplitSeq(strings.TrimPrefix(index.ReplaceAllString(path, ""), "."), ".") {
		if schema.Items != nil {
			schema = schema.Items.Schema
		}
		next, is := schema.Properties[field]
		if !is {
			return field
		}
		schema = &next
	}
	return ""
}
