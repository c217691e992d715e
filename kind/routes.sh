#!/bin/sh
# Pods speak with each other under their own addresses, and with others under
# the node's.
pods=10.244.0.0/16
iptables -t nat -C POSTROUTING -s $pods ! -d $pods -j MASQUERADE 2>/dev/null ||
	iptables -t nat -A POSTROUTING -s $pods ! -d $pods -j MASQUERADE
