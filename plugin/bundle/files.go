package bundle

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/yaml"

	v1 "github.com/nmstate/kubernetes-nmstate/api/v1"
	"github.com/nmstate/kubernetes-nmstate/handler/state"
)

// Objects are what goes into an archive.
type Objects struct {
	Policies   []v1.NodeNetworkConfigurationPolicy
	Enactments []v1.NodeNetworkConfigurationEnactment
	States     []v1.NodeNetworkState
	// Versions of programs, by name.
	Versions map[string]string
	// Logs by pod and container.
	Logs map[string][]byte
	// Missing is what could not be had, one line each.
	Missing []string
}

// Files by their names in the archive.
type Files map[string][]byte

// Names are those of the files, in order.
func (f Files) Names() []string { return slices.Sorted(maps.Keys(f)) }

// FilesOf writes the objects into files. A name that a cluster gave is part of a file's
// name only where the API server has checked it.
func FilesOf(o Objects) (Files, error) {
	files := Files{"README.txt": readme(o)}
	for i := range o.Policies {
		if err := files.add("policies/"+o.Policies[i].Name+".yaml", &o.Policies[i], &o.Policies[i].ObjectMeta, "NodeNetworkConfigurationPolicy"); err != nil {
			return nil, err
		}
	}
	for i := range o.Enactments {
		if err := files.add("enactments/"+o.Enactments[i].Name+".yaml", &o.Enactments[i], &o.Enactments[i].ObjectMeta, "NodeNetworkConfigurationEnactment"); err != nil {
			return nil, err
		}
	}
	for i := range o.States {
		one := o.States[i].DeepCopy()
		one.Spec.Secrets, one.Status.SecretsKey = nil, ""
		if err := files.add("states/"+one.Name+".yaml", one, &one.ObjectMeta, "NodeNetworkState"); err != nil {
			return nil, err
		}
	}
	for name, text := range o.Logs {
		files["logs/"+name+".log"] = text
	}
	return files, nil
}

// add writes an object without what tools have noted and without values of secrets.
func (f Files) add(name string, object any, meta *metav1.ObjectMeta, kind string) error {
	raw, err := json.Marshal(object)
	if err != nil {
		return fmt.Errorf("writing %s %s: %w", kind, meta.Name, err)
	}
	var tree map[string]any
	if err := json.Unmarshal(raw, &tree); err != nil {
		return fmt.Errorf("writing %s %s: %w", kind, meta.Name, err)
	}
	masked, is := state.Masked(tree).(map[string]any)
	if !is {
		return fmt.Errorf("writing %s %s: it is no object", kind, meta.Name)
	}
	masked["apiVersion"], masked["kind"] = v1.GroupVersion.String(), kind
	if said, is := masked["metadata"].(map[string]any); is {
		delete(said, "managedFields")
		if annotations, is := said["annotations"].(map[string]any); is {
			delete(annotations, "kubectl.kubernetes.io/last-applied-configuration")
		}
	}
	text, err := yaml.Marshal(masked)
	if err != nil {
		return fmt.Errorf("writing %s %s: %w", kind, meta.Name, err)
	}
	f[name] = text
	return nil
}

func readme(o Objects) []byte {
	var b strings.Builder
	b.WriteString("A report of kubectl nmstate. Open report.html in a browser; lab from-nns rebuilds nodes of it.\n\nVersions:\n")
	for _, name := range slices.Sorted(maps.Keys(o.Versions)) {
		fmt.Fprintf(&b, "  %s: %s\n", name, o.Versions[name])
	}
	fmt.Fprintf(&b, "\nPolicies: %d, enactments: %d, nodes: %d, logs: %d\n", len(o.Policies), len(o.Enactments), len(o.States), len(o.Logs))
	b.WriteString("\nLeft out: values of secrets, in states and in NodeNetworkStates; managed fields; what kubectl apply has noted.\n")
	for _, line := range o.Missing {
		b.WriteString("Missing: " + line + "\n")
	}
	return []byte(b.String())
}
