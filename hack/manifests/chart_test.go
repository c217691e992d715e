package manifests

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	utilyaml "k8s.io/apimachinery/pkg/util/yaml"

	"github.com/nmstate/kubernetes-nmstate/e2e/install"
)

const root = "../.."

// renderer is Helm's own engine, built from a module of its own.
func renderer(t *testing.T) string {
	t.Helper()
	program := filepath.Join(t.TempDir(), "rendered")
	build := exec.CommandContext(t.Context(), "go", "build", "-trimpath", "-o", program, "./rendered")
	build.Dir = filepath.Join(root, "hack", "release")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("building hack/release/rendered: %v\n%s", err, out)
	}
	return program
}

// render is what Helm makes of the chart, by kind and name.
func render(t *testing.T, program, namespace, values string) (map[string]map[string]any, string) {
	t.Helper()
	file := filepath.Join(t.TempDir(), "values.yaml")
	if err := os.WriteFile(file, []byte(values), 0o600); err != nil {
		t.Fatal(err)
	}
	var failure bytes.Buffer
	command := exec.CommandContext(t.Context(), program, filepath.Join(root, chart), namespace, file)
	command.Stderr = &failure
	out, err := command.Output()
	if err != nil {
		return nil, failure.String()
	}
	found := map[string]map[string]any{}
	decoder := utilyaml.NewYAMLOrJSONDecoder(strings.NewReader(string(out)), 4096)
	for {
		object := &unstructured.Unstructured{}
		if err := decoder.Decode(&object.Object); err != nil {
			break // The end; what is left out is missed below.
		}
		if len(object.Object) > 0 {
			found[object.GetKind()+" "+object.GetName()] = object.Object
		}
	}
	return found, ""
}

// kustomized is what kustomize makes, without the namespace, which Helm does not make.
func kustomized(t *testing.T, lines string) map[string]map[string]any {
	t.Helper()
	folder, err := os.MkdirTemp(root+"/out", "chart-") // Kustomize wants relative paths.
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(folder) })
	text := "apiVersion: kustomize.config.k8s.io/v1beta1\nkind: Kustomization\n" + lines
	if err := os.WriteFile(filepath.Join(folder, "kustomization.yaml"), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	objects, err := install.Build(folder)
	if err != nil {
		t.Fatal(err)
	}
	found := map[string]map[string]any{}
	for _, object := range objects {
		if object.GetKind() != "Namespace" {
			found[object.GetKind()+" "+object.GetName()] = object.Object
		}
	}
	return found
}

func TestTheChartMakesWhatKustomizeMakes(t *testing.T) {
	program := renderer(t)
	if err := os.MkdirAll(root+"/out", 0o755); err != nil {
		t.Fatal(err)
	}
	for sentence, c := range map[string]struct{ values, kustomization string }{
		"as it is":            {"{}", "resources: [../../deploy]"},
		"in centralized mode": {"mode: centralized", "resources: [../../deploy/overlays/centralized]"},
		"with commands":       {"allowCommands: true", "resources: [../../deploy]\ncomponents: [../../deploy/components/commands]"},
		"with Secrets":        {"secrets: true", "resources: [../../deploy]\ncomponents: [../../deploy/components/secrets]"},
		"with the page for a team": {
			"page: {enabled: true, extraArgs: [--read-only=false]}", `resources: [../../deploy]
components: [../../deploy/components/page]
patches:
- target: {kind: Deployment, name: nmstate-page}
  patch: |-
    - {op: add, path: /spec/template/spec/containers/0/args/-, value: --read-only=false}`,
		},
		"the controllers on any node": {
			"controllers: {affinity: {nodeAffinity: null}}", "resources: [../../deploy]\ncomponents: [../../deploy/components/any-node]",
		},
		"with images of another place": {
			"image: {prefix: registry.example/net, tag: v1}", `resources: [../../deploy]
images:
- {name: localhost/kubernetes-nmstate/handler, newName: registry.example/net/handler, newTag: v1}
- {name: localhost/kubernetes-nmstate/controllers, newName: registry.example/net/controllers, newTag: v1}`,
		},
		"with other arguments": {
			"logLevel: debug\ndnsProbeHost: example.com\ncontrollers: {extraArgs: [--node-grace=1h]}\nhandler: {tolerations: null, metricsPort: 9999}", `resources: [../../deploy]
patches:
- target: {kind: Deployment}
  patch: |-
    - {op: add, path: /spec/template/spec/containers/0/args/-, value: --log-level=debug}
    - {op: add, path: /spec/template/spec/containers/0/args/-, value: --node-grace=1h}
- target: {kind: DaemonSet}
  patch: |-
    - {op: replace, path: /spec/template/spec/containers/0/args/1, value: "--metrics-bind-address=:9999"}
    - {op: replace, path: /spec/template/spec/containers/0/ports/0/containerPort, value: 9999}
    - {op: remove, path: /spec/template/spec/tolerations}
    - {op: add, path: /spec/template/spec/containers/0/args/-, value: --log-level=debug}
    - {op: add, path: /spec/template/spec/containers/0/args/-, value: --dns-probe-host=example.com}`,
		},
	} {
		t.Run(sentence, func(t *testing.T) {
			made, failure := render(t, program, "nmstate", c.values)
			if failure != "" {
				t.Fatal(failure)
			}
			want := kustomized(t, c.kustomization)
			if difference := cmp.Diff(plainOf(t, want), plainOf(t, made)); difference != "" {
				t.Errorf("(-kustomize +helm):\n%s", difference)
			}
		})
	}
	elsewhere, failure := render(t, program, "net-system", "{secrets: true, page: {enabled: true}}")
	if failure != "" {
		t.Fatal(failure)
	}
	if raw, err := json.Marshal(elsewhere); err != nil || strings.Contains(string(raw), `"namespace":"nmstate"`) {
		t.Errorf("in another namespace something is in the namespace nmstate (%v)", err)
	}
	for values, want := range map[string]string{
		"mode: both":             "mode",
		"handler: {image: {}}":   "image",
		"tolerations: []":        "tolerations",
		"handler: {metrics: 80}": "metrics",
	} {
		if _, failure := render(t, program, "nmstate", values); !strings.Contains(failure, want) {
			t.Errorf("%s: want it refused because of %s, got %s", values, want, failure)
		}
	}
}

// plainOf makes numbers of one kind of the same numbers of another.
func plainOf(t *testing.T, objects map[string]map[string]any) (plain map[string]any) {
	t.Helper()
	raw, err := json.Marshal(objects)
	if err == nil {
		err = json.Unmarshal(raw, &plain)
	}
	if err != nil {
		t.Fatal(err)
	}
	return plain
}
