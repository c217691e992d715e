package state

func linuxBridgeSchema() *schema {
	port := listOf(keyed(
		all(aText, "name"),
		all(aBool, "stp-hairpin-mode"),
		all(aWhole, "stp-path-cost", "stp-priority"),
		keys{"vlan": portVLANSchema()},
	))
	return keyed(
		all(aFlag, "allow-extra-ports"),
		keys{"port": port, "ports": port, "options": linuxBridgeOptionsSchema()},
	)
}

func linuxBridgeOptionsSchema() *schema {
	return keyed(
		all(aText, "group-addr"),
		all(aWhole,
			"group-forward-mask", "group-fwd-mask", "hash-max", "mac-ageing-time",
			"multicast-last-member-count", "multicast-last-member-interval", "multicast-membership-interval",
			"multicast-querier-interval", "multicast-query-interval", "multicast-query-response-interval",
			"multicast-startup-query-count", "multicast-startup-query-interval",
		),
		all(aNumber, "gc-timer", "hello-timer", "vlan-default-pvid"),
		all(aBool, "multicast-querier", "multicast-query-use-ifaddr", "multicast-snooping"),
		all(aScalar, "multicast-router"),
		keys{
			"vlan-protocol": vlanProtocol(),
			"stp":           keyed(spanningTree()),
		},
	)
}

func spanningTree() keys {
	return joinKeys(
		all(aBool, "enabled"),
		all(aWhole, "forward-delay", "hello-time", "max-age", "priority"),
	)
}

func portVLANSchema() *schema {
	return keyed(
		all(aBool, "enable-native"),
		all(aWhole, "tag"),
		keys{
			"mode": choice("trunk", "access"),
			"trunk-tags": listOf(keyed(
				all(aWhole, "id"), keys{"id-range": keyed(all(aWhole, "min", "max"))},
			)),
		},
	)
}

func ovsBridgeSchema() *schema {
	bond := ovsBondSchema()
	port := listOf(keyed(
		all(aText, "name"),
		keys{"vlan": portVLANSchema(), "link-aggregation": bond, "bond": bond},
	))
	return keyed(
		all(aFlag, "allow-extra-patch-ports", "allow-extra-ports"),
		keys{"port": port, "ports": port, "options": keyed(
			all(aBool, "rstp", "mcast-snooping-enable"),
			all(aText, "fail-mode", "datapath"),
			keys{"stp": switchOr(spanningTree())},
		)},
	)
}

func ovsBondSchema() *schema {
	port := listOf(keyed(all(aText, "name")))
	return keyed(
		all(aWhole, "bond-downdelay", "bond-updelay"),
		keys{
			"mode": choice("active-backup", "balance-slb", "balance-tcp", "lacp"),
			"port": port, "ports": port,
			"ovs-db": ovsDBSchema(),
		},
	)
}

func dpdkSchema() *schema {
	return keyed(
		all(aText, "devargs"),
		all(aNumber, "rx-queue", "n_rxq", "n_rxq_desc", "n_txq_desc"),
		all(aFlag, "lsc-interrupt", "dpdk-lsc-interrupt"),
	)
}
