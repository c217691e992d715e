package state

func linuxBridgeSchema() *schema {
	port := listOf(keyed(
		all(aText, "name"),
		all(aBool, "stp-hairpin-mode"),
		each(between(0, 65535), "stp-path-cost"),
		each(between(0, 63), "stp-priority"),
		keys{"vlan": portVLANSchema()},
	).needs("name"))
	return keyed(
		all(aFlag, "allow-extra-ports"),
		keys{"port": port, "ports": alias("port", port), "options": linuxBridgeOptionsSchema()},
	)
}

func linuxBridgeOptionsSchema() *schema {
	return keyed(
		all(aWhole, "hash-max", "mac-ageing-time", "multicast-last-member-count", "multicast-startup-query-count"),
		large(aWhole,
			"multicast-last-member-interval", "multicast-membership-interval", "multicast-querier-interval",
			"multicast-query-interval", "multicast-query-response-interval", "multicast-startup-query-interval",
		),
		large(aNumber, "gc-timer", "hello-timer"),
		each(between(0, 65535), "group-fwd-mask"),
		keys{"vlan-default-pvid": {kind: aNumber, within: &bounds{0, mostVLAN}}},
		all(aBool, "multicast-querier", "multicast-query-use-ifaddr", "multicast-snooping"),
		keys{
			"multicast-router":   words(map[string]string{"0": "disabled", "1": "auto", "2": "enabled"}, "auto", "disabled", "enabled"),
			"group-addr":         of(aMAC),
			"group-forward-mask": alias("group-fwd-mask", between(0, 65535)),
			"vlan-protocol":      vlanProtocol(),
			"stp":                keyed(spanningTree()),
		},
	)
}

func spanningTree() keys {
	return joinKeys(
		all(aBool, "enabled"),
		keys{
			"forward-delay": between(2, 30),
			"hello-time":    between(1, 10),
			"max-age":       between(6, 40),
			"priority":      between(0, 65535),
		},
	)
}

func portVLANSchema() *schema {
	return keyed(
		all(aBool, "enable-native"),
		each(between(0, mostVLAN), "tag"),
		keys{
			"mode": choice("trunk", "access"),
			"trunk-tags": listOf(keyed(
				each(between(0, mostVLAN), "id"), keys{"id-range": keyed(each(between(0, mostVLAN), "min", "max")).needs("min", "max")},
			).hasOneOf("id", "id-range")),
		},
	)
}

func ovsBridgeSchema() *schema {
	bond := ovsBondSchema()
	port := listOf(keyed(
		all(aText, "name"),
		keys{"vlan": portVLANSchema(), "link-aggregation": bond, "bond": alias("link-aggregation", bond)},
	).needs("name"))
	return keyed(
		all(aFlag, "allow-extra-patch-ports", "allow-extra-ports"),
		keys{"port": port, "ports": alias("port", port), "options": keyed(
			all(aBool, "rstp", "mcast-snooping-enable"),
			all(aText, "fail-mode", "datapath"),
			keys{"stp": switchOr(spanningTree())},
		)},
	)
}

func ovsBondSchema() *schema {
	port := listOf(keyed(all(aText, "name")).needs("name"))
	return keyed(
		all(aWhole, "bond-downdelay", "bond-updelay"),
		keys{
			"mode": choice("active-backup", "balance-slb", "balance-tcp", "lacp"),
			"port": port, "ports": alias("port", port),
			"ovs-db": ovsDBSchema(),
		},
	)
}

func dpdkSchema() *schema {
	return keyed(
		all(aText, "devargs"),
		all(aNumber, "rx-queue", "n_rxq_desc", "n_txq_desc"),
		all(aFlag, "lsc-interrupt"),
		keys{"n_rxq": alias("rx-queue", of(aNumber)), "dpdk-lsc-interrupt": alias("lsc-interrupt", of(aFlag))},
	).needs("devargs")
}
