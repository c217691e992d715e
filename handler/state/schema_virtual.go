package state

// mostVLAN is the last id of a VLAN: 4095 is reserved.
const mostVLAN = 4094

func vlanSchema() *schema {
	qos := listOf(keyed(all(aWhole, "from", "to")).needs("from", "to"))
	return keyed(
		all(aText, "base-iface"),
		each(between(0, mostVLAN), "id"),
		all(aFlag, "reorder-headers", "loose-binding"),
		keys{
			"protocol":              vlanProtocol(),
			"registration-protocol": choice("gvrp", "mvrp", "none"),
			"ingress-qos-map":       qos,
			"egress-qos-map":        qos,
		},
	).needs("id")
}

func vxlanSchema() *schema {
	return keyed(
		all(aText, "base-iface"),
		each(between(0, 1<<24-1), "id"),
		each(between(0, 65535), "destination-port"),
		all(aFlag, "learning"),
		all(anIP, "local", "remote"),
	).needs("id")
}

func macVLANSchema() *schema {
	return keyed(
		all(aText, "base-iface"),
		all(aBool, "promiscuous"),
		keys{"accept-all-mac": alias("promiscuous", of(aBool)), "mode": choice("vepa", "bridge", "private", "passthru", "source", "unknown")},
	).needs("base-iface", "mode")
}

func ipvlanSchema() *schema {
	return keyed(
		all(aText, "base-iface"),
		all(aBool, "private", "vepa"),
		keys{"mode": choice("l2", "l3", "l3s")},
	)
}

func macsecSchema() *schema {
	return keyed(
		all(aText, "base-iface", "mka-cak", "mka-ckn"),
		all(aNumber, "port"),
		all(aFlag, "encrypt", "send-sci"),
		keys{
			"validation": choice("disabled", "check", "strict"),
			"offload":    choice("off", "phy", "mac"),
		},
	).needs("base-iface", "encrypt", "port", "validation", "send-sci")
}

func ipTunnelSchema() *schema {
	return keyed(
		all(aText, "base-iface"),
		all(anIP, "local", "remote"),
		all(aNumber, "flow-label", "fwmark"),
		small(255, "ttl", "tos", "encap-limit"),
		all(aFlag, "pmtu-disc"),
		keys{
			"mode": choice("ipip", "sit", "ip6ip6", "ipip6", "unknown"),
			"ip6tun-flags": listOf(choice(
				"ign-encap-limit", "use-orig-tclass", "use-orig-flowlabel", "mip6-dev", "rcv-dscp-copy", "use-orig-fw-mark",
				"allow-local-remote", "cap-xmit", "cap-rcv", "cap-per-packet",
			)),
		},
	)
}

func libreswanSchema() *schema {
	return keyed(
		all(aText,
			"right", "rightid", "rightrsasigkey", "rightcert", "left", "leftid", "leftrsasigkey", "leftcert", "ikev2",
			"psk", "ikelifetime", "salifetime", "ike", "esp", "dpdaction", "authby", "rightsubnet", "rightsubnets",
			"leftsubnet", "leftsubnets", "leftsendcert", "rightca", "leftprotoport", "rightprotoport",
		),
		large(aWhole, "dpddelay", "dpdtimeout"),
		each(shaped(`^(yes|no|[0-9]{1,9})$`, "yes, no or a whole number, in quotes"), "ipsec-interface"),
		all(aFlag, "nm-auto-defaults", "leftmodecfgclient", "require-id-on-certificate"),
		keys{
			"type":             choice("tunnel", "transport"),
			"hostaddrfamily":   choice("ipv4", "ipv6"),
			"clientaddrfamily": choice("ipv4", "ipv6"),
		},
	).needs("right")
}
