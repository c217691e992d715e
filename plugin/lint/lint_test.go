package lint

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const head = `apiVersion: nmstate.io/v1
kind: NodeNetworkConfigurationPolicy
metadata:
  name: a
spec:
`

func TestText(t *testing.T) {
	tests := map[string]struct {
		text string
		want []string
	}{
		"a policy that is right": {head + "  desiredState:\n    interfaces:\n    - name: eth1\n      type: ethernet\n      mtu: 1400\n", nil},
		"a misspelt key of an interface": {
			head + "  desiredState:\n    interfaces:\n    - name: eth1\n      type: ethernet\n      ipv4s: {}\n",
			[]string{`10: spec.desiredState.interfaces[0].ethernet: unknown key "ipv4s", did you mean "ipv4"?`},
		},
		"a value of another type, below a key": {
			head + "  desiredState:\n    interfaces:\n    - name: eth1\n      ipv4:\n        address:\n        - ip: 192.0.2.1\n          prefix-length: 33\n",
			[]string{`12: spec.desiredState.interfaces[0].ipv4.address[0].prefix-length: expected a whole number from 0 to 32, found 33`},
		},
		"two mistakes, in the order of the lines": {
			head + "  rollout:\n    canry: 1\n  desiredState:\n    interface: []\n",
			[]string{`7: spec.rollout: unknown field "canry"`, `9: spec.desiredState: unknown key "interface", did you mean "interfaces"?`},
		},
		"text where the kind has a number": {
			head + "  priority: high\n",
			[]string{`6: spec.priority: expected int32, found string`},
		},
		"a variable that nobody defines": {
			head + "  desiredState:\n    interfaces:\n    - name: eth1\n      mtu: \"{{ var.mtu }}\"\n",
			[]string{`9: spec.desiredState.interfaces[0].mtu: {{ var.mtu }}: spec.variables has no such variable`},
		},
		"a probe without a port": {
			head + "  probes:\n  - type: tcp\n    target: 192.0.2.1\n",
			[]string{`8: spec.probes[0].target: "192.0.2.1": want host:port`},
		},
		"the second of two documents": {
			head + "  desiredState: {}\n---\ninterfaces:\n- name: eth1\n  mtu: large\n",
			[]string{`10: interfaces[0].mtu: expected a whole number, found "large"`},
		},
		"a key that is there twice": {head + "  mode: Plan\n  mode: Apply\n", []string{`7: mapping key "mode" already defined at line 6`}},
		"no YAML":                   {"a: [\n", []string{"1: did not find expected node content"}},
		"a kind that is not ours":   {"apiVersion: v1\nkind: Pod\nspec: {}\n", nil},
		"nothing, and a blank rest": {"---\n---\n", nil},
		"the state of a node by hand": {
			"apiVersion: nmstate.io/v1\nkind: NodeNetworkState\nmetadata: {name: node1}\nspec:\n  desiredState: {routs: {}}\n",
			[]string{`5: spec.desiredState: unknown key "routs", did you mean "routes"?`},
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			var got []string
			for _, finding := range Text([]byte(tc.text)).Findings {
				got = append(got, finding.String())
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
		})
	}
}

// TestExamples: of the guides' examples only those are refused that say so.
func TestExamples(t *testing.T) {
	files, err := filepath.Glob("../../docs/examples/*.yaml")
	if err != nil || len(files) == 0 {
		t.Fatalf("found no examples: %v", err)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(string(text), "kind: NodeNetworkConfigurationPolicy") || strings.Contains(string(text), "# Lab: Failing") {
			continue
		}
		if found := Text(text); len(found.Findings) > 0 || found.Checked == 0 {
			t.Errorf("%s: %d documents, %v", file, found.Checked, found.Findings)
		}
	}
}
