// Command coredns is CoreDNS with the plugins that kubeadm's Corefile names.
// Upstream's program has four times as many, whose cloud SDKs would be most of
// its build. It owns nothing of its own.
package main
