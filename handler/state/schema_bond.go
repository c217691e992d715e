package state

import "math"

// bondModes are the modes by name, by their second name and by number.
func bondModes() *schema {
	modes := numbered("balance-rr", "active-backup", "balance-xor", "broadcast", "802.3ad", "balance-tlb", "balance-alb")
	modes.first["lacp"] = "802.3ad"
	modes.values = append(modes.values, "lacp", "unknown")
	return modes
}

func bondSchema() *schema {
	ports := listOf(of(aText))
	return keyed(keys{
		"mode":    bondModes(),
		"port":    ports,
		"ports":   alias("port", ports),
		"options": bondOptionsSchema(),
		"ports-config": listOf(keyed(
			all(aText, "name"), each(between(math.MinInt32, math.MaxInt32), "priority"), each(between(0, 65535), "queue-id"),
		).needs("name")),
	})
}

func bondOptionsSchema() *schema {
	return keyed(
		all(aWhole,
			"arp_interval", "downdelay", "lp_interval", "miimon", "min_links", "updelay",
		),
		each(between(0, 255), "num_grat_arp", "num_unsol_na", "resend_igmp", "arp_missed_max"),
		each(between(0, 65535), "ad_actor_sys_prio", "packets_per_slave"),
		each(between(0, 1023), "ad_user_port_key"),
		all(aBool, "tlb_dynamic_lb", "use_carrier", "balance_slb", "lacp_active"),
		all(aText, "arp_ip_target", "primary"),
		keys{
			"ad_actor_system":   of(aMAC),
			"ad_select":         numbered("stable", "bandwidth", "count"),
			"all_slaves_active": numbered("dropped", "delivered"),
			"arp_all_targets":   numbered("any", "all"),
			"arp_validate":      numbered("none", "active", "backup", "all", "filter", "filter_active", "filter_backup"),
			"balance-slb":       alias("balance_slb", of(aBool)),
			"fail_over_mac":     numbered("none", "active", "follow"),
			"lacp_rate":         numbered("slow", "fast"),
			"ns_ip6_target":     listOf(of(anIP)),
			"primary_reselect":  numbered("always", "better", "failure"),
			"xmit_hash_policy":  numbered("layer2", "layer3+4", "layer2+3", "encap2+3", "encap3+4", "vlan+srcmac"),
		},
	)
}

func vrfSchema() *schema {
	ports := listOf(of(aText))
	return keyed(
		each(between(0, math.MaxUint32), "route-table-id"),
		keys{"port": ports, "ports": alias("port", ports)},
	)
}

func hsrSchema() *schema {
	return keyed(
		all(aText, "port1", "port2", "interlink", "supervision-address"),
		small(255, "multicast-spec"),
		keys{"protocol": words(map[string]string{"hsr-2010": "hsr"}, "hsr", "hsr-2012", "prp")},
	).needs("port1", "port2", "multicast-spec", "protocol")
}
