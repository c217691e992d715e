package desired

import (
	"errors"
	"fmt"
	"path"

	"github.com/nmstate/kubernetes-nmstate/handler/state"
)

// DefaultProtected are the names of interfaces that belong to other owners of
// a node's network, as patterns: those of pod networks and of virtual machines.
func DefaultProtected() []string {
	return []string{
		"cali*", "vxlan.calico", "cilium*", "lxc*", "flannel.*", "cni*", "weave*", "antrea-*", // Pod networks.
		"ovn-k8s-mp*", "genev_sys_*", // OVN-Kubernetes.
		"kube-ipvs0", "nodelocaldns", // Services and DNS of the cluster.
		"tap*", "vnet*", // Virtual machines.
	}
}

// CheckProtected tells which pattern cannot be read.
func CheckProtected(patterns []string) error {
	var wrong []error
	for _, pattern := range patterns {
		if _, err := path.Match(pattern, ""); err != nil || pattern == "" {
			wrong = append(wrong, fmt.Errorf("%q is no pattern of interface names, as in \"cali*\"", pattern))
		}
	}
	return errors.Join(wrong...)
}

// Trespass names the first interface in a desired state that a pattern
// protects, be it an entry or a port.
func Trespass(wanted state.State, protected []string) error {
	const advice = "leave it out, or have the pattern taken off --protected-interfaces"
	for _, one := range wanted.Interfaces() {
		if pattern := protectedBy(one.Name, protected); pattern != "" {
			return fmt.Errorf("interfaces[%s] belongs to another owner (protected pattern %q): %s", one.Name, pattern, advice)
		}
		for _, port := range one.Ports() {
			if pattern := protectedBy(port, protected); pattern != "" {
				return fmt.Errorf("interfaces[%s] takes the port %s of another owner (protected pattern %q): %s", one.Name, port, pattern, advice)
			}
		}
	}
	return nil
}

// protectedBy is the pattern that protects the interface, empty for none.
func protectedBy(name string, protected []string) string {
	for _, pattern := range protected {
		if fit, err := path.Match(pattern, name); err == nil && fit {
			return pattern
		}
	}
	return ""
}
