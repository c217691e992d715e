#!/bin/bash
# A kind cluster whose nodes run NetworkManager, with this checkout's images and
# deploy/ in it, and NICs to play with on every worker.
#
# Usage: kind/kind.sh COMMAND [FLAG...]
#
#   up         make the cluster, or bring the one that stands up to date
#   down       take it away, with everything that came with it
#   status     what there is, and what it takes of memory
#   load       load the images of out/images into the nodes, restart who runs them
#   deploy     apply deploy/overlays/MODE and wait until all of it is ready
#   plug       plug the NICs that are missing into the workers (after docker restart)
#   env        print what the suite is told (out/kind/env; README.md explains it)
#
# Flags:
#   --name NAME        the cluster's name (KIND_CLUSTER, else nmstate)
#   --workers N        workers beside the one control-plane node (2)
#   --nics N           NICs besides eth0 of every worker: eth1, eth2, ... (2)
#   --mode MODE        distributed or centralized (distributed)
#   --api-port N       the API server's port on 127.0.0.1 (a free one)
#
# Examples:
#   make images && kind/kind.sh up
#   export KUBECONFIG=$PWD/out/kind/kubeconfig && kubectl get nodes,nns
#   docker exec -it nmstate-worker nmcli device
#   make images && kind/kind.sh load
#   KIND_NODE_IMAGE=kindest/node:v1.37.0 kind/kind.sh up --workers 3
#
# KIND_BIN is a folder with kind and kubectl; without it they are built. Where no
# docker answers, root gets one that is started here and stopped by
# down (docker.sh).
#
# Exit 1: something failed, and what was begun is taken away again. Exit 2: wrong
# use, or this machine lacks something; the line says what to do.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

root=$PWD
out=$root/out/kind
label=io.nmstate.kind.checkout
cluster=${KIND_CLUSTER:-nmstate}
workers=2
nics=2
mode=distributed
api_port=0
ready_seconds=300
down_seconds=${KIND_DOWN_SECONDS:-120}
network=kind # kind's own name for the nodes' network.

say() { echo "kind: $*" >&2; }
die() { say "$*"; exit 1; }
wrong() { say "$*"; exit 2; }

# shellcheck source=kind/nodes.sh
. kind/nodes.sh

usage() { sed -n '2,/^set /{ s/^# \{0,1\}//; /^set /d; p }' "$0"; }

number() { [[ $2 =~ ^[0-9]+$ ]] && [ "$2" -ge "$3" ] && [ "$2" -le "$4" ] || wrong "$1 wants a number from $3 to $4, not \"$2\""; }

flags() {
	while [ $# -gt 0 ]; do
		case $1 in
		-h | --help) usage && exit ;;
		--name | --workers | --nics | --mode | --api-port) [ $# -ge 2 ] || wrong "$1 wants a value" ;;
		*) wrong "there is no flag $1; kind/kind.sh --help has them" ;;
		esac
		case $1 in
		--name) cluster=$2 ;;
		--workers) workers=$2 ;;
		--nics) nics=$2 ;;
		--mode) mode=$2 ;;
		--api-port) api_port=$2 ;;
		esac
		shift 2
	done
	[[ $cluster =~ ^[a-z0-9][a-z0-9.-]*$ ]] || wrong "--name wants small letters, digits, dots and hyphens, not \"$cluster\""
	number --workers "$workers" 1 20
	number --nics "$nics" 0 9
	number --api-port "$api_port" 0 65535
	[ -d "deploy/overlays/$mode" ] || wrong "--mode is distributed or centralized, not \"$mode\""
	fabric=$cluster-fabric
}

# alone keeps two commands of one checkout from each other.
alone() {
	mkdir -p "$out"
	exec 8>"$out/lock"
	flock -n 8 || die "another kind.sh of this checkout is at work; try again when it has ended"
}

# docker_host takes the docker that answers: start or find.
docker_host() {
	local host
	host=$(kind/docker.sh "$1" 8>&-) || return $?
	[ -z "$host" ] || export DOCKER_HOST=$host
}

# programs puts kind and kubectl first in PATH: those in KIND_BIN, or beside an
# ordinary node image those that are installed, else those that are built here.
programs() {
	export KUBECONFIG=$out/kubeconfig
	if [ -n "${KIND_BIN:-}" ]; then
		PATH=$KIND_BIN:$PATH
	elif [ -z "${KIND_NODE_IMAGE:-}" ] || ! command -v kind >/dev/null || ! command -v kubectl >/dev/null; then
		PATH=$(hack/kube/build.sh --cluster 8>&-):$PATH
	fi
}

# timed TEXT COMMAND...: tells how long a step took.
timed() {
	local text=$1 begun=$EPOCHREALTIME
	shift
	"$@"
	say "$text: $(awk -v a="$begun" -v b="$EPOCHREALTIME" 'BEGIN { printf "%.1f s", b - a }')"
}

# only_one: the files in out/kind are those of one cluster.
only_one() {
	local other
	other=$(docker ps -a --filter "label=$label=$root" --format '{{.Names}}' | grep -vx "$fabric" | head -n 1) || return 0
	die "this checkout has cluster ${other%-fabric} already: kind/kind.sh down --name ${other%-fabric}, or another checkout for $cluster"
}

# owner prints which checkout made the cluster, or nothing. It fails where docker does
# not say: that is no word for nobody.
owner() {
	local said
	if said=$(docker inspect -f "{{ index .Config.Labels \"$label\" }}" "$fabric" 2>&1); then
		echo "$said"
		return
	fi
	case ${said,,} in
	"" | *"no such"*) ;;
	*) say "$said" && return 1 ;;
	esac
}

ready() { [ -e "$out/env" ] && kubectl get --raw /readyz --request-timeout=5s >/dev/null 2>&1; }

up() {
	local tar made
	alone
	for tar in handler controllers; do
		[ -e "out/images/$tar.tar" ] || wrong "out/images/$tar.tar is missing: make images"
	done
	trap 'exit 130' INT
	trap 'exit 143' TERM
	began=0
	trap ended EXIT
	docker_host start
	programs
	whose=$(owner) || die "docker does not say whose cluster $cluster is; try again"
	case $whose in
	"$root")
		if ready && [ "$(nodes | wc -l)" = $((workers + 1)) ]; then
			say "cluster $cluster stands already"
			rm -f "$out/env"
			load && plug && deploy && write_env
			return
		fi
		say "cluster $cluster was left unfinished, or is of another size: it is made anew"
		take_down || exit 1
		;;
	"")
		made=$(nodes)
		[ -z "$made" ] || die "a cluster $cluster stands that this checkout did not make: kind delete cluster --name $cluster, or take another --name"
		;;
	*) die "cluster $cluster is that of the checkout $whose: kind/kind.sh down there, or take another --name" ;;
	esac
	only_one
	port_is_free
	# From here on there is something to take away.
	began=1
	create
	began=0
}

# ended takes away what a failed or interrupted up had begun, a docker included.
ended() {
	local status=$?
	trap '' INT TERM
	[ "$status" -lt 128 ] || say "interrupted"
	if [ "$began" = 1 ]; then
		say "taking away what was begun"
		take_down || true
	fi
	[ "$status" = 0 ] || kind/docker.sh stop 8>&- || true
	exit "$status"
}

port_is_free() {
	[ "$api_port" != 0 ] || return 0
	! (: <"/dev/tcp/127.0.0.1/$api_port") 2>/dev/null || die "port $api_port of 127.0.0.1 is in use: take another --api-port, or none for a free one"
}

create() {
	local image
	begun=$SECONDS
	timed "node image" node_image
	image=$node_image
	docker run -d --name "$fabric" --label "$label=$root" --network none --privileged --pid host --entrypoint sleep "$image" infinity >/dev/null
	# An ordinary node image brings a network for pods.
	own_pods_network=true
	! docker exec "$fabric" test -e /kind/manifests/default-cni.yaml || own_pods_network=false
	configuration >"$out/kind.yaml"
	timed "cluster of 1 + $workers nodes" create_cluster "$image"
	timed "pods' network" connect_pods
	timed "NICs" plug
	timed "images into the nodes" load
	timed "nodes ready" nodes_ready
	timed "deploy/overlays/$mode" deploy
	write_env
	say "images: node $(size "$image") MB, handler $(($(stat -c %s out/images/handler.tar) / 1000000)) MB, controllers $(($(stat -c %s out/images/controllers.tar) / 1000000)) MB"
	say "memory: $(docker stats --no-stream --format '{{.Name}} {{.MemUsage}}' $(nodes) | sed 's# / .*##' | paste -sd , | sed 's/,/, /g')"
	say "up in $((SECONDS - begun)) s: export KUBECONFIG=$out/kubeconfig"
}

size() { echo $(($(docker image inspect -f '{{ .Size }}' "$1") / 1000000)); }

node_image() { node_image=$(kind/image.sh 8>&-); }

create_cluster() {
	kind create cluster --name "$cluster" --image "$1" --config "$out/kind.yaml" --kubeconfig "$KUBECONFIG" 8>&- >"$out/create.log" 2>&1 ||
		die "kind could not make the cluster: $(grep -iE '^error' "$out/create.log" | tail -n 1 | cut -c1-400) (all of it: $out/create.log)"
}

down() {
	alone
	if ! docker_host find; then
		kind/docker.sh stop 8>&-
		rm -f "$out/env" "$out/kubeconfig"
		say "nothing is there"
		return
	fi
	programs
	whose=$(owner) || die "docker does not say whose cluster $cluster is; try again"
	case $whose in
	"$root")
		take_down || exit 1
		say "cluster $cluster is gone"
		;;
	"") say "this checkout made no cluster $cluster" ;;
	*) die "cluster $cluster is that of the checkout $whose: kind/kind.sh down there" ;;
	esac
	kind/docker.sh stop 8>&-
}

# take_down removes the cluster, and the fabric last: it is the sign that there
# is something of ours. What is still there after a while it names, and fails.
take_down() {
	local deadline=$((SECONDS + down_seconds)) left again=
	[ ! -d "$out/vm" ] || kind/vm.sh down 8>&-
	rm -f "$out/env" "$out/kubeconfig"
	timeout "$down_seconds" kind delete cluster --name "$cluster" -q 8>&- 2>>"$out/create.log" || true
	while left=$(left_over) && [ -n "$left" ]; do
		[ -z "$again" ] || [ $SECONDS -lt $deadline ] || break
		# A docker under load gives up on what it removes: it is asked again.
		case $left in
		"network "*) timeout 60 docker network rm "$network" ;;
		"docker "*) sleep 1 ;;
		*) timeout 60 docker rm -f -v $left ;;
		esac >/dev/null 2>>"$out/create.log" || sleep 1
		again=yes
	done
	[ -n "$left" ] || return 0
	say "after $down_seconds s this is still there: $left; kind/kind.sh down tries again ($out/create.log has what docker said)"
	return 1
}

# left_over prints what of the cluster is still there: its nodes, then the fabric, then
# the network, unless somebody else's cluster is in it.
left_over() {
	local left
	if ! left=$(nodes) || { [ -z "$left" ] && ! left=$(docker ps -a --filter "name=^/?$fabric\$" --format '{{.Names}}'); }; then
		left="docker does not answer"
	elif [ -z "$left" ] && [ "$(docker network inspect -f '{{ len .Containers }}' "$network" 2>/dev/null)" = 0 ]; then
		left="network $network"
	fi
	paste -sd ' ' <<<"$left"
}

write_env() {
	local node=
	node=$(nodes control-plane)
	{
		echo "KIND_CLUSTER=$cluster"
		echo "KUBECONFIG=$KUBECONFIG"
		[ -z "${DOCKER_HOST:-}" ] || echo "DOCKER_HOST=$DOCKER_HOST"
		echo "KIND_CONTROL_PLANE=$node"
		echo "KIND_WORKERS=$(nodes worker | paste -sd ' ')"
		echo "KIND_NICS=$(nic_names | paste -sd ' ')"
		echo "KIND_FABRIC=$fabric"
		echo "KIND_NODE_IMAGE=$(docker inspect -f '{{ .Config.Image }}' "$node")"
		echo "KIND_NETWORKMANAGER=$(docker exec "$node" NetworkManager --version | cut -d- -f1)"
		echo "HANDLER_IMAGE=$(image_name handler)"
		echo "CONTROLLERS_IMAGE=$(image_name controllers)"
		echo "KIND_BIN=$(dirname "$(command -v kind)")"
	} >"$out/env.partial"
	mv "$out/env.partial" "$out/env"
}

status() {
	docker_host find || wrong "no docker answers"
	programs
	[ "$(owner)" = "$root" ] || die "this checkout has no cluster $cluster"
	# shellcheck disable=SC2046
	docker stats --no-stream $(nodes) "$fabric" --format 'table {{.Name}}\t{{.MemUsage}}\t{{.CPUPerc}}'
	kubectl get nodes,pods -A -o wide
}

# standing readies a command on the cluster that is there.
standing() {
	alone
	docker_host find || wrong "no docker answers: kind/kind.sh up"
	programs
	[ "$(owner)" = "$root" ] || die "this checkout has no cluster $cluster: kind/kind.sh up"
}

command=${1:---help}
shift || true
case $command in
-h | --help | help) usage && exit ;;
up | down | status | load | deploy | plug | env) flags "$@" ;;
*) wrong "there is no command $command; kind/kind.sh --help has them" ;;
esac
case $command in
up | down | status) $command ;;
env) cat "$out/env" 2>/dev/null || die "no cluster is ready: kind/kind.sh up" ;;
*) standing && $command ;;
esac
