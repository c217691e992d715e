#!/bin/bash
# Builds what the benchmarks need and measures on a lab: times of a policy beside
# a bare apply, requests, outages, the cost of idling, and (scale, without the lab)
# how the requests of a rollout grow with the nodes. Prints tables on standard
# output and progress on standard error; the logs stay in out/bench.
#
#   hack/bench.sh [-n RUNS] [--only apply|requests|outage|quiet|large|scale|trials] [-o json]
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

stop() {
	echo "bench: $*" >&2
	exit 2
}
[ "$(uname)" = Linux ] || stop "needs Linux: the nodes are network namespaces"
[ "$(id -u)" = 0 ] || stop "needs root (network namespaces and mounts): sudo make bench"
hack/need.sh go gcc || exit 2
hack/install-deps.sh lab || exit 2

environment=$(hack/libnmstate.sh --env) || exit 2
hack/build.sh handler controllers control-plane bench
eval "$environment"
bin/control-plane programs >/dev/null
exec bin/bench "$@"
