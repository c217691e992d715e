// Package manifests makes the files that follow from deploy/ and are committed: what
// the operator has embedded, the rights that it needs to install that, and the Helm chart.
//
// It owns their content. It never touches a cluster, and writes nothing itself:
// make generate does, and a test of hack/tidy fails while a file is out of date.
//
//	deploy/overlays/* ──kustomize──► objects ──► controllers/install/manifests/*.yaml
//	                                    ├──────► deploy/operator/rights.yaml
//	                                    └──────► charts/kubernetes-nmstate
package manifests
