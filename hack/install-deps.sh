#!/bin/bash
# Installs from the distribution what building, testing and the demo need beside
# git, make, Go and (where the distribution has no libnmstate) Rust. Says what
# it installs; does nothing, at once, where all is there.
#
#   hack/install-deps.sh            install what is missing (root)
#   hack/install-deps.sh lab        only what a lab needs, without what tests need
#   hack/install-deps.sh kind       only what the kind cluster needs
#   hack/install-deps.sh release [ARCHITECTURE...]
#                                   what images for other architectures need
#   hack/install-deps.sh --print    only print what is missing
#
# The only service that Debian may start is docker, which is installed where
# there is none. In particular NetworkManager is not installed on Debian, where it would
# take over this machine's network at the next boot; lab nodes bring their own
# (hack/noderoot.sh). On Fedora it is part of the system.
#
# Exit 2: not root, or a distribution that is not known; the line says what to do.
set -euo pipefail

# gcc and the C library link the handler with libnmstate; ip and dnsmasq are the
# lab's switch, DHCP and DNS; mmdebstrap makes the root of lab nodes. Tests open
# the page of kubectl nmstate ui in a browser without a display.
debian=(gcc libc6-dev iproute2 dnsmasq-base mmdebstrap ca-certificates)
fedora=(gcc glibc-devel iproute dnsmasq NetworkManager dbus-daemon iputils nmstate-devel)
if [ "${1:-}" = kind ]; then
	debian=(gcc libc6-dev iproute2 ca-certificates)
	fedora=(gcc glibc-devel iproute nmstate-devel)
elif [ "${1:-}" = release ]; then
	debian=(gcc libc6-dev mmdebstrap ca-certificates qemu-user-static)
	fedora=(gcc glibc-devel nmstate-devel)
	for architecture in "${@:2}"; do
		case $architecture in
		amd64) debian+=(gcc-x86-64-linux-gnu libc6-dev-amd64-cross) ;;
		arm64) debian+=(gcc-aarch64-linux-gnu libc6-dev-arm64-cross) ;;
		ppc64le) debian+=(gcc-powerpc64le-linux-gnu libc6-dev-ppc64el-cross) ;;
		s390x) debian+=(gcc-s390x-linux-gnu libc6-dev-s390x-cross) ;;
		*) echo "deps: no architecture is called $architecture" >&2 && exit 2 ;;
		esac
	done
elif [ "${1:-}" != lab ]; then
	debian+=(chromium-headless-shell)
	fedora+=(chromium-headless)
fi
if [ "${1:-}" != lab ] && [ "${1:-}" != release ]; then
	# kind needs a docker. One that answers or could be started is left as it is.
	if ! PATH=$PATH:/usr/sbin:/sbin command -v dockerd >/dev/null && ! docker version >/dev/null 2>&1; then
		debian+=(docker.io)
		fedora+=(moby-engine)
	fi
fi

say() { echo "deps: $*" >&2; }

stop() {
	say "$*"
	exit 2
}

# missing INSTALLED-TEST PACKAGE...
missing() {
	local installed=$1
	shift
	for package; do $installed "$package" || echo "$package"; done
}
deb_installed() { [ "$(dpkg-query -W -f '${db:Status-Status}' "$1" 2>/dev/null)" = installed ]; }
rpm_installed() { rpm -q --quiet --whatprovides "$1"; }

case $(uname) in
Linux) ;;
*) stop "on $(uname) only the unit tests run, and they need nothing but Go: make test-unit" ;;
esac

if command -v apt-get >/dev/null; then
	mapfile -t packages < <(missing deb_installed "${debian[@]}")
	command="apt-get install --no-install-recommends"
elif command -v dnf >/dev/null; then
	mapfile -t packages < <(missing rpm_installed "${fedora[@]}")
	command="dnf install --setopt=install_weak_deps=False"
else
	stop "this is neither Debian nor Fedora; install the like of: ${debian[*]}"
fi

if [ ${#packages[@]} -eq 0 ]; then
	say "everything is there"
	exit 0
fi
if [ "${1:-}" = --print ]; then
	printf '%s\n' "${packages[@]}"
	exit 0
fi
[ "$(id -u)" = 0 ] || stop "missing: ${packages[*]}; run as root: $command ${packages[*]}"

say "installing ${packages[*]}"
log=$(mktemp)
trap 'rm -f "$log"' EXIT
quietly() { "$@" >>"$log" 2>&1; }
export DEBIAN_FRONTEND=noninteractive
# The package lists of a fresh machine are missing or old: fetch them only when
# the first try says so.
quietly $command -y "${packages[@]}" ||
	{ command -v apt-get >/dev/null && quietly apt-get update && quietly $command -y "${packages[@]}"; } ||
	{
		tail -n 5 "$log" >&2
		stop "could not install ${packages[*]}; the lines above say why"
	}
say "installed"
