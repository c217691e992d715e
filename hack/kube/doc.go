// Command kube is the programs of the embedded control plane in one file: the
// name that it is called by (or, when that is "kube", its first argument) picks
// which one runs.
//
// It owns nothing of its own: every program's code is Kubernetes' or etcd's. It
// is a module by itself, so that the product does not depend on Kubernetes'
// servers. build.sh builds it and links the names.
package main
