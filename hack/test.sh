#!/bin/bash
# Runs the given stages of tests and tells at the end what failed, what was
# skipped and why:
#
#   unit         needs neither root nor cgo nor Linux
#   integration  libnmstate, the embedded control plane, the lab
#   bench        measurements on the lab; prints tables, not verdicts
#
# RUN=REGEXP runs only the tests that match, PACKAGES="./a ./b/..." only those
# packages, e.g. RUN=TestPolicy PACKAGES=./e2e/lab/... hack/test.sh integration
# NMSTATE_STRICT=1 makes failures of skips that hide something missing.
# The raw events stay in out/STAGE.json.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

hack/need.sh go
mkdir -p out

# Lab tests share the machine with nobody: one package at a time. The whole
# stage has this long.
timeout=40m

# test STAGE [FLAG|PACKAGE...]: go test; what fails is said in the events.
test_go() {
	local stage=$1
	shift
	go test -json -timeout "$timeout" ${RUN:+-run "$RUN"} "$@" 2>&1 | tee "out/$stage.json" ||
		echo "exit status ${PIPESTATUS[0]}: go test ($stage)"
}

unit() {
	echo "== unit tests, without cgo"
	# The harness's own tests are integration.
	local packages
	packages=${PACKAGES:-$(go list ./... | grep -v '/e2e\(/\|$\)')}
	# shellcheck disable=SC2086
	CGO_ENABLED=0 test_go unit $packages
}

integration() {
	local settings
	if [ "$(uname)" != Linux ]; then
		echo "skip: integration tests: they need Linux"
		return
	fi
	echo "== integration tests: programs (the first time this takes minutes)"
	CGO_ENABLED=0 go build -o bin/control-plane ./e2e/controlplane/cmd/control-plane &&
		bin/control-plane programs ||
		echo "skip: control plane: see above; hack/kube/build.sh builds it"
	if ! hack/need.sh gcc || ! settings=$(hack/libnmstate.sh --env); then
		echo "skip: tests of libnmstate and of the lab's handler: the line above says what is missing"
		settings="export CGO_ENABLED=0"
	fi
	echo "== integration tests"
	# shellcheck disable=SC2086
	(eval "$settings" && test_go integration -p 1 -count 1 -tags nmstate \
		${PACKAGES:-./handler/libnmstate/... ./handler/backend/... ./handler/probe/... ./handler/observe/... ./e2e/...})
}

bench() {
	echo "== benchmarks"
	(eval "$(hack/libnmstate.sh --env)" &&
		go test -timeout "$timeout" -p 1 -count 1 -tags nmstate -run '^$' -bench "${RUN:-.}" -benchtime 1x ${PACKAGES:-./e2e/...})
}

for stage; do
	case $stage in
	unit | integration) ;;
	bench)
		bench
		exit
		;;
	*)
		echo "test: no stage is called $stage; there are unit, integration, bench" >&2
		exit 2
		;;
	esac
done

CGO_ENABLED=0 go build -o bin/testsummary ./hack/testsummary
for stage; do $stage; done 2>&1 | bin/testsummary
