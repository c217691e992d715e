package manifests

import (
	"bytes"
	"fmt"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"text/template"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"

	"github.com/nmstate/kubernetes-nmstate/e2e/install"
)

const chart = "charts/kubernetes-nmstate/"

// programs are the workloads of the chart by the name that its values have for them.
var programs = map[string]string{"DaemonSet": "handler", "Deployment": "controllers"}

// placed are the fields of a pod that values say, with the defaults of deploy/.
var placed = []string{"nodeSelector", "tolerations", "affinity"}

// chartFiles are the templates and the values of the Helm chart: what kustomize makes,
// with values in the place of what people change.
func chartFiles(root string, distributed, centralized []*unstructured.Unstructured) (map[string][]byte, error) {
	var templates bytes.Buffer
	templates.WriteString("{{- /* Made from deploy/ by make generate: do not edit. */}}\n")
	defaults := map[string]map[string]string{}
	for i, object := range distributed {
		program := programs[object.GetKind()]
		if program != "" {
			object = object.DeepCopy()
			var err error
			if defaults[program], err = withValues(object); err != nil {
				return nil, err
			}
		}
		text, err := templateOf(object, program)
		if err != nil {
			return nil, err
		}
		if program == "" && !reflect.DeepEqual(object, centralized[i]) {
			other, err := templateOf(centralized[i], "")
			if err != nil {
				return nil, err
			}
			text = "{{- if eq .Values.mode \"centralized\" }}\n" + other + "{{- else }}\n" + text + "{{- end }}\n"
		}
		templates.WriteString("---\n" + text)
	}
	secrets, err := install.Build(filepath.Join(root, "deploy", "components", "secrets", "role"))
	if err != nil {
		return nil, err
	}
	for _, object := range secrets {
		text, err := templateOf(object, "")
		if err != nil {
			return nil, err
		}
		templates.WriteString("{{- if .Values.secrets }}\n---\n" + text + "{{- end }}\n")
	}
	var page string
	if page, defaults["page"], err = pageTemplates(root); err != nil {
		return nil, err
	}
	templates.WriteString(page)
	var values bytes.Buffer
	if err := template.Must(template.New("values").Parse(valuesText)).Execute(&values, defaults); err != nil {
		return nil, err
	}
	return map[string][]byte{chart + "templates/installed.yaml": templates.Bytes(), chart + "values.yaml": values.Bytes()}, nil
}

// pageTemplates are those of the page for a team, and the defaults of its values.
func pageTemplates(root string) (text string, defaults map[string]string, err error) {
	objects, err := install.Build(filepath.Join(root, "deploy", "components", "page"))
	if err != nil {
		return "", nil, err
	}
	for _, object := range objects {
		program := ""
		if object.GetKind() == "Deployment" {
			program = "page"
			if defaults, err = withValues(object); err != nil {
				return "", nil, err
			}
		}
		one, err := templateOf(object, program)
		if err != nil {
			return "", nil, err
		}
		text += "{{- if .Values.page.enabled }}\n---\n" + one + "{{- end }}\n"
	}
	return text, defaults, nil
}

// withValues puts marks into a workload where values stand in the template, and returns
// the defaults of these.
func withValues(object *unstructured.Unstructured) (map[string]string, error) {
	path := []string{"spec", "template", "spec"}
	pod, _, err := unstructured.NestedMap(object.Object, path...)
	if err != nil {
		return nil, err
	}
	defaults := map[string]string{}
	say := func(fields map[string]any, name string) error {
		text := " {}\n"
		if fields[name] != nil {
			raw, err := yaml.Marshal(fields[name])
			if err != nil {
				return err
			}
			text = "\n" + indent(string(raw), "    ")
		}
		defaults[name], fields[name] = strings.TrimRight(text, "\n"), "@@"+name+"@@"
		return nil
	}
	container := pod["containers"].([]any)[0].(map[string]any)
	for _, name := range placed {
		if err := say(pod, name); err != nil {
			return nil, err
		}
	}
	if err := say(container, "resources"); err != nil {
		return nil, err
	}
	pod["imagePullSecrets"] = "@@imagePullSecrets@@"
	container["image"], container["imagePullPolicy"] = "@@image@@", "@@imagePullPolicy@@"
	args := container["args"].([]any)
	for i, arg := range args {
		if port, is := strings.CutPrefix(arg.(string), "--metrics-bind-address=:"); is {
			args[i], defaults["metricsPort"] = "@@metrics@@", port
		}
	}
	container["args"] = append(args, "@@args@@")
	if object.GetKind() == "DaemonSet" {
		container["volumeMounts"] = append(container["volumeMounts"].([]any), "@@scriptsMount@@")
		pod["volumes"] = append(pod["volumes"].([]any), "@@scriptsVolume@@")
	}
	for _, port := range container["ports"].([]any) {
		if one := port.(map[string]any); one["name"] == "metrics" {
			one["containerPort"] = "@@metricsPort@@"
		}
	}
	return defaults, unstructured.SetNestedMap(object.Object, pod, path...)
}

// marked is a line with a mark of withValues or of templateOf.
var marked = regexp.MustCompile(`(?m)^( *)(.*)'@@(\w+)@@'\n`)

// templateOf is an object as a template, of a program's workload or of neither.
func templateOf(object *unstructured.Unstructured, program string) (string, error) {
	object = object.DeepCopy()
	if object.GetNamespace() != "" {
		object.SetNamespace("@@namespace@@")
	}
	subjects, _, _ := unstructured.NestedSlice(object.Object, "subjects")
	for _, subject := range subjects {
		if fields := subject.(map[string]any); fields["namespace"] != nil {
			fields["namespace"] = "@@namespace@@"
		}
	}
	if len(subjects) > 0 {
		if err := unstructured.SetNestedSlice(object.Object, subjects, "subjects"); err != nil {
			return "", err
		}
	}
	raw, err := yaml.Marshal(object.Object)
	if err != nil {
		return "", fmt.Errorf("printing %s %s: %w", object.GetKind(), object.GetName(), err)
	}
	// A policy's messages speak of templates.
	text := strings.ReplaceAll(string(raw), "{{", `{{ "{{" }}`)
	return marked.ReplaceAllStringFunc(text, func(line string) string {
		found := marked.FindStringSubmatch(line)
		return valueOf(found[1], found[2], found[3], program)
	}), nil
}

// valueOf is what stands in the place of a mark.
func valueOf(space, key, mark, program string) string {
	line := func(value string) string { return space + key + value + "\n" }
	values := ".Values." + program
	switch mark {
	case "namespace":
		return line("{{ .Release.Namespace }}")
	case "image":
		return line(fmt.Sprintf(`{{ %s.image | default (printf "%%s/%s:%%s" .Values.image.prefix (.Values.image.tag | default .Chart.AppVersion)) }}`, values, imageOf(program)))
	case "imagePullPolicy":
		return line("{{ .Values.image.pullPolicy }}")
	case "metrics":
		return line("--metrics-bind-address=:{{ " + values + ".metricsPort }}")
	case "metricsPort":
		return line("{{ " + values + ".metricsPort }}")
	case "args":
		return argsOf(space, program)
	case "scriptsMount":
		return ofCommands(space, "- name: scripts", "  mountPath: "+scriptsDir)
	case "scriptsVolume":
		return ofCommands(space, "- name: scripts", "  hostPath:", "    path: "+scriptsDir, "    type: DirectoryOrCreate")
	case "imagePullSecrets":
		values = ".Values.image.pullSecrets"
	default:
		values += "." + mark
	}
	inner := fmt.Sprint(len(space) + 2)
	return "{{- with " + values + " }}\n" + space + strings.TrimRight(key, " ") + "\n{{- toYaml . | nindent " + inner + " }}\n{{- end }}\n"
}

// imageOf is the image that a program is in.
func imageOf(program string) string {
	if program == "page" {
		return "controllers"
	}
	return program
}

// argsOf are the arguments that some values add.
func argsOf(space, program string) string {
	added := []struct{ condition, arg string }{
		{`if eq .Values.mode "centralized"`, "--mode=centralized"}, {"with .Values.logLevel", "--log-level={{ . }}"},
		{"if .Values.allowCommands", "--allow-commands"},
	}
	switch program {
	case "page":
		added = nil
	case "handler":
		added = append(added, struct{ condition, arg string }{"with .Values.dnsProbeHost", "--dns-probe-host={{ . }}"})
	default:
		added = append(added, struct{ condition, arg string }{"if .Values.secrets", "--secrets-namespace=$(NAMESPACE)"})
	}
	added = append(added, struct{ condition, arg string }{"range .Values." + program + ".extraArgs", "{{ . | quote }}"})
	var text strings.Builder
	for _, one := range added {
		text.WriteString("{{- " + one.condition + " }}\n" + space + "- " + one.arg + "\n{{- end }}\n")
	}
	return text.String()
}

// scriptsDir is where the handler reaches the node's scripts, where these are allowed.
const scriptsDir = "/etc/NetworkManager/dispatcher.d"

// ofCommands are lines that are there only where policies may have commands run.
func ofCommands(space string, lines ...string) string {
	text := "{{- if .Values.allowCommands }}\n"
	for _, line := range lines {
		text += space + line + "\n"
	}
	return text + "{{- end }}\n"
}

func indent(text, space string) string {
	lines := slices.Collect(strings.Lines(text))
	return space + strings.Join(lines, space)
}
