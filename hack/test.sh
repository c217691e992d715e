#!/bin/bash
# Runs the given stages of tests and tells at the end what failed, what was
# skipped and why:
#
#   unit         needs neither root nor cgo nor Linux
#   integration  libnmstate, the embedded control plane, the lab
#
# RUN=REGEXP runs only the tests that match, PACKAGES="./a ./b/..." only those
# packages, e.g. RUN=TestPolicy PACKAGES=./e2e/lab/... hack/test.sh integration
# TIMEOUT=2h gives a stage more time than 50 minutes.
# NMSTATE_STRICT=1 makes failures of skips that hide something missing.
# The raw events stay in out/STAGE.json.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

hack/need.sh go
mkdir -p out

# Lab tests share the machine with nobody: one package at a time. The whole
# stage has this long.
timeout=${TIMEOUT:-50m}

# go_test STAGE [FLAG|PACKAGE...]: what fails is said in the events. It vets
# nothing: make verify does, with all of vet's checks.
go_test() {
	local stage=$1
	shift
	go test -json -vet=off -timeout "$timeout" ${RUN:+-run "$RUN"} "$@" 2>&1 | tee "out/$stage.json" ||
		echo "exit status ${PIPESTATUS[0]}: go test ($stage)"
}

# prepare finds or builds what integration tests start, and says what it cannot.
prepare() {
	if [ "$(uname)" != Linux ]; then
		echo "skip: integration tests: they need Linux"
		return
	fi
	echo "== programs for the integration tests (the first time this takes minutes)"
	hack/build.sh lab controllers kubectl-nmstate control-plane || echo "exit status $?: hack/build.sh"
	bin/control-plane programs ||
		echo "skip: tests on the control plane: its programs cannot be had; the lines above say why"
	if hack/need.sh gcc && hack/libnmstate.sh --env >out/libnmstate.env; then
		hack/build.sh handler || echo "exit status $?: hack/build.sh handler"
	else
		rm -f out/libnmstate.env
		echo "skip: tests of libnmstate, and of the lab with the handler: the line above says what is missing"
	fi
}

unit() {
	echo "== unit tests, without cgo"
	# The harness's own tests are integration, and what is linked with libnmstate
	# is tested there where that follows.
	local packages others='/e2e(/|$)'
	if [ "$with_integration" = 1 ] && [ -e out/libnmstate.env ]; then others+='|/handler/(libnmstate|backend)(/|$)'; fi
	packages=${PACKAGES:-$(go list ./... | grep -vE "$others")}
	# What is slow of them waits: eight at a time, also on two cores.
	# shellcheck disable=SC2086
	CGO_ENABLED=0 go_test unit -parallel 8 $packages
}

# race: what runs side by side in the handler, watched by the race detector. It
# has found a change that went unguarded one time in twenty.
race() {
	hack/need.sh gcc || { echo "skip: the race detector: the line above says what is missing" && return; }
	echo "== the handler's own tests under the race detector"
	CGO_ENABLED=1 go_test race -race -parallel 8 -count 1 ./handler/agent/... ./handler/journal/... ./handler/txn/...
}

# handler/state is compared with libnmstate. e2e/suite is run by itself, e2e/kind on a cluster of its own (make e2e).
integration_packages() { go list ./handler/libnmstate/... ./handler/backend/... ./handler/state ./e2e/... | grep -vE '/e2e/(suite|kind)$'; }

# Specs wait most of their time, so the suite is run in two halves side by side,
# each on a lab of its own; both take about as long. The second one is told at
# the end.
suite_in_halves() {
	local half=(apiserver canary disk dot1x edit handler hardware large leftalone lldp match mixed modes once plan pods quiet restored secrets trial walk zone) files=() file
	for file in "${half[@]}"; do files+=("${file}_test.go"); done
	local all
	all=$(IFS='|' && echo "(${files[*]})")
	export NMSTATE_BIN=${NMSTATE_BIN:-$PWD/bin}
	echo "== the suite on the lab, in two halves"
	go_test suite-2 -count 1 ./e2e/suite -v -ginkgo.skip-file "/$all" >out/suite-2.log &
	go_test suite-1 -count 1 ./e2e/suite -v -ginkgo.focus-file "/$all"
	wait
	cat out/suite-2.log
}

integration() {
	[ "$(uname)" = Linux ] || return 0
	[ -n "${PACKAGES:-}" ] || race
	echo "== integration tests: libnmstate, the control plane, the lab"
	# shellcheck disable=SC1091
	(
		export CGO_ENABLED=0
		[ ! -e out/libnmstate.env ] || . out/libnmstate.env
		# Nodes of the backend's own tests have the lab's NetworkManager, since the
		# machine is to have none (hack/install-deps.sh).
		if [ -z "${NMSTATE_NODE_ROOT:-}" ] && command -v apt-get >/dev/null && [ "$(id -u)" = 0 ]; then
			NMSTATE_NODE_ROOT=$(hack/noderoot.sh 1.52) && export NMSTATE_NODE_ROOT
		fi
		# make verify does not see what is linked with libnmstate.
		go vet ./handler/libnmstate ./handler/backend/nmstate ./handler/state || echo "exit status $?: go vet"
		if [ -n "${PACKAGES:-}${RUN:-}" ]; then
			# shellcheck disable=SC2086
			go_test integration -p 1 -count 1 ${PACKAGES:-$(integration_packages) ./e2e/suite}
			exit
		fi
		# shellcheck disable=SC2046
		go_test integration -p 1 -count 1 $(integration_packages)
		suite_in_halves
	)
}

with_integration=0
for stage; do
	case $stage in
	unit) ;;
	integration) with_integration=1 ;;
	*)
		echo "test: no stage is called $stage; there are unit and integration" >&2
		exit 2
		;;
	esac
done

CGO_ENABLED=0 go build -o bin/testsummary ./hack/testsummary
{
	[ "$with_integration" = 0 ] || prepare
	for stage; do $stage; done
} 2>&1 | bin/testsummary
