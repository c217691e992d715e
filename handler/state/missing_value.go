package state

// hiddenSecret is what nmstate reports instead of a secret.
const hiddenSecret = "<_password_hid_by_nmstate>"

// sections compares what an interface says apart from addresses and ports,
// which have rules of their own.
func (c *comparison) sections(path Path, want, got Interface) {
	for _, key := range sortedKeys(want.tree) {
		switch key {
		case "name", "type", "state", "controller", "master", "ipv4", "ipv6", "alt-names", "bridge", "link-aggregation", "bond":
		case "vrf":
			c.value(path.At("vrf.route-table-id"), "route-table-id", object(want.tree["vrf"])["route-table-id"], object(got.tree["vrf"])["route-table-id"])
		case dispatchKey:
			c.scripts(path.At(key), object(want.tree[key]), object(got.tree[key]))
		case "ethernet":
			c.ethernet(path.At("ethernet"), object(want.tree[key]), object(got.tree[key]))
		case "mtu", "mac-address":
			if isUserspace(want.Type) && got.tree[key] == nil {
				continue
			}
			c.value(path.At(key), key, want.tree[key], got.tree[key])
		default:
			c.value(path.At(key), key, want.tree[key], got.tree[key])
		}
	}
}

// scripts that are not there are what an empty text asks for.
func (c *comparison) scripts(path Path, want, got map[string]any) {
	for _, when := range Dispatches() {
		wanted, said := want[string(when)]
		if said && text(wanted) != text(got[string(when)]) {
			c.add(path.At(string(when)), text(wanted), text(got[string(when)]))
		}
	}
}

func (c *comparison) ethernet(path Path, want, got map[string]any) {
	negotiated, _ := truth(want["auto-negotiation"])
	for _, key := range sortedKeys(want) {
		if negotiated && (key == "speed" || key == "duplex") {
			continue
		}
		c.value(path.At(key), key, want[key], got[key])
	}
}

// isWriteOnly tells the keys that nmstate does not report, reports in another
// form, or takes for a hint.
func isWriteOnly(key string) bool {
	switch key {
	case "identifier", "copy-mac-from", "wait-ip", "profile-name", "driver", "min-mtu", "max-mtu",
		"permanent-mac-address", "pci-address", "802.1x", "libreswan", "neighbors",
		"max-vfs", "iface-name", "mka-cak", "mka-ckn", "psk",
		"allow-extra-ports", "allow-extra-patch-ports", "allow-extra-address",
		"gc-timer", "hello-timer", "pkey":
		return true
	}
	return false
}

// isEssential tells the keys whose absence from a report is a difference.
func isEssential(key string) bool {
	switch key {
	case "mtu", "mac-address", "id", "base-iface", "route-table-id", "total-vfs", "remote", "peer", "port1", "port2":
		return true
	}
	return false
}

// namesInterface tells the keys whose value is an interface's name.
func namesInterface(key string) bool {
	switch key {
	case "base-iface", "port1", "port2", "interlink":
		return true
	}
	return false
}

// value compares what desired says under a key with what current reports.
func (c *comparison) value(path Path, key string, want, got any) {
	if want == nil || isWriteOnly(key) {
		return
	}
	switch want := want.(type) {
	case map[string]any:
		c.tree(path, want, object(got))
	case []any:
		c.list(path, want, got)
	default:
		if namesInterface(key) {
			c.scalar(path, key, c.kernelName(text(want)), got)
			return
		}
		c.scalar(path, key, want, got)
	}
}

func (c *comparison) tree(path Path, want, got map[string]any) {
	for _, key := range sortedKeys(want) {
		have := got[key]
		if key == "accept-all-mac" || key == "promiscuous" {
			have = firstOf(got, "promiscuous", "accept-all-mac")
		}
		c.value(path.At(key), key, want[key], have)
	}
}

func (c *comparison) scalar(path Path, key string, want, got any) {
	switch {
	case got == nil:
		if isEssential(key) && shown(want) != "" {
			c.add(path, shown(want), "")
		}
	case text(want) == hiddenSecret || text(got) == hiddenSecret || isReference(want):
	case !Same(want, got):
		c.add(path, shown(want), shown(got))
	}
}

// list compares lists as sets: of scalars by value, of objects by their key.
func (c *comparison) list(path Path, want []any, got any) {
	have, reported := got.([]any)
	if !reported {
		return
	}
	for _, item := range want {
		tree := object(item)
		if tree == nil {
			if !holds(have, item) {
				c.add(path, shown(item), "")
			}
			continue
		}
		at := path.entry(itemKey(tree))
		key := naturalKey(tree)
		there := itemNamed(have, key, text(tree[key]))
		if there == nil {
			c.add(at, wholeEntry, "")
			continue
		}
		c.tree(at, tree, there)
	}
}

func holds(items []any, wanted any) bool {
	for _, item := range items {
		if Same(wanted, item) {
			return true
		}
	}
	return false
}

func itemNamed(items []any, key, name string) map[string]any {
	for _, item := range items {
		if tree := object(item); tree != nil && Same(tree[key], name) {
			return tree
		}
	}
	return nil
}

func isBool(value any) bool {
	_, is := value.(bool)
	return is
}
