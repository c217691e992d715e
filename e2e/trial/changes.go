//go:build linux

package trial

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/yaml"

	v1 "github.com/nmstate/kubernetes-nmstate/api/v1"
	"github.com/nmstate/kubernetes-nmstate/e2e/lab"
)

//go:embed changes.yaml
var changes []byte

// Change is one kind of change of an administrator's node.
type Change struct {
	Name string `json:"name"`
	// Bad: the node cannot be reached with it.
	Bad   bool            `json:"bad,omitempty"`
	State json.RawMessage `json:"state"`
}

// Changes are all that there are.
func Changes() ([]Change, error) {
	var all []Change
	if err := yaml.UnmarshalStrict(changes, &all); err != nil {
		return nil, fmt.Errorf("reading the changes: %w", err)
	}
	return all, nil
}

// Named finds a change.
func Named(name string) (Change, error) {
	all, err := Changes()
	if err != nil {
		return Change{}, err
	}
	var names []string
	for _, c := range all {
		if c.Name == name {
			return c, nil
		}
		names = append(names, c.Name)
	}
	return Change{}, fmt.Errorf("no change %q (there are: %s)", name, strings.Join(names, ", "))
}

// Policy makes the change on one node. Each has a name of its own, since a handler
// remembers which change broke its node. It is guarded by a person, who has that
// many seconds; zero: by nobody.
func (c Change) Policy(n *lab.Node, person int32) *v1.NodeNetworkConfigurationPolicy {
	p := &v1.NodeNetworkConfigurationPolicy{ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprintf("trial-%x", time.Now().UnixNano())}}
	p.Spec.NodeSelector = map[string]string{corev1.LabelHostname: n.Name}
	p.Spec.DesiredState = v1.NewState([]byte(strings.ReplaceAll(string(c.State), "NUMBER", number(n))))
	seconds := int32(Window.Seconds())
	p.Spec.ProbeTimeoutSeconds = &seconds
	if person > 0 {
		p.Spec.Probes = []v1.Probe{{Type: v1.ProbeConfirm, TimeoutSeconds: &person}}
	}
	return p
}
