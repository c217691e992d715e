#!/bin/bash
# Builds the given programs into bin/: handler, controllers, lab, control-plane.
# Only the handler uses cgo: it is linked with libnmstate.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

say() { echo "build: $*" >&2; }

hack/need.sh go

source_of() {
	case $1 in
	handler | controllers) echo "./$1" ;;
	lab) echo ./e2e/lab/cmd/lab ;;
	control-plane) echo ./e2e/controlplane/cmd/control-plane ;;
	*)
		say "no program is called $1; there are handler, controllers, lab, control-plane"
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
	(eval "$settings" && go build -trimpath -ldflags "$stamp" -tags nmstate -o bin/handler ./handler)
	# The program that computes the way back lies beside it, where it was built.
	rm -f bin/nmstate-revert
	(eval "$settings" && { [ -z "$NMSTATE_REVERT" ] || ln -s "$NMSTATE_REVERT" bin/nmstate-revert; })
}

# Programs without a variable main.version ignore the stamp.
stamp="-X main.version=$(git describe --tags --always --dirty 2>/dev/null || echo devel)"

mkdir -p bin
for program; do
	source=$(source_of "$program")
	if [ "$program" = handler ]; then
		handler
		continue
	fi
	say "bin/$program"
	CGO_ENABLED=0 go build -trimpath -ldflags "$stamp" -o "bin/$program" "$source"
done
