// Package arp asks the hosts of a link's network whether one of them has an IPv4
// address, before this node takes it: two hosts with one address take each other's
// packets. A new NetworkManager asks by itself (1.52 does), and an old one (1.42) takes any
// address.
//
// It owns the question (RFC 5227, an ARP probe): a request from the address 0.0.0.0,
// so that nobody notes anything of the node that asks.
//
// It never announces an address and never changes the network. IPv6 needs none of this:
// there the kernel asks.
package arp
