package state

import "math"

// bondModes are the modes by name, by their second name and by number.
func bondModes() *schema {
	return choice(
		"balance-rr", "active-backup", "balance-xor", "broadcast", "802.3ad", "balance-tlb", "balance-alb",
		"lacp", "unknown", "0", "1", "2", "3", "4", "5", "6",
	)
}

func bondSchema() *schema {
	return keyed(keys{
		"mode":    bondModes(),
		"port":    listOf(of(aText)),
		"ports":   listOf(of(aText)),
		"options": bondOptionsSchema(),
		"ports-config": listOf(keyed(
			all(aText, "name"), all(aSigned, "priority"), each(between(0, 65535), "queue-id"),
		)),
	})
}

// bondOptionsSchema leaves the options' words to nmstate: most are accepted by
// name and by number.
func bondOptionsSchema() *schema {
	return keyed(
		all(aWhole,
			"arp_interval", "downdelay", "lp_interval", "miimon", "min_links", "updelay",
		),
		each(between(0, 255), "num_grat_arp", "num_unsol_na", "resend_igmp", "arp_missed_max"),
		each(between(0, 65535), "ad_actor_sys_prio", "packets_per_slave"),
		each(between(0, 1023), "ad_user_port_key"),
		all(aBool, "tlb_dynamic_lb", "use_carrier", "balance_slb", "balance-slb", "lacp_active"),
		all(aText, "ad_actor_system", "arp_ip_target", "primary"),
		all(aScalar,
			"ad_select", "all_slaves_active", "arp_all_targets", "arp_validate", "fail_over_mac", "lacp_rate",
			"primary_reselect", "xmit_hash_policy",
		),
		keys{"ns_ip6_target": listOf(of(anIP))},
	)
}

func vrfSchema() *schema {
	return keyed(
		each(between(0, math.MaxUint32), "route-table-id"),
		keys{"port": listOf(of(aText)), "ports": listOf(of(aText))},
	)
}

func hsrSchema() *schema {
	return keyed(
		all(aText, "port1", "port2", "interlink", "supervision-address"),
		all(aNumber, "multicast-spec"),
		keys{"protocol": choice("hsr", "hsr-2010", "hsr-2012", "prp")},
	)
}
