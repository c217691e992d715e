#!/bin/bash
# Says in one line which of the given programs are missing and what installs
# them; exit 1 if one is.
#
#   hack/need.sh go gcc
set -euo pipefail

# packages PROGRAM: Debian's package and Fedora's.
packages() {
	case $1 in
	go) echo golang golang ;;
	gcc | make | git | jq) echo "$1 $1" ;;
	cargo) echo rustup cargo ;;
	ip) echo iproute2 iproute ;;
	dnsmasq) echo dnsmasq-base dnsmasq ;;
	NetworkManager) echo network-manager NetworkManager ;;
	*) echo "$1 $1" ;;
	esac
}

missing=() debian=() fedora=()
for program; do
	PATH=$PATH:/usr/sbin:/sbin command -v "$program" >/dev/null && continue
	missing+=("$program")
	read -r deb rpm < <(packages "$program")
	debian+=("$deb") fedora+=("$rpm")
done
[ ${#missing[@]} -gt 0 ] || exit 0

if command -v apt-get >/dev/null; then
	install="apt-get install ${debian[*]}"
elif command -v dnf >/dev/null; then
	install="dnf install ${fedora[*]}"
elif command -v brew >/dev/null; then
	install="brew install ${debian[*]}"
else
	install="your system's package manager"
fi
echo "missing: ${missing[*]}; install with: $install" >&2
exit 1
