// Package network is what lies between the hosts: switches, a gateway, name
// servers, the API server's place, DHCP servers and other targets.
//
// It owns who reaches whom, computed from what each host's kernel would do
// (Stack), and the prober that tells a node's handler. It never changes a host:
// a host asks it for leases and neighbours, and is told of carrier. It knows
// nothing of policies.
//
//	node1 eth0 ─┐                          ┌─ api (or at the gateway)
//	node2 eth0 ─┼─ switch lan ─ gateway ───┼─ other targets
//	   br0 ─ bond0 ─ eth0, eth1            └─ lan2 ─ node201 …
//
// A packet leaves by the rules, the longest prefix and the lowest metric, through a link
// that is up, down its layers (VLAN, bond, bridge) to a NIC in a switch; the next
// hop is whoever answers for the address in that broadcast domain; and
// what arrives must find its way back.
//
// What is not modelled: hosts that forward frames between switches (a bridge of
// a host never joins two switches for others), spanning tree, LACP of the
// switch, VXLAN tunnels, packet sizes, rules of policy routing about marks and
// links of arrival.
package network
