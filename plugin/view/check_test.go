package view

import (
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

func TestPreChecks(t *testing.T) {
	node := func(name, arch, image string) corev1.Node {
		n := corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{"node-role.kubernetes.io/control-plane": ""}}}
		n.Status.NodeInfo = corev1.NodeSystemInfo{OperatingSystem: "linux", Architecture: arch, OSImage: image}
		return n
	}
	good := func() Cluster {
		return Cluster{Version: "v1.37.1", Nodes: []corev1.Node{node("a", "amd64", "Debian"), node("b", "arm64", "Fedora")}}
	}
	tests := map[string]struct {
		change func(*Cluster)
		// want is a line of the table without its columns.
		want string
	}{
		"a cluster that is good":         {func(*Cluster) {}, "Kubernetes ok v1.37.1 -"},
		"its nodes":                      {func(*Cluster) {}, "nodes ok 1 linux/amd64, 1 linux/arm64 -"},
		"what nobody can see":            {func(*Cluster) {}, "NetworkManager note cannot be seen from here"},
		"an old Kubernetes":              {func(c *Cluster) { c.Version = "v1.29.4+k3s1" }, "Kubernetes fails v1.29.4+k3s1 update it to 1.30.0"},
		"a version that nobody can read": {func(c *Cluster) { c.Version = "main" }, `Kubernetes note cannot read the version "main"`},
		"too few rights":                 {func(c *Cluster) { c.Refused = []string{"daemonsets.apps"} }, "your rights fails you may not create daemonsets.apps"},
		"the older project's handler":    {func(c *Cluster) { c.Handlers = []string{"nmstate/nmstate-handler quay.io/x"} }, "other handlers note nmstate/nmstate-handler quay.io/x"},
		"the older project's policies":   {func(c *Cluster) { c.Kinds, c.Policies = true, 3 }, "kinds of nmstate.io note they are there, with 3 policies"},
		"a node of another kind":         {func(c *Cluster) { c.Nodes[1] = node("b", "s390x", "") }, "nodes note b is linux/s390x"},
		"no nodes":                       {func(c *Cluster) { c.Nodes = nil }, "nodes fails there are none"},
		"a hosted control plane":         {func(c *Cluster) { c.Nodes[0].Labels, c.Nodes[1].Labels = nil, nil }, "a place for the controllers note no node has the label"},
		"a system with another program":  {func(c *Cluster) { c.Nodes[1] = node("b", "amd64", "Ubuntu 24.04") }, "NetworkManager note b has Ubuntu 24.04"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			c := good()
			tc.change(&c)
			table := CheckTable(PreChecks(c), NoPaint)
			for i, line := range table {
				table[i] = strings.Join(strings.Fields(line), " ")
			}
			if text := strings.Join(table, "\n"); !strings.Contains(text, tc.want) {
				t.Errorf("%q is not in:\n%s", tc.want, text)
			}
		})
	}
}
