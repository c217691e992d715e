package state

import "math"

// stateKeys are the top-level keys.
func stateKeys() keys {
	return joinKeys(all(aWord, "description"), keys{
		"interfaces":   listOf(of(anInterface)),
		"hostname":     keyed(all(aWord, "running", "config")),
		"dns-resolver": keyed(keys{"running": resolverSchema(), "config": resolverSchema()}),
		"routes":       keyed(keys{"running": listOf(routeSchema()), "config": listOf(routeSchema())}),
		"route-rules":  keyed(keys{"config": listOf(ruleSchema())}),
		"ovs-db":       ovsDBSchema(),
		"ovn": keyed(keys{"bridge-mappings": listOf(keyed(
			all(aWord, "localnet", "bridge"),
			keys{"state": choice("present", "absent")},
		).needs("localnet"))}),
	})
}

func resolverSchema() *schema {
	return keyed(keys{
		"server":  listOf(of(aWord)),
		"search":  listOf(of(aWord)),
		"options": listOf(of(aWord)),
	})
}

func routeSchema() *schema {
	return keyed(
		all(aWord, "next-hop-interface", "next-hop-address", "source", "vrf-name"),
		all(aNetwork, "destination"),
		each(between(0, math.MaxUint32), "table-id", "cwnd", "initcwnd", "initrwnd", "mtu", "advmss"),
		each(between(0, 256), "weight"),
		all(aSigned, "metric"),
		all(aBool, "quickack", "lock-mtu"),
		keys{
			"state":      choice("absent", "ignore"),
			"route-type": choice("blackhole", "unreachable", "prohibit"),
		},
	)
}

func ruleSchema() *schema {
	return keyed(
		all(aWord, "iif"),
		all(aNetwork, "ip-from", "ip-to"),
		each(between(0, math.MaxUint32), "route-table", "fwmark", "fwmask"),
		all(aNumber, "suppress-prefix-length"),
		all(aSigned, "priority"),
		keys{
			"state":                 choice("absent"),
			"suppress_prefixlength": alias("suppress-prefix-length", of(aNumber)),
			"family":                choice("ipv4", "ipv6", "unknown"),
			"action":                choice("blackhole", "unreachable", "prohibit"),
		},
	)
}

// ovsDBSchema is that of the whole data base and of one interface. A key with
// null is taken away.
func ovsDBSchema() *schema {
	free := mapOf(of(aWord))
	return keyed(keys{"external_ids": free, "other_config": free})
}
