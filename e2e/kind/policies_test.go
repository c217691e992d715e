package kind

import (
	"fmt"
	"strings"
)

// window is the probe window of the policies here, in seconds.
const window = 8

// manifest is a policy of that desired state for the nodes that a selector says.
func manifest(name, selector, state string, more ...string) string {
	var b strings.Builder
	fmt.Fprintf(&b, `
apiVersion: nmstate.io/v1
kind: NodeNetworkConfigurationPolicy
metadata: {name: %s}
spec:
  probeTimeoutSeconds: %d
  nodeSelector: {%s}
  variables: {last: {fromLabel: %s, default: "1"}}
`, name, window, selector, lastLabel)
	for _, line := range more {
		fmt.Fprintf(&b, "  %s\n", line)
	}
	fmt.Fprintf(&b, "  desiredState:\n    %s\n", strings.ReplaceAll(strings.TrimSpace(state), "\n", "\n    "))
	return b.String()
}

// last stands for the last number of a node's addresses.
const last = "{{ var.last }}"

// Selectors.
const (
	everywhere = ""
	onWorkers  = workerLabel + `: "yes"`
	onChosen   = chosenLabel + `: "yes"`
)

func on(n *node) string { return "kubernetes.io/hostname: " + n.name }

// Lines of a policy's spec beside its state.
const (
	oneByOne  = "maxUnavailable: 1"
	reverting = "onDelete: Revert"
	// held waits, with everything in place and nothing committed, until a person
	// confirms.
	held = "probes: [{type: confirm, timeoutSeconds: 240}]"
)

// bridge is a bridge with an address, and with ports.
func bridge(name, address string, ports ...string) string {
	var b strings.Builder
	fmt.Fprintf(&b, `
interfaces:
- name: %s
  type: linux-bridge
  state: up
  ipv4: {enabled: true, dhcp: false, address: [{ip: "%s", prefix-length: 24}]}
  bridge:
    options: {stp: {enabled: false}}
    port: [`, name, address)
	for i, port := range ports {
		if i > 0 {
			b.WriteString(", ")
		}
		fmt.Fprintf(&b, "{name: %s, vlan: {}}", port)
	}
	b.WriteString("]\n")
	return b.String()
}

// bridged are the marks of bridge in the kernel.
func bridged(name, address string, ports ...string) [][]string {
	marks := [][]string{
		{"link {", fmt.Sprintf(`"ifname":%q`, name), `"info_kind":"bridge"`},
		{"address {", fmt.Sprintf(`"ifname":%q`, name), local(address)},
	}
	for _, port := range ports {
		marks = append(marks, []string{"link {", fmt.Sprintf(`"ifname":%q`, port), fmt.Sprintf(`"master":%q`, name)})
	}
	return marks
}

// local is the mark of an address in the kernel, whatever its last number if
// that is each node's own.
func local(address string) string {
	if network, of := strings.CutSuffix(address, last); of {
		return `"local":"` + network
	}
	return fmt.Sprintf(`"local":%q`, address)
}

// nic is a NIC with an MTU and an address.
func nic(name string, mtu int, address string) string {
	return fmt.Sprintf(`
interfaces:
- name: %s
  type: ethernet
  state: up
  mtu: %d
  ipv4: {enabled: true, dhcp: false, address: [{ip: "%s", prefix-length: 24}]}
`, name, mtu, address)
}

// sized are the marks of nic in the kernel.
func sized(name string, mtu int, address string) [][]string {
	return [][]string{
		{"link {", fmt.Sprintf(`"ifname":%q`, name), fmt.Sprintf(`"mtu":%d`, mtu)},
		{"address {", fmt.Sprintf(`"ifname":%q`, name), local(address)},
	}
}

// cutOff gives the NIC that carries the API server an address from which it is
// out of reach.
const cutOff = `
interfaces:
- name: eth0
  type: ethernet
  state: up
  ipv4: {enabled: true, dhcp: false, address: [{ip: 203.0.113.99, prefix-length: 24}]}
`

// many takes seconds to apply: that many bridges.
func many(bridges int) string {
	var b strings.Builder
	b.WriteString("interfaces:\n")
	for i := range bridges {
		fmt.Fprintf(&b, `
- name: %s-many%d
  type: linux-bridge
  state: up
  ipv4: {enabled: true, dhcp: false, address: [{ip: 10.20.%d.1, prefix-length: 24}]}
  bridge: {options: {stp: {enabled: false}}, port: []}
`, prefix, i, i)
	}
	return b.String()
}
