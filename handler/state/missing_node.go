package state

import "slices"

// dns: a server counts wherever it came from; an empty list asks for none to
// be configured.
func (c *comparison) dns(desired, current State) {
	want := object(object(desired.tree["dns-resolver"])["config"])
	configured, running := current.DNS(), current.RunningDNS()
	c.resolver("server", want, configured.Servers, running.Servers)
	c.resolver("search", want, configured.Search, running.Search)
	c.resolver("options", want, configured.Options, running.Options)
}

func (c *comparison) resolver(key string, want map[string]any, configured, running []string) {
	value, said := want[key]
	if !said || value == nil {
		return
	}
	path := Path{Section: "dns-resolver", Leaf: "config"}.At(key)
	var have []string
	for _, one := range slices.Concat(configured, running) {
		have = append(have, normalIP(one))
	}
	for _, one := range texts(value) {
		if !slices.Contains(have, normalIP(one)) {
			c.add(path, one, "")
		}
	}
	if len(list(value)) == 0 {
		for _, one := range configured {
			c.add(path, "", one)
		}
	}
}

func (c *comparison) hostname(want, got map[string]any) {
	for _, key := range []string{"config", "running"} {
		c.value(Path{Section: "hostname"}.At(key), key, want[key], got[key])
	}
}

// openVSwitch: a key with a value must have it, a key that is null must go.
func (c *comparison) openVSwitch(want, got map[string]any) {
	for _, section := range []string{"external_ids", "other_config"} {
		have := object(got[section])
		wanted := object(want[section])
		for _, key := range sortedKeys(wanted) {
			path := Path{Section: "ovs-db", Leaf: section}.At(key)
			switch {
			case have[key] != nil && isReference(wanted[key]): // Its value is not known here.
			case wanted[key] == nil && have[key] != nil:
				c.add(path, "", text(have[key]))
			case wanted[key] != nil && text(wanted[key]) != text(have[key]):
				c.add(path, text(wanted[key]), text(have[key]))
			}
		}
	}
}

func (c *comparison) ovn(want, got map[string]any) {
	have := map[string]string{}
	for _, mapping := range objects(got["bridge-mappings"]) {
		if text(mapping["state"]) != "absent" {
			have[text(mapping["localnet"])] = text(mapping["bridge"])
		}
	}
	for _, mapping := range objects(want["bridge-mappings"]) {
		network, bridge := text(mapping["localnet"]), text(mapping["bridge"])
		path := Path{Section: "ovn", Leaf: "bridge-mappings"}.entry(network)
		actual, there := have[network]
		switch {
		case text(mapping["state"]) == "absent":
			if there {
				c.add(path, "", actual)
			}
		case actual != bridge:
			c.add(path, bridge, actual)
		}
	}
}
