package state

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
	"text/template"

	"gotest.tools/v3/golden"
)

// TestTheAdmissionPolicyKnowsTheSame: what the API server warns of is what the tables
// here do not know.
func TestTheAdmissionPolicyKnowsTheSame(t *testing.T) {
	made := template.Must(template.ParseFiles("testdata/admission.yaml.tmpl"))
	var sections, largest, short []string
	for _, kind := range sortedNames(vocabulary.types) {
		sections = append(sections, fmt.Sprintf("'%s': %s", kind, quoted(vocabulary.types[kind])))
		largest = append(largest, fmt.Sprintf("'%s': %d", kind, mostMTU(kind)))
		if hasKernelName(kind) {
			short = append(short, "'"+kind+"'")
		}
	}
	var out bytes.Buffer
	if err := made.Execute(&out, map[string]any{
		"Top": quoted(vocabulary.state), "Base": quoted(vocabulary.base),
		"IP":       quoted(joinKeys(vocabulary.base["ipv4"].keys, vocabulary.base["ipv6"].keys)),
		"Sections": "{" + strings.Join(sections, ", ") + "}", "Largest": "{" + strings.Join(largest, ", ") + "}",
		"Short": "[" + strings.Join(short, ", ") + "]", "Secrets": "['" + strings.Join(secretKeys(), "', '") + "']", "MostVLAN": mostVLAN, "MostName": mostName,
	}); err != nil {
		t.Fatal(err)
	}
	golden.Assert(t, out.String(), "../../../deploy/admission/mistakes.yaml")
}

func quoted(known keys) string {
	var words []string
	for _, key := range sortedSchemas(known) {
		words = append(words, "'"+key+"'")
	}
	return "[" + strings.Join(words, ", ") + "]"
}
