#!/bin/bash
# The end-to-end suite on a kind cluster: images, cluster, go test ./e2e/kind,
# and the cluster away again, with the time of each step.
#
#   kind/e2e.sh [FLAG...]     flags are kind.sh's; see kind/kind.sh --help
#   FOCUS=REGEXP kind/e2e.sh  only the specs whose names match
#   LABELS='rollout || node' kind/e2e.sh  only the specs with these labels
#   FROM=v1.2.3 kind/e2e.sh   the spec of an update begins there, not at the last commit
#   VM=1 kind/e2e.sh          the specs of power cuts too, on one more worker, which is a
#                             virtual machine (Debian, root; ten minutes more)
#   KEEP=1 kind/e2e.sh        the cluster stays, for a look and for the next run
#
# A cluster of this checkout that stands is taken and left standing. Results are
# in artifacts/e2e: junit.xml, and a folder for each spec that failed. As root it
# installs what it needs of the distribution's, a docker where there is none.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

artifacts=$PWD/artifacts/e2e
steps=()

say() { echo "e2e: $*" >&2; }

# step NAME COMMAND...
step() {
	local name=$1 begun=$SECONDS status=0
	shift
	"$@" || status=$?
	steps+=("$name $((SECONDS - begun)) s")
	return $status
}

# over takes away what this run made, also after Ctrl-C, and tells the times.
over() {
	local status=$?
	trap '' INT TERM
	if [ "$made" = 1 ] && [ "${KEEP:-}" = 1 ]; then
		say "the cluster stays: export KUBECONFIG=$PWD/out/kind/kubeconfig; kind/kind.sh down takes it away"
	elif [ "$made" = 1 ]; then
		step down kind/kind.sh down "${flags[@]}" || status=1
	fi
	say "$(printf '%s, ' "${steps[@]}")exit status $status"
	exit $status
}

# suite RESULT [LABELS]: an emulated machine boots in minutes, so its specs have longer.
suite() {
	local line colour=() labels=${2:-${LABELS:-}}
	[ -t 1 ] || colour=(-ginkgo.no-color)
	while read -r line; do export "${line?}"; done < <(kind/kind.sh env)
	mkdir -p "$artifacts"
	# As everything else is built, so that nothing is compiled once more; make verify vets.
	PATH=$KIND_BIN:$PATH CGO_ENABLED=0 go test -vet=off ./e2e/kind/... -count 1 -timeout "$([ "$1" = junit ] && echo 45m || echo 2h)" -v -ginkgo.v "${colour[@]}" \
		-ginkgo.junit-report="$artifacts/$1.xml" ${FOCUS:+-ginkgo.focus "$FOCUS"} ${labels:+-ginkgo.label-filter "$labels"}
}

flags=("$@")
made=0
hack/need.sh go
ready() { command -v gcc && command -v ip && docker version; } >/dev/null 2>&1
ready || hack/install-deps.sh kind || exit 2
trap 'exit 130' INT
trap 'exit 143' TERM
trap over EXIT
step images env IMAGE_ENGINE=none hack/images.sh
# What the spec of an update begins with; FROM=COMMIT, or the commit before.
step before kind/before.sh ${FROM:-}
[ -e out/kind/env ] || made=1
step cluster kind/kind.sh up "${flags[@]}"
rm -rf "$artifacts"
# Policies of the others are for all nodes: they want none that is emulated.
[ ! -d out/kind/vm ] || kind/vm.sh down
step suite suite junit
if [ "${VM:-}" = 1 ]; then
	step vm kind/vm.sh up
	step "power cuts" suite junit-power power
fi
