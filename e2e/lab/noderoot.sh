#!/bin/bash
# Makes the root file system of lab nodes: Debian trixie with NetworkManager
# 1.52, or Debian bookworm with 1.42. Prints the folder; made once, kept in the
# cache, and never seen half made.
#
#   hack/noderoot.sh [1.52|1.42]            make it if missing, print where it is
#   hack/noderoot.sh [1.52|1.42] kind       the same for kind nodes, which have systemd too
#   hack/noderoot.sh vm                     the same with a kernel and all its drivers (hack/vmroot.sh)
#   hack/noderoot.sh qemu                   what runs that kernel
#   hack/noderoot.sh [1.52|1.42] --print    only print where it is or would be
#
# Exit 3: this machine cannot make it (not Debian, no mmdebstrap, not root).
set -euo pipefail

suite=trixie
case "${1:-}" in
1.52) shift ;;
1.42) suite=bookworm && shift ;;
esac
packages=network-manager,dbus,iproute2,iputils-ping,libc-bin,ethtool,nftables,tcpdump,dnsutils,curl,procps,ca-certificates
case "${1:-}" in
kind)
	shift
	packages+=,systemd,systemd-sysv,udev,conntrack,iptables,util-linux,mount,kmod,libseccomp2,bash,jq,hostname,runc
	;;
vm)
	shift
	packages+=,linux-image-amd64,kmod,mount,util-linux,dnsmasq-base,busybox-static,xz-utils
	export INITRD=No # hack/vmroot.sh makes one that is a tenth of the size.
	;;
qemu)
	shift
	packages=qemu-system-x86
	;;
*) packages+=,openvswitch-switch ;; # Its database is tested, which needs no kernel module.
esac

key=$(printf '%s\n' "$suite" "$packages" "$(uname -m)" layout-1 | sha256sum | cut -c1-12)
cache=${XDG_CACHE_HOME:-$HOME/.cache}/kubernetes-nmstate
root=$cache/noderoot-$key

if [ "${1:-}" = --print ] || [ -d "$root/usr" ]; then
	echo "$root"
	exit 0
fi

cannot() {
	echo "noderoot: $1" >&2
	exit 3
}
[ "$(id -u)" = 0 ] || cannot "needs root"
command -v mmdebstrap >/dev/null || cannot "mmdebstrap is missing: apt-get install mmdebstrap"
# shellcheck disable=SC1091
. /etc/os-release
[ "${ID:-}" = debian ] || cannot "only a Debian machine has a mirror that serves $suite"

# The mirror is the one that apt of this machine uses for its own release.
mirror=$(apt-get indextargets --format '$(REPO_URI) $(CODENAME) $(RELEASE) $(COMPONENT)' 'Created-By: Packages' |
	awk -v own="$VERSION_CODENAME" '$NF == "main" && ($2 == own || $3 == own) { print $1; exit }')
[ -n "$mirror" ] || cannot "apt has no mirror for $VERSION_CODENAME main"

mkdir -p "$cache"
exec 9>"$cache/noderoot.lock"
flock 9
if [ -d "$root/usr" ]; then # somebody else made it while we waited
	echo "$root"
	exit 0
fi
rm -rf "$cache"/noderoot-*.partial
partial=$root.partial
trap 'rm -rf "$partial"' EXIT

echo "noderoot: making $root (about half a minute, once)" >&2
mmdebstrap --quiet --variant=minbase --include="$packages" \
	--aptopt='APT::Install-Recommends "false"' \
	--dpkgopt='path-exclude=/usr/share/man/*' \
	--dpkgopt='path-exclude=/usr/share/doc/*' \
	--dpkgopt='path-exclude=/usr/share/locale/*' \
	"$suite" "$partial" "$mirror" >&2 9>&-
mv "$partial" "$root"
echo "$root"
