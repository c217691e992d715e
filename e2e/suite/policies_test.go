//go:build linux

package suite

import (
	"fmt"
	"strings"
)

// window is the probe window of the policies here, in seconds.
const window = 6

// bridgePolicy moves eth1 under a bridge with an address and a route.
func bridgePolicy(address string) string {
	return fmt.Sprintf(`
apiVersion: nmstate.io/v1
kind: NodeNetworkConfigurationPolicy
metadata: {name: bridge}
spec:
  probeTimeoutSeconds: %d
  desiredState:
    interfaces:
    - name: br1
      type: linux-bridge
      state: up
      ipv4:
        enabled: true
        dhcp: false
        address: [{ip: %s, prefix-length: 24}]
      bridge:
        options: {stp: {enabled: false}}
        port: [{name: eth1, vlan: {}}]
    routes:
      config:
      - {destination: 198.51.100.0/24, next-hop-address: 203.0.113.1, next-hop-interface: br1, metric: 150}
`, window, address)
}

// bridged are the marks of bridgePolicy in the kernel.
func bridged(address string) [][]string {
	return [][]string{
		{`link {`, `"ifname":"br1"`, `"info_kind":"bridge"`},
		{`link {`, `"ifname":"eth1"`, `"master":"br1"`},
		{`address {`, `"ifname":"br1"`, `"local":"` + address + `"`},
		{`route {`, `"dst":"198.51.100.0/24"`, `"gateway":"203.0.113.1"`},
	}
}

// cutOffPolicy gives the NIC that carries the API server an address from which
// it is out of reach.
func cutOffPolicy() string {
	return fmt.Sprintf(`
apiVersion: nmstate.io/v1
kind: NodeNetworkConfigurationPolicy
metadata: {name: cut-off}
spec:
  maxUnavailable: 1
  probeTimeoutSeconds: %d
  desiredState:
    interfaces:
    - name: eth0
      type: ethernet
      state: up
      ipv4:
        enabled: true
        dhcp: false
        address: [{ip: 203.0.113.99, prefix-length: 24}]
`, window)
}

// manyPolicy takes seconds to apply: that many bridges.
func manyPolicy(bridges int) string {
	var b strings.Builder
	fmt.Fprintf(&b, `
apiVersion: nmstate.io/v1
kind: NodeNetworkConfigurationPolicy
metadata: {name: many}
spec:
  probeTimeoutSeconds: %d
  desiredState:
    interfaces:
`, window)
	for i := range bridges {
		fmt.Fprintf(&b, `
    - name: many%d
      type: linux-bridge
      state: up
      ipv4: {enabled: true, dhcp: false, address: [{ip: 10.20.%d.1, prefix-length: 24}]}
      bridge: {options: {stp: {enabled: false}}, port: []}
`, i, i)
	}
	return b.String()
}
