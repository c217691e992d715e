# Everything that is done with this repository, in short targets; the steps
# themselves are scripts in hack/, which can be run without make.

SHELL := /bin/bash
MAKEFLAGS += --no-print-directory
.DEFAULT_GOAL := help
.PHONY: golden help deps build libnmstate control-plane noderoot vmroot images generate verify lint test test-unit test-integration sim sim-long bench bench-compare demo demo-down kind-parts kind-up kind-down e2e e2e-vm release clean

help: ## Print this list.
	@echo "make TARGET, where TARGET is one of"
	@awk -F ':.*## ' '/^[a-z][a-z0-9-]*:.*## / { printf "  %-18s %s\n", $$1, $$2 }' Makefile
	@echo "What takes long is built once, in $${XDG_CACHE_HOME:-$$HOME/.cache}/kubernetes-nmstate."

deps: ## Install what is needed from the distribution (Debian, Fedora; needs root).
	@hack/install-deps.sh

build: ## Build bin/handler (with libnmstate), bin/controllers, bin/kubectl-nmstate, bin/lab and bin/control-plane.
	@hack/build.sh handler controllers kubectl-nmstate lab control-plane

libnmstate: ## Find the system's libnmstate, or build it from its crate (3 minutes, once).
	@hack/libnmstate.sh

control-plane: ## Find, fetch or build kube-apiserver and etcd (building takes 10 minutes, once).
	@hack/build.sh control-plane
	@bin/control-plane programs

noderoot: ## Make the root file systems of lab nodes, with NetworkManager 1.52 and 1.42 (Debian; needs root).
	@hack/noderoot.sh 1.52
	@hack/noderoot.sh 1.42

vmroot: ## Make the kernel, the disk and the QEMU of lab up --vm (5 minutes, once; Debian, root).
	@hack/noderoot.sh qemu
	@hack/vmroot.sh "$$(hack/noderoot.sh vm)"

images: ## Build the images of handler and controllers, in docker or podman where one answers (Linux).
	@hack/images.sh

generate: ## Generate deep copies, deploy/crds, nmstate's tables and what follows from deploy/.
	@hack/generate.sh

golden: ## Write the files anew that tests compare with: read git diff then, which says what a change does.
	@hack/golden.sh

verify: ## Check that generated code, formatting, go vet, go.mod and Cargo.lock are in order.
	@hack/verify.sh

lint: ## Run golangci-lint (built once, 2 minutes).
	@hack/lint.sh

test: ## Run everything that this machine can run; say at the end what was skipped and why.
	@hack/test.sh unit integration

test-unit: ## Run the tests that need neither root nor cgo nor Linux, in a minute.
	@hack/test.sh unit

test-integration: ## Run the tests on libnmstate, the embedded control plane and the lab (Linux, root).
	@hack/test.sh integration

sim: ## Run thousands of simulated clusters in which everything goes wrong (10 minutes, two cores).
	@hack/sim.sh

sim-long: ## The same for a night: ten times the seeds, longer runs, 5,000 nodes.
	@LONG=1 hack/sim.sh

bench: ## Measure on the lab: time, outages, requests, large changes, each beside its goal (Linux, root).
	@hack/bench.sh

bench-compare: ## Measure BASE=COMMIT and this checkout in turn, and tell what differs by more than noise.
	@hack/bench-compare.sh $(BASE)

demo: ## Show a policy applied, one that cuts a node off rolled back, and one that a power cut forgets (Linux, root; KEEP=1 stays up).
	@hack/demo.sh

demo-down: ## End a demo that was kept with KEEP=1.
	@bin/demo down

kind-parts: ## Build what kind nodes are made of: Kubernetes, containerd, Debian with NetworkManager (10 minutes, once).
	@hack/kube/build.sh --cluster
	@hack/noderoot.sh kind

kind-up: ## Make a kind cluster with this checkout's images and deploy/ in it (kind/kind.sh --help).
	@IMAGE_ENGINE=none hack/images.sh
	@kind/kind.sh up

kind-down: ## Take that cluster away, with all that came with it.
	@kind/kind.sh down

e2e: ## Run the end-to-end suite on a kind cluster (FOCUS=REGEXP runs some, KEEP=1 keeps the cluster) (VM=1: power cuts too, ten minutes).
	@kind/e2e.sh

e2e-vm: ## Run on a full kernel, in QEMU, the scenarios and tutorials that this machine's may lack (bond, VLAN, ...; ALL=1: all scenarios).
	@NMSTATE_VM=1 TIMEOUT=$(if $(ALL),12h,2h) $(if $(ALL),NMSTATE_ALL_SCENARIOS=1) RUN='VM|OnTheLab|EachTopology|TestSuite' PACKAGES='./e2e/lab ./e2e/scenarios ./e2e/suite' hack/test.sh integration

release: ## Make a release in out/release: VERSION=v1.2.3 (manifests, chart, images, plugin, SBOMs, checksums; uploads nothing).
	@hack/release.sh

clean: ## Remove bin/ and the results of tests; the cache stays.
	@rm -rf bin out artifacts
