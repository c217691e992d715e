// Package kind shows on a kind cluster what the product promises to who
// installs it: the manifests of deploy/, real pods of the images, a real
// kubelet, kube-apiserver and scheduler, nodes with systemd and NetworkManager.
//
//	test ── kubectl apply -k deploy ──► kube-apiserver
//	  │                                     ▲ eth0
//	  │            ┌─ node ─────────────────┴──────────────┐
//	  ├─ strikes ──┤ kubelet ► pod: handler ► NetworkManager│
//	  ├─ reads ────┤                       kernel ◄┘        │
//	  └─ pings ────┴────────────────────────────────────────┘ (from another node)
//
// Everything in it is a test. It takes a cluster and never makes one: the file
// that NMSTATE_KIND_ENV names has KUBECONFIG and DOCKER_HOST, as kind/ writes
// it. The nodes are docker containers of the same names, read and struck by
// docker exec. Beside docker the suite needs nothing on the machine that runs
// it: kubectl is the control-plane node's.
//
// A spec leaves the cluster as it was, with the product installed and no
// policies; what a failed one leaves behind is copied to artifacts/e2e first.
// Figures are printed at the end and written to artifacts/e2e/figures.txt.
//
//	NMSTATE_KIND_ENV=$PWD/out/kind/env go test ./e2e/kind -v -ginkgo.label-filter rollout
package kind
