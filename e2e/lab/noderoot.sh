#!/bin/bash
# Makes the root file system of lab nodes: Debian trixie with NetworkManager
# 1.52, or Debian bookworm with 1.42. Prints the folder; made once, kept in the
# cache, and never seen half made.
#
#   hack/noderoot.sh [1.52|1.42]            make it if missing, print where it is
#   hack/noderoot.sh [1.52|1.42] kind       the same for kind nodes, which have systemd too
#   hack/noderoot.sh vm                     the same with a kernel and all its drivers (hack/vmroot.sh)
#   hack/noderoot.sh qemu                   what runs that kernel
#   hack/noderoot.sh dot1x                  programs of 802.1X, for a switch and a node
#   hack/noderoot.sh openvswitch            NetworkManager 1.52 and its plugin for Open vSwitch, which
#                                           Debian leaves out: made from Debian's source package
#   hack/noderoot.sh [1.52|1.42] --print    only print where it is or would be
#
# Exit 3: this machine cannot make it (not Debian, no mmdebstrap, not root).
set -euo pipefail

suite=trixie variant=minbase
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
	packages+=,linux-image-amd64,kmod,mount,util-linux,dnsmasq-base,busybox-static,xz-utils,openvswitch-switch
	export INITRD=No # hack/vmroot.sh makes one that is a tenth of the size.
	;;
qemu)
	shift
	packages=qemu-system-x86
	;;
openvswitch)
	shift
	packages=dpkg-dev,libjansson-dev,meson,ninja-build,ca-certificates
	made_by=networkmanager_with_openvswitch
	;;
dot1x)
	shift
	packages=hostapd,wpasupplicant variant=extract
	;;
*) packages+=,openvswitch-switch ;; # Its database is tested, which needs no kernel module.
esac

# What Debian's rules switch off, and what nothing needs that only has to start.
options=(-Dovs=true -Dcrypto=gnutls)
for off in ppp modem_manager wifi teamdctl nmtui nmcli selinux systemd_journal introspection vapi docs concheck libpsl polkit qt bluez5_dun nm_cloud_setup firewalld_zone; do
	options+=("-D$off=false")
done
for no in libaudit session_tracking tests; do options+=("-D$no=no"); done

# networkmanager_with_openvswitch TREE RESULT: compiles in TREE, whose apt has the sources.
networkmanager_with_openvswitch() {
	local lib
	lib=usr/lib/$(chroot "$1" dpkg-architecture -qDEB_HOST_MULTIARCH)
	# /proc is there for this command only: nothing of it stays mounted, whatever ends it.
	unshare --mount sh -ec 'mount -t proc proc "$0/proc" && exec chroot "$0" "$@"' "$1" sh -ec '
		export DEBIAN_FRONTEND=noninteractive
		apt-get -qq update
		apt-get -qq -y --no-install-recommends build-dep network-manager >/dev/null 2>/root/apt.log || { tail -n 5 /root/apt.log; exit 1; }
		cd /root && apt-get -qq source --download-only network-manager && dpkg-source -x network-manager_*.dsc source >/dev/null 2>&1
		lib=$1 && shift && cd source && meson setup built --prefix=/usr --libdir="${lib#usr/}" "$@" >/dev/null
		cd built && ninja -j"$(nproc)" src/core/NetworkManager src/core/devices/ovs/libnm-device-plugin-ovs.so >/root/ninja.log 2>&1 || { tail -n 5 /root/ninja.log; exit 1; }
	' sh "$lib" "${options[@]}" >&2 9>&-
	local version
	version=$(sed -n "s/^  version: '\(.*\)',/\1/p" "$1/root/source/meson.build" | head -n 1)
	mkdir -p "$2/usr/sbin" "$2/$lib/NetworkManager/$version"
	cp "$1/root/source/built/src/core/NetworkManager" "$2/usr/sbin/"
	cp "$1/root/source/built/src/core/devices/ovs/libnm-device-plugin-ovs.so" "$2/$lib/NetworkManager/$version/"
	chroot "$1" strip -o /root/stripped /root/source/built/src/core/NetworkManager && mv "$1/root/stripped" "$2/usr/sbin/NetworkManager"
}

key=$(printf '%s\n' "$suite" "$packages" "$(uname -m)" layout-1 ${made_by:+"$(declare -f "$made_by")" "${options[@]}"} | sha256sum | cut -c1-12)
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
rm -rf "$cache"/noderoot-*.partial "$cache"/noderoot-*.partial-tree
partial=$root.partial
trap 'rm -rf "$partial" "$partial-tree"' EXIT

# tree FOLDER SOURCE...: a Debian in that folder.
tree() {
	mmdebstrap --quiet --variant="$variant" --include="$packages" \
		--aptopt='APT::Install-Recommends "false"' \
		--dpkgopt='path-exclude=/usr/share/man/*' \
		--dpkgopt='path-exclude=/usr/share/doc/*' \
		--dpkgopt='path-exclude=/usr/share/locale/*' \
		"$suite" "$@" >&2 9>&-
}

if [ -n "${made_by:-}" ]; then
	echo "noderoot: making $root (about five minutes, once)" >&2
	tree "$partial-tree" "deb $mirror $suite main" "deb-src $mirror $suite main"
	"$made_by" "$partial-tree" "$partial"
else
	echo "noderoot: making $root (about half a minute, once)" >&2
	tree "$partial" "$mirror"
fi
mv "$partial" "$root"
echo "$root"
