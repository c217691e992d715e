package profiles

import "strings"

// keyfile is what a profile's file says, by section and key (GLib's key file
// format: https://networkmanager.dev/docs/api/latest/nm-settings-keyfile.html).
type keyfile map[string]map[string]string

// parse reads what it understands; a line that is none of the format's is
// passed over, as NetworkManager does.
func parse(content []byte) keyfile {
	k := keyfile{}
	section := ""
	for line := range strings.Lines(string(content)) {
		line = strings.TrimSpace(line)
		if name, ok := strings.CutPrefix(line, "["); ok {
			section = strings.TrimSuffix(name, "]")
			continue
		}
		key, value, ok := strings.Cut(line, "=")
		if !ok || strings.HasPrefix(line, "#") {
			continue
		}
		if k[section] == nil {
			k[section] = map[string]string{}
		}
		k[section][strings.TrimSpace(key)] = strings.TrimSpace(value)
	}
	return k
}

func (k keyfile) uuid() string { return k["connection"]["uuid"] }
func (k keyfile) name() string { return k["connection"]["id"] }

// device that the profile is for; empty where another property selects it.
func (k keyfile) device() string { return k["connection"]["interface-name"] }

// kind is NetworkManager's type of the connection.
func (k keyfile) kind() string { return k["connection"]["type"] }

// controller is the UUID or the interface of what it is a port of. The key has
// another name since NetworkManager 1.46.
func (k keyfile) controller() string {
	if name := k["connection"]["controller"]; name != "" {
		return name
	}
	return k["connection"]["master"]
}

// hasIP tells whether the profile gives its device addresses.
func (k keyfile) hasIP() bool {
	if k.controller() != "" && !strings.HasPrefix(k.kind(), "ovs-") && k.portOf() != "vrf" {
		return false
	}
	return configures(k["ipv4"]["method"]) || configures(k["ipv6"]["method"])
}

func (k keyfile) portOf() string {
	if kind := k["connection"]["port-type"]; kind != "" {
		return kind
	}
	return k["connection"]["slave-type"]
}

func configures(method string) bool {
	switch method {
	case "", "disabled", "ignore", "link-local":
		return false
	}
	return true
}

// isController tells the kinds that have ports.
func (k keyfile) isController() bool {
	switch k.kind() {
	case "bridge", "bond", "team", "vrf", "ovs-bridge", "ovs-port":
		return true
	}
	return false
}

// isPort tells what is a port and has none itself.
func (k keyfile) isPort() bool { return k.controller() != "" && !k.isController() }

// madeUp tells a profile that NetworkManager generated for a device that
// somebody else configured.
func (k keyfile) madeUp() bool {
	meta := k[".nmmeta"]
	return meta["nm-generated"] == "true" || meta["volatile"] == "true" || meta["external"] == "true"
}

// shadows is the file on disk that a profile in RunDir hides; empty for none.
func (k keyfile) shadows() string { return k[".nmmeta"]["shadowed-storage"] }
