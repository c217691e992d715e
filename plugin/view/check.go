package view

import (
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/version"
)

// oldest Kubernetes that we run on: a handler's token names its node since then.
const oldest = "1.30.0"

// Cluster is what there is before an install.
type Cluster struct {
	// Version of the API server.
	Version string
	// Refused are things that you may not make, such as "daemonsets.apps".
	Refused []string
	Nodes   []corev1.Node
	// Handlers are DaemonSets of this project or the older one, "namespace/name image".
	Handlers []string
	// Kinds: ours are there already; Policies are how many policies there are.
	Kinds    bool
	Policies int
}

// Check is one thing that an install needs.
type Check struct {
	Name string `json:"name"`
	// Result is ok, note or fails.
	Result string `json:"result"`
	Says   string `json:"says"`
	ToDo   string `json:"toDo,omitempty"`
}

// Results of a check.
const (
	CheckOK    = "ok"
	CheckNote  = "note"
	CheckFails = "fails"
)

// PreChecks are what a cluster and its nodes need before an install.
func PreChecks(c Cluster) []Check {
	return []Check{checkVersion(c), checkRights(c), checkOlder(c), checkKinds(c), checkSystems(c), checkControlPlane(c), checkNetworks(c)}
}

func checkVersion(c Cluster) Check {
	check := Check{Name: "Kubernetes", Result: CheckOK, Says: c.Version}
	found, err := version.ParseGeneric(c.Version)
	if err != nil {
		return Check{check.Name, CheckNote, fmt.Sprintf("cannot read the version %q", c.Version), "look whether it is " + oldest + " or newer"}
	}
	if found.LessThan(version.MustParseGeneric(oldest)) {
		check.Result, check.ToDo = CheckFails, "update it to "+oldest+" or newer"
	}
	return check
}

func checkRights(c Cluster) Check {
	if len(c.Refused) > 0 {
		return Check{"your rights", CheckFails, "you may not create " + strings.Join(c.Refused, ", "), "install as an administrator of the cluster"}
	}
	return Check{"your rights", CheckOK, "you may create what an install creates", ""}
}

func checkOlder(c Cluster) Check {
	if len(c.Handlers) > 0 {
		return Check{"other handlers", CheckNote, strings.Join(c.Handlers, ", "), "no node may have two handlers: remove this one first, unless it is the one that you update"}
	}
	return Check{"other handlers", CheckOK, "there are none", ""}
}

func checkKinds(c Cluster) Check {
	if c.Kinds {
		return Check{"kinds of nmstate.io", CheckNote, fmt.Sprintf("they are there, with %d policies", c.Policies), "these policies are taken over; those whose nodes are as they say change nothing"}
	}
	return Check{"kinds of nmstate.io", CheckOK, "they are not there yet", ""}
}

func checkSystems(c Cluster) Check {
	var wrong []string
	count := map[string]int{}
	for i := range c.Nodes {
		info := c.Nodes[i].Status.NodeInfo
		on := info.OperatingSystem + "/" + info.Architecture
		count[on]++
		if on != "linux/amd64" && on != "linux/arm64" {
			wrong = append(wrong, c.Nodes[i].Name+" is "+on)
		}
	}
	switch {
	case len(c.Nodes) == 0:
		return Check{"nodes", CheckFails, "there are none, or you may not list them", "look with: kubectl get nodes"}
	case len(wrong) > 0:
		return Check{"nodes", CheckNote, names(wrong), "the handler's image is for linux/amd64 and linux/arm64; other nodes are left alone"}
	}
	var kinds []string
	for kind, n := range count {
		kinds = append(kinds, fmt.Sprintf("%d %s", n, kind))
	}
	slices.Sort(kinds)
	return Check{"nodes", CheckOK, strings.Join(kinds, ", "), ""}
}

func checkControlPlane(c Cluster) Check {
	for i := range c.Nodes {
		if _, is := c.Nodes[i].Labels["node-role.kubernetes.io/control-plane"]; is {
			return Check{"a place for the controllers", CheckOK, "there are nodes of the control plane", ""}
		}
	}
	return Check{"a place for the controllers", CheckNote, "no node has the label node-role.kubernetes.io/control-plane", "add the component deploy/components/any-node"}
}

// checkNetworks tells what nobody can see from here, and which nodes' systems configure
// networks with something else by default.
func checkNetworks(c Cluster) Check {
	var others []string
	for i := range c.Nodes {
		image := c.Nodes[i].Status.NodeInfo.OSImage
		for _, system := range []string{"Ubuntu", "Flatcar", "Talos", "Bottlerocket", "Container-Optimized"} {
			if strings.Contains(image, system) {
				others = append(others, c.Nodes[i].Name+" has "+image)
			}
		}
	}
	if len(others) > 0 {
		return Check{"NetworkManager", CheckNote, names(others) + ": another program configures networks there by default", "NetworkManager 1.42 or newer has to have the NICs: nmcli device tells"}
	}
	return Check{"NetworkManager", CheckNote, "cannot be seen from here", "it has to be 1.42 or newer on the nodes: nmcli --version; a node without it says so in its NodeNetworkState"}
}

// CheckTable is one line for each.
func CheckTable(checks []Check, paint Paint) []string {
	rows := [][]string{{"CHECK", "RESULT", "SAYS", "TO DO"}}
	for _, c := range checks {
		todo := c.ToDo
		if todo == "" {
			todo = "-"
		}
		rows = append(rows, []string{c.Name, c.Result, c.Says, todo})
	}
	tones := map[string]Tone{CheckOK: Good, CheckNote: Busy, CheckFails: Bad}
	return columns(rows, func(row, column int, text string) string {
		if row > 0 && column == 1 {
			return paint(tones[strings.TrimSpace(text)], text)
		}
		return text
	})
}
