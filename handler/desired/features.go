package desired

import "slices"

// features names what the state uses, in the words of nmstate's own statistic
// (NmstateFeature of the nmstate crate), so that dashboards for the older
// project keep their meaning. Sorted, each once.
func features(tree map[string]any) []string {
	used := map[string]bool{}
	for _, device := range objects(tree["interfaces"]) {
		interfaceFeatures(device, used)
	}
	config := func(section string) map[string]any {
		outer, _ := tree[section].(map[string]any)
		inner, _ := outer["config"].(map[string]any)
		return inner
	}
	dns := config("dns-resolver")
	used["static-dns-name-server"] = has(dns, "server")
	used["static-dns-search"] = has(dns, "search")
	used["static-dns-option"] = has(dns, "options")
	used["static-hostname"] = has(tree, "hostname", "config")
	used["static-route"] = has(tree, "routes", "config")
	used["static-route-rule"] = has(tree, "route-rules", "config")
	used["ovn-mapping"] = has(tree, "ovn", "bridge-mappings")
	used["ovs-db-global"] = has(tree, "ovs-db")
	var names []string
	for name, is := range used {
		if is {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

func interfaceFeatures(device map[string]any, used map[string]bool) {
	mark := func(name string, path ...string) {
		if has(device, path...) {
			used[name] = true
		}
	}
	mark("dhcpv4-custom-hostname", "ipv4", "dhcp-custom-hostname")
	mark("dhcpv6-custom-hostname", "ipv6", "dhcp-custom-hostname")
	mark("lldp", "lldp")
	mark("sriov", "ethernet", "sr-iov")
	mark("mptcp", "mptcp")
	mark("ovs-db-interface", "ovs-db")
	mark("ovs-dpdk", "dpdk")
	mark("ovs-patch", "patch")
	if device["identifier"] == "mac-address" {
		used["mac-based-identifier"] = true
	}
	bridge, _ := device["bridge"].(map[string]any)
	for _, port := range objects(bridge["port"]) {
		if device["type"] == "ovs-bridge" && has(port, "link-aggregation") {
			used["ovs-bond"] = true
		}
	}
}

// has tells whether the tree says anything at the path.
func has(tree map[string]any, path ...string) bool {
	for i, key := range path {
		value, there := tree[key]
		if !there {
			return false
		}
		if i == len(path)-1 {
			return value != nil
		}
		tree, _ = value.(map[string]any)
	}
	return false
}
