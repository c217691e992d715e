// Package install installs the product on a cluster as kubectl apply -k does,
// and takes it away again.
//
// It owns building a kustomization of deploy/ and putting its objects onto an
// API server and off it. It never waits for pods: what they do is for those who
// have a cluster with nodes.
//
//	deploy/ ──Build──► objects ──Apply──► API server ──Remove──► as before
package install
