#!/bin/bash
# Joins the cluster, and gives the node the network for its pods once it has a range.
set -euo pipefail

kubeadm join --config /kind/join.yaml
export KUBECONFIG=/etc/kubernetes/kubelet.conf
until range=$(kubectl get node "$(hostname)" -o jsonpath='{.spec.podCIDR}') && [ -n "$range" ]; do sleep 1; done
sed "s#@RANGE@#$range#" /kind/pods.conflist >/etc/cni/net.d/10-pods.conflist
