#!/bin/bash
# Installs and builds what is missing, then shows the product: a policy that is
# applied on three lab nodes, one that cuts a node off and is rolled back, and one
# whose node loses its power in mid-trial.
#
#   hack/demo.sh            shows it and leaves nothing behind
#   KEEP=1 hack/demo.sh     stays up; make demo-down ends it
#
# Needs git, make, Go, and Rust or the distribution's libnmstate. Exit 2: this
# machine, or this user, cannot; the line says what would help.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

began=$(date +%s)
say() { printf '%7.1fs  %s\n' "$(($(date +%s) - began))" "$*"; }
stop() {
	echo "demo: $*" >&2
	exit 2
}

[ "$(uname)" = Linux ] || stop "needs Linux: the nodes are network namespaces"
[ "$(id -u)" = 0 ] || stop "needs root (network namespaces and mounts): sudo make demo"
hack/need.sh git go || exit 2

say "what is needed from the distribution"
hack/install-deps.sh lab || exit 2
say "libnmstate (3 minutes the first time)"
environment=$(hack/libnmstate.sh --env) || exit 2
say "the programs (some minutes the first time)"
hack/build.sh handler controllers lab control-plane demo
say "the control plane's programs (10 minutes the first time)"
bin/control-plane programs >/dev/null

eval "$environment"
exec bin/demo --since "$began"
