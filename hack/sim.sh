#!/bin/bash
# The simulator: everything that it proves, or the given stages of it.
#
#   replay    the same seeds give the same traces, on one core, on two, with -race
#   rollout   a policy over 1,000 nodes
#   swarm     1,000 seeds, always the same, and which faults were at work in which phases
#   fresh     2,000 seeds that nobody has run: their start follows from the commit. In
#             one half people act in the middle of something, and faults come by threes
#   hundred   90,000 fresh seeds and 10,000 longer runs, 3 hours on two cores, not without its
#             name: in shards whose results stay in out/sim/hundred, so that the same
#             command goes on where it was ended
#   sweep     every port call of scenarios failed, stalled and crashed: of those that are
#             chosen for every change all, of the others a third of the runs, which follows
#             from the commit; and pairs of faults, which do too
#   branches  which functions of production code the swarm never reaches
#   mutants   bugs that are planted are found; the simulator is built for each. One
#             in six is looked for from a fresh start too, by the commit
#
# Scenarios are tests of sim/scenario.
#
# LONG=1 is for the night: ten times as many seeds, longer runs, 5,000 nodes, the whole sweep.
# SEEDS=N and FROM=N say how many seeds swarm and each half of fresh run, and from which one
# on the swarm does; FRESH=N where what is fresh begins, which prints it.
# MINUTES=N begins nothing after so many: what was not run for that is told in lines that
# begin with OUT OF TIME, and is no failure. What was run must hold.
# Reports stay in out/sim/.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

hack/need.sh go
mkdir -p bin out/sim
export CGO_ENABLED=0
seeds=${SEEDS:-1000} from=${FROM:-1} nodes=1000 pairs=2000 starts=(-starts 2 -share 6) size=() third=(-share 3)
if [ "${LONG:-0}" = 1 ]; then
	seeds=${SEEDS:-10000} nodes=5000 pairs=20000 starts=(-starts 5) size=(-long) third=()
fi

# What has no time left is told, and not run. within is what bounds a search.
within=()
left() { echo $((MINUTES * 60 - SECONDS)); }
in_time() {
	[ -n "${MINUTES:-}" ] || return 0
	[ "$(left)" -gt 0 ] || { echo "OUT OF TIME: $1 was not run: $MINUTES minutes were over" && return 1; }
	within=(-at-most "$(left)s")
}

traces() { grep '^traces ' "$1"; }

# replay: what differs shows in the hash of the first seed that differs.
replay() {
	local log=out/sim/replay
	GOMAXPROCS=1 bin/sim -seeds 60 -failures 1000 >"$log-1" || true
	GOMAXPROCS=2 bin/sim -seeds 60 -failures 1000 >"$log-2" || true
	if [ "$(traces "$log-1")" != "$(traces "$log-2")" ]; then
		echo "replay: with one core $(traces "$log-1"), with two $(traces "$log-2")"
		return 1
	fi
	echo "replay: 60 seeds, $(traces "$log-1") with one core and with two"
	hack/need.sh gcc || { echo "skip: replay with -race: the line above says what is missing" && return "${NMSTATE_STRICT:-0}"; }
	CGO_ENABLED=1 go build -race -o bin/sim-race ./sim
	bin/sim -seeds 8 -failures 1000 >"$log-3" || true
	bin/sim-race -seeds 8 -failures 1000 >"$log-race" || true
	if [ "$(traces "$log-3")" != "$(traces "$log-race")" ]; then
		echo "replay: $(traces "$log-3"), with the race detector $(traces "$log-race")"
		return 1
	fi
	echo "replay: 8 seeds, $(traces "$log-race") with the race detector"
}

swarm() { bin/sim -seeds "$seeds" -from "$from" -failures 100 -known sim/testdata/known.txt -coverage "${size[@]}" "${within[@]}" | tee out/sim/swarm; }

# begins tells in start where what is fresh begins: the first digits of the commit
# say so, and the same commit runs the same. What is not committed begins at its parent's.
begins() {
	local commit
	start=${FRESH:-}
	[ -z "$start" ] || return 0
	commit=$(git rev-parse HEAD) || return 1
	start=$((16#${commit:0:8} * 10000 + 1000000))
	echo "$1: commit ${commit:0:8} begins at $start; again: FRESH=$start hack/sim.sh $1"
}

# fresh: a seed that breaks a rule becomes a kept case: -shrink, see sim/README.md. It
# is told and fails nothing as long as about one in five hundred does: a run would
# be red by the luck of its commit.
fresh() {
	local start half
	begins fresh || return 1
	rm -f out/sim/fresh
	for half in '' -lean; do
		in_time "fresh $half" || return 0
		# shellcheck disable=SC2086 # No half is no argument.
		bin/sim -seeds "$seeds" -from "$start" $half -coverage -failures 100 "${size[@]}" "${within[@]}" | tee -a out/sim/fresh ||
			echo "fresh: NOT MENDED YET: the seeds above, which nobody had run, broke a rule, or what is never reached was not"
	done
}

# hundred: each shard is a file once it has run to its end; all of them make two reports.
# SHARDS=N and SEEDS=N are for less: so many shards, a tenth of them of longer runs, of so
# many seeds each.
hundred() {
	local longer start dir all=${SHARDS:-100} each=${SEEDS:-1000} kind of from shard file broke=0
	begins hundred || return 1
	dir=out/sim/hundred/$start
	mkdir -p "$dir"
	for kind in plain long; do
		of=$((all - all / 10)) from=$start longer=()
		[ $kind = plain ] || { from=$((start + of * each)) of=$((all / 10)) longer=(-long); }
		for ((shard = 0; shard < of; shard++)); do
			file=$dir/$kind-$shard-of-$of.json
			[ ! -e "$file" ] || continue
			bin/sim -seeds $((of * each)) -from "$from" "${longer[@]}" -shard "$shard/$of" -failures 1000 -json >"$file.partial" || true
			if [ ! -s "$file.partial" ] || grep -q '^  "missing"' "$file.partial"; then
				echo "hundred: $kind shard $shard of $of was ended; the same command goes on with it" && return 1
			fi
			mv "$file.partial" "$file"
			echo "hundred: $kind shard $shard of $of is done"
		done
		echo "hundred: $kind, $of shards of $each seeds"
		bin/sim -merge "$dir/$kind-"*"-of-$of.json" | tee "$dir/$kind" || broke=1
	done
	return $broke
}

# branches: functions of production code that no seed reached.
branches() {
	local of=./sim,./handler/txn,./handler/idle,./handler/record,./handler/agent,./handler/desired,./handler/policy,./controllers/rollout,./controllers/rollout/plan
	go build -cover -coverpkg="$of" -o bin/sim-cover ./sim
	rm -rf out/sim/cover && mkdir -p out/sim/cover
	GOCOVERDIR=out/sim/cover bin/sim-cover -seeds 250 -failures 1000 >out/sim/branches || true
	go tool covdata textfmt -i=out/sim/cover -o out/sim/cover.txt
	go tool cover -func out/sim/cover.txt >out/sim/functions
	go tool covdata percent -i=out/sim/cover
	awk '$NF == "0.0%"' out/sim/functions | sed -E 's|^github.com/nmstate/kubernetes-nmstate/||; s|:[0-9]+:||' | grep -v '^sim/' >out/sim/never || true
	echo "never reached: $(wc -l <out/sim/never) functions, of which sim/swarm/never.txt explains all but:"
	awk 'FILENAME ~ /never.txt/ { known[$1 " " $2] = 1; next } !(($1 " " $2) in known || ($1 " *") in known)' \
		sim/swarm/never.txt out/sim/never | tee out/sim/unexplained
	[ ! -s out/sim/unexplained ]
}

# mutants: the runs that find each planted bug; the figures are at its end. A night
# looks for each from five starts, and tells the median.
mutants() {
	local start
	begins mutants || return 1
	local ended=0 bound=()
	[ -z "${MINUTES:-}" ] || bound=(timeout "${within[1]}")
	"${bound[@]}" go test ./sim/mutants -count 1 -timeout 120m -parallel 2 -run 'PlantedBugs|Patch' -v -which all "${starts[@]}" -from "$start" >out/sim/mutants || ended=$?
	! grep -A3 -- '--- FAIL' out/sim/mutants || return 1
	if [ $ended = 124 ]; then # timeout's own.
		echo "OUT OF TIME: mutants were not all looked for within $MINUTES minutes; found were $(grep -c -- '--- PASS: .*/' out/sim/mutants)"
		return 0
	fi
	[ $ended = 0 ] || { tail -n 20 out/sim/mutants && return 1; }
	grep -A100 'found, with how many runs' out/sim/mutants | grep -E ' runs.* of \['
}

# sweep: a night has all of it, and ten times the pairs.
sweep() {
	local start
	begins sweep || return 1
	bin/sim -sweep -long "${third[@]}" -pairs "$pairs" -from "$start" "${within[@]}" | tee out/sim/sweep
}

rollout() { bin/sim -rollout -nodes "$nodes"; }

# Shards of two commits are not merged.
go build -ldflags "-X main.version=$(git describe --tags --always --dirty 2>/dev/null || echo devel)" -o bin/sim ./sim
failed=()
[ $# -gt 0 ] || set -- replay rollout swarm fresh sweep branches mutants
for stage; do
	begun=$SECONDS
	echo "== sim: $stage"
	case $stage in
	replay | swarm | fresh | hundred | sweep | branches | mutants | rollout) ! in_time "$stage" || $stage || failed+=("$stage") ;;
	*)
		echo "sim: no stage is called $stage; there are replay, rollout, swarm, fresh, hundred, sweep, branches and mutants" >&2
		exit 2
		;;
	esac
	echo "== sim: $stage: $((SECONDS - begun)) s"
done
[ ${#failed[@]} -eq 0 ] || { echo "sim: failed: ${failed[*]}" && exit 1; }
