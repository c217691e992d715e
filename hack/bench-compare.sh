#!/bin/bash
# Measures another commit and this checkout in turn, so that a busy moment of the
# machine is in both, and says with benchstat what differs by more than noise.
#
#   hack/bench-compare.sh BASE [-n ROUNDS] [BENCH-FLAG...]
#
# BASE is a commit; it is built in out/bench-compare/base. ROUNDS is 6 by default: with
# fewer than 4 benchstat cannot tell a difference from noise. Whatever follows goes to bench
# (default: --only apply -n 2). The figures stay in out/bench-compare/{base,here}.txt.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

stop() {
	echo "bench-compare: $*" >&2
	exit 2
}
[ $# -gt 0 ] || stop "which commit? e.g. hack/bench-compare.sh HEAD~10"
base=$(git rev-parse --verify --quiet "$1^{commit}") || stop "there is no commit $1"
shift
rounds=6
if [ "${1:-}" = -n ]; then
	rounds=${2:?-n needs a number}
	shift 2
fi
[ $# -gt 0 ] || set -- --only apply -n 2

folder=$PWD/out/bench-compare
tree=$folder/base
trap 'git worktree remove --force "$tree" >/dev/null 2>&1 || true' EXIT
git worktree prune
git worktree remove --force "$tree" 2>/dev/null || rm -rf "$tree"
mkdir -p "$folder"
git worktree add --quiet --detach "$tree" "$base"
grep -q 'outputBenchmark' "$tree"/e2e/bench/*.go || stop "the bench of $base cannot print figures (-o benchmark): take a later commit"

rm -f "$folder/base.txt" "$folder/here.txt"
for round in $(seq "$rounds"); do
	echo "bench-compare: round $round of $rounds" >&2
	(cd "$tree" && hack/bench.sh -o benchmark "$@") >>"$folder/base.txt"
	hack/bench.sh -o benchmark "$@" >>"$folder/here.txt"
done
echo "base is $(git log -1 --format='%h %s' "$base"), here is $(git log -1 --format='%h %s')"
# Not a tool of go.mod: it would move versions that Kubernetes' programs share.
go run golang.org/x/perf/cmd/benchstat@v0.0.0-20260908200009-22c9c6c9d4da base="$folder/base.txt" here="$folder/here.txt"
