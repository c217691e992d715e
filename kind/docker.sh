#!/bin/bash
# The docker that the cluster is in.
#
#   kind/docker.sh start   find one that answers, or start our own (root); prints
#                          its DOCKER_HOST, or nothing where docker finds it alone
#   kind/docker.sh find    the same, but starts nothing, unless our own was killed:
#                          only docker ends what runs in it in good order
#   kind/docker.sh stop    end our own, unless containers run in it, and take away
#                          what it left on the machine; images stay in the cache
#
# Our own listens on no port: its socket, images and log are in
# ${XDG_CACHE_HOME:-~/.cache}/kubernetes-nmstate/docker, and all checkouts of a
# user share it.
#
# Exit 1: something failed. Exit 2: there is no docker; the line says what to do.
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
cache=${XDG_CACHE_HOME:-$HOME/.cache}/kubernetes-nmstate
dir=$cache/docker
ours=unix://$dir/docker.sock
before=$dir/before # What start changed on the machine, for stop.
parent=nmstate-kind # The cgroup of all containers.
start_seconds=60 stop_seconds=20

say() { echo "docker: $*" >&2; }
die() { say "$*"; exit 1; }
none() { say "$*"; exit 2; }

# answers [HOST]: whether a docker does; what it says instead is in $said.
said=
answers() { said=$(DOCKER_HOST=${1:-${DOCKER_HOST:-}} timeout 20 docker version --format '{{.Server.Version}}' 2>&1 >/dev/null); }

# daemon prints the process id of our dockerd if it runs.
daemon() {
	local pid
	pid=$(cat "$dir/dockerd.pid" 2>/dev/null) || return 1
	[ "$(cat "/proc/$pid/comm" 2>/dev/null)" = dockerd ] && echo "$pid"
}

# find prints the DOCKER_HOST of one that answers.
find_one() {
	if [ -z "${DOCKER_HOST:-}" ] && daemon >/dev/null && answers "$ours"; then
		echo "$ours"
	elif answers; then
		echo "${DOCKER_HOST:-}"
	else
		return 1
	fi
}

# can_start says why none can be started here, or nothing.
can_start() {
	local why=${said##*$'\n'}
	[ -z "${DOCKER_HOST:-}" ] || none "nothing answers at DOCKER_HOST=$DOCKER_HOST: start it, or unset DOCKER_HOST ($why)"
	case $why in
	*"permission denied"*) none "this user may not use docker: be root, or in the group docker ($why)" ;;
	esac
	command -v dockerd >/dev/null || none "docker does not answer and dockerd is not installed: hack/install-deps.sh installs it"
	[ "$(id -u)" = 0 ] || none "docker does not answer: start it (systemctl start docker), or be root, and one is started here"
	[ ${#ours} -lt 108 ] || die "$dir is too long a path for a socket: set XDG_CACHE_HOME to a shorter one"
}

limited() { # This machine's root lacks CAP_SYS_RESOURCE (24).
	local bounding
	bounding=$(awk '/^CapBnd/ { print $2 }' /proc/self/status)
	((!(0x$bounding >> 24 & 1)))
}

# prepare_machine raises what many nodes need, and writes down what was there.
prepare_machine() {
	local name least was
	if [ ! -e "$before" ]; then
		{
			for name in net.ipv4.ip_forward fs.inotify.max_user_instances fs.inotify.max_user_watches; do
				echo "sysctl $name $(sysctl -n "$name")"
			done
			for name in iptables ip6tables; do
				was=$($name -S FORWARD 2>/dev/null | awk '$1 == "-P" { print $3 }')
				[ -z "$was" ] || echo "forward $name $was"
			done
			[ -d /lib/modules ] || echo "folder /lib/modules"
		} >"$before.partial"
		mv "$before.partial" "$before"
	fi
	while read -r name least; do
		[ "$(sysctl -n "$name")" -ge "$least" ] || sysctl -qw "$name=$least"
	done <<-END
		net.ipv4.ip_forward 1
		fs.inotify.max_user_instances 1024
		fs.inotify.max_user_watches 524288
	END
}

start_our_own() {
	local deadline options=() pid
	prepare_machine
	if limited; then
		install -m 755 "$here/runc-nocap" "$dir/" # The checkout may go away.
		options=(--add-runtime "nocap=$dir/runc-nocap" --default-runtime nocap)
		! dockerd --help | grep -q -- --oom-score-adjust || options+=(--oom-score-adjust 0)
	fi
	say "none answers: starting one in $dir"
	rm -f "$dir/dockerd.pid" "$dir/docker.sock"
	# In a session of its own: Ctrl-C here is not for it. No bridge: containers
	# are on kind's network or on none.
	setsid dockerd --data-root "$dir/lib" --exec-root "$dir/run" -H "$ours" -p "$dir/dockerd.pid" \
		--bridge none --cgroup-parent "$parent" --exec-opt native.cgroupdriver=cgroupfs --default-cgroupns-mode private \
		"${options[@]}" >"$dir/dockerd.log" 2>&1 </dev/null 9>&- &
	pid=$!
	trap 'kill "$pid"; exit 130' INT TERM
	deadline=$((SECONDS + start_seconds))
	until answers "$ours"; do
		kill -0 "$pid" 2>/dev/null || die "dockerd ended: $(last_words) (all of it: $dir/dockerd.log)"
		if [ $SECONDS -ge $deadline ]; then
			kill "$pid"
			die "dockerd does not answer after $start_seconds s; $dir/dockerd.log may say why"
		fi
		sleep 0.5
	done
}

last_words() { grep -v 'level=info' "$dir/dockerd.log" | tail -n 1 | cut -c1-300; }

start() {
	local host
	command -v docker >/dev/null || none "docker is not installed: hack/install-deps.sh installs it"
	if host=$(find_one); then echo "$host" && return; fi
	answers || true # For its words: a subshell's are lost.
	can_start
	mkdir -p "$dir"
	exec 9>"$dir/lock"
	flock 9
	if host=$(find_one); then echo "$host" && return; fi
	start_our_own
	echo "$ours"
}

stop() {
	local pid deadline left
	[ -d "$dir" ] || return 0
	exec 9>"$dir/lock"
	flock 9
	if pid=$(daemon); then
		if answers "$ours"; then
			left=$(DOCKER_HOST=$ours docker ps --format '{{.Names}}' | paste -sd ' ')
			[ -z "$left" ] || { say "ours goes on, since containers run in it: $left" && return; }
		fi
		kill "$pid"
		deadline=$((SECONDS + stop_seconds))
		while kill -0 "$pid" 2>/dev/null; do
			[ $SECONDS -lt $deadline ] || kill -KILL "$pid" || true
			[ $SECONDS -lt $((deadline + stop_seconds)) ] || die "ours does not end: process $pid"
			sleep 0.2
		done
		say "ours is stopped"
	fi
	take_away
}

# take_away removes what a dockerd leaves on the machine when it ends or is killed.
take_away() {
	local kind name value mount controller
	awk -v dir="$dir/" 'index($2, dir) == 1 { print $2 }' /proc/mounts | sort -r |
		while read -r mount; do umount -l "$mount" || true; done
	rm -rf "$dir/run" "$dir/docker.sock" "$dir/dockerd.pid"
	for controller in /sys/fs/cgroup /sys/fs/cgroup/*; do
		[ ! -d "$controller/$parent" ] || find "$controller/$parent" -depth -type d -exec rmdir {} + 2>/dev/null || true
	done
	[ -e "$before" ] || return 0
	# Docker's own chains are called DOCKER; one that is not ours needs them.
	if ! answers; then
		for name in iptables ip6tables; do
			! $name-save 2>/dev/null | grep -q DOCKER || $name-save | grep -v DOCKER | $name-restore
		done
	fi
	while read -r kind name value; do
		case $kind in
		sysctl) sysctl -qw "$name=$value" || true ;;
		forward) answers || "$name" -P FORWARD "$value" ;;
		folder) rmdir "$name" 2>/dev/null || true ;;
		esac
	done <"$before"
	rm -f "$before"
}

case ${1:-} in
start) start ;;
find)
	command -v docker >/dev/null || exit 2
	find_one || { [ -e "$before" ] && [ "$(id -u)" = 0 ] && start; }
	;;
stop) stop ;;
*)
	sed -n '2,/^set /{ s/^# \{0,1\}//; /^set /d; p }' "$0" >&2
	exit 2
	;;
esac
