package desired

import (
	"slices"

	v1 "github.com/nmstate/kubernetes-nmstate/api/v1"
	"github.com/nmstate/kubernetes-nmstate/handler/state"
)

// warnings are what a person should look at where a policy is planned or applied.
// rendered is what it says, target what all policies of the node come to.
func (t *turn) warnings(rendered, target state.State) []string {
	var found []string
	if mayRing(rendered) {
		current, _ := t.report()
		found = ringWarnings(rendered, target, current)
	}
	if t.in.State != nil {
		found = append(found, nameServerWarnings(rendered, t.in.State.Status)...)
	}
	return bounded(found)
}

// nameServerWarnings tells of name servers that NetworkManager takes, and writes where
// no program of the node looks: with dns=none or rc-manager=unmanaged it leaves
// /etc/resolv.conf alone. nmstate reads them back from NetworkManager all the same.
func nameServerWarnings(rendered state.State, node v1.NodeNetworkStateStatus) []string {
	dns := rendered.DNS()
	if node.ResolvConfManager != "unmanaged" || len(slices.Concat(dns.Servers, dns.Search, dns.Options)) == 0 {
		return nil
	}
	return []string{"NetworkManager leaves /etc/resolv.conf of this node alone (dns=none or rc-manager=unmanaged in its configuration): " +
		"programs use the name servers of dns-resolver only if something else writes them there"}
}
