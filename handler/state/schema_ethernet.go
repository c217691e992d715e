package state

func ethernetSchema() *schema {
	return keyed(
		all(aBool, "auto-negotiation"),
		all(aWhole, "speed"),
		keys{"duplex": choice("full", "half"), "sr-iov": sriovSchema()},
	)
}

func sriovSchema() *schema {
	return keyed(
		all(aBool, "drivers-autoprobe"),
		all(aWhole, "total-vfs", "max-vfs"),
		keys{"vfs": listOf(keyed(
			all(aWhole, "id", "min-tx-rate", "max-tx-rate"),
			each(between(0, mostVLAN), "vlan-id"),
			each(between(0, 7), "qos"),
			all(aText, "iface-name"),
			all(aMAC, "mac-address"),
			all(aBool, "spoof-check", "trust"),
			keys{"vlan-proto": vlanProtocol()},
		).needs("id"))},
	)
}

func vlanProtocol() *schema { return choice("802.1q", "802.1ad") }

func ethtoolSchema() *schema {
	return keyed(keys{
		"feature": {kind: aMap, item: of(aBool), first: featureNames()},
		"pause":   keyed(all(aBool, "rx", "tx", "autoneg")),
		"ring": keyed(all(aWhole,
			"rx", "rx-max", "rx-jumbo", "rx-jumbo-max", "rx-mini", "rx-mini-max", "tx", "tx-max",
		)),
		"fec": keyed(all(aBool, "auto"), keys{"mode": choice("off", "rs", "baser", "llrs")}),
		"coalesce": keyed(
			all(aBool, "adaptive-rx", "adaptive-tx"),
			all(aWhole,
				"pkt-rate-high", "pkt-rate-low", "sample-interval", "stats-block-usecs",
				"rx-frames", "rx-frames-high", "rx-frames-irq", "rx-frames-low",
				"rx-usecs", "rx-usecs-high", "rx-usecs-irq", "rx-usecs-low",
				"tx-frames", "tx-frames-high", "tx-frames-irq", "tx-frames-low",
				"tx-usecs", "tx-usecs-high", "tx-usecs-irq", "tx-usecs-low",
			),
		),
	})
}

func infinibandSchema() *schema {
	return keyed(
		all(aText, "base-iface"),
		each(between(0, 65535), "pkey"),
		keys{"mode": choice("datagram", "connected")},
	).needs("mode", "pkey")
}

// featureNames are ethtool's second names of the kernel's features.
func featureNames() map[string]string {
	return map[string]string{
		"rx": "rx-checksum", "rx-checksumming": "rx-checksum",
		"ufo": "tx-udp-fragmentation",
		"tso": "tx-tcp-segmentation", "tcp-segmentation-offload": "tx-tcp-segmentation",
		"gso": "tx-generic-segmentation", "generic-segmentation-offload": "tx-generic-segmentation",
		"gro": "rx-gro", "generic-receive-offload": "rx-gro",
		"lro": "rx-lro", "large-receive-offload": "rx-lro",
		"rxvlan": "rx-vlan-hw-parse", "rx-vlan-offload": "rx-vlan-hw-parse",
		"txvlan": "tx-vlan-hw-insert", "tx-vlan-offload": "tx-vlan-hw-insert",
		"ntuple": "rx-ntuple-filter", "ntuple-filters": "rx-ntuple-filter",
		"rxhash": "rx-hashing", "receive-hashing": "rx-hashing",
	}
}
