#!/bin/bash
# Builds the given programs into bin/: handler, controllers, kubectl-nmstate, lab,
# control-plane, demo, bench. The handler and the benchmarks use cgo: they are linked with
# libnmstate. So are the controllers where the library is there, since they
# resolve captures in centralized mode.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

say() { echo "build: $*" >&2; }

hack/need.sh go

source_of() {
	case $1 in
	handler | controllers) echo "./$1" ;;
	demo | bench) echo "./e2e/$1" ;;
	kubectl-nmstate) echo ./plugin ;;
	lab) echo ./e2e/lab/cmd/lab ;;
	control-plane) echo ./e2e/controlplane/cmd/control-plane ;;
	*)
		say "no program is called $1; there are handler, controllers, kubectl-nmstate, lab, control-plane, demo, bench"
		exit 2
		;;
	esac
}

handler() {
	if [ "$(uname)" != Linux ]; then
		say "bin/handler is left out: it configures Linux only"
		return
	fi
	hack/need.sh gcc
	local settings
	settings=$(hack/libnmstate.sh --env)
	say "bin/handler, with libnmstate"
	(eval "$settings" && go build -trimpath -ldflags "$stamp -X main.nmstateVersion=$NMSTATE_VERSION" -o bin/handler ./handler)
	# The program that computes the way back lies beside it, where it was built.
	rm -f bin/nmstate-revert
	(eval "$settings" && { [ -z "$NMSTATE_REVERT" ] || ln -s "$NMSTATE_REVERT" bin/nmstate-revert; })
}

controllers() {
	local settings
	if [ "$(uname)" = Linux ] && hack/need.sh gcc 2>/dev/null && settings=$(hack/libnmstate.sh --env 2>/dev/null); then
		say "bin/controllers, with libnmstate"
		(eval "$settings" && go build -trimpath -ldflags "$stamp" -o bin/controllers ./controllers)
		return
	fi
	say "bin/controllers, without libnmstate: in centralized mode they refuse policies with captures"
	CGO_ENABLED=0 go build -trimpath -ldflags "$stamp" -o bin/controllers ./controllers
}

bench() {
	local settings
	settings=$(hack/libnmstate.sh --env)
	say "bin/bench, with libnmstate"
	(eval "$settings" && go build -trimpath -ldflags "$stamp" -o bin/bench ./e2e/bench)
}

stamp="-X main.version=$(git describe --tags --always --dirty 2>/dev/null || echo devel)"

mkdir -p bin
for program; do
	source=$(source_of "$program")
	case $program in handler | controllers | bench)
		$program
		continue
		;;
	esac
	say "bin/$program"
	CGO_ENABLED=0 go build -trimpath -ldflags "$stamp" -o "bin/$program" "$source"
	# By this name kubectl asks the plugin for completions.
	[ "$program" != kubectl-nmstate ] || ln -sf kubectl-nmstate bin/kubectl_complete-nmstate
done
