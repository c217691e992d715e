#!/bin/bash
# Builds the images of the handler and of the controllers, or that of the simulator.
#
#   hack/images.sh              handler and controllers
#   hack/images.sh handler      only that
#   hack/images.sh sim          the simulator, for sim/job.yaml
#
# No base image is pulled: an image is what is built here and what that is
# linked with, which is this distribution's C library. Each is written to
# out/images/NAME.tar, the same bits for the same sources and tools (docker load,
# podman load, kind load image-archive and ctr images import take it), and where
# docker or podman answers it is built there too, from images/NAME/Dockerfile.
#
# IMAGE_PREFIX (localhost/kubernetes-nmstate/) and IMAGE_TAG (devel) name them;
# IMAGE_ENGINE is docker, podman or none, and otherwise the first that answers.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

umask 022
prefix=${IMAGE_PREFIX:-localhost/kubernetes-nmstate/}
tag=${IMAGE_TAG:-devel}
out=out/images

say() { echo "images: $*" >&2; }
die() { say "$*"; exit 1; }

[ "$(uname)" = Linux ] || die "images are built on Linux, since libnmstate is"
hack/need.sh go
hack/need.sh gcc
epoch=${SOURCE_DATE_EPOCH:-$(git log -1 --format=%ct 2>/dev/null || echo 0)}
stamp="-s -w -buildid= -X main.version=$(git describe --tags --always --dirty 2>/dev/null || echo devel)"

engine() {
	local one
	for one in ${IMAGE_ENGINE:-docker podman}; do
		[ "$one" != none ] || return 0
		if "$one" info >/dev/null 2>&1; then echo "$one" && return; fi
	done
	[ -z "${IMAGE_ENGINE:-}" ] || die "$IMAGE_ENGINE does not answer: start it, or say IMAGE_ENGINE=none"
}

# linked PROGRAM ROOT: copies the libraries that a program is linked with to
# where the loader looks for them.
linked() {
	local path
	LD_LIBRARY_PATH=$libraries ldd "$1" | awk '/=> \//{ print $3 } $1 ~ /^\//{ print $1 }' | while read -r path; do
		case $path in
		"$libraries"/*) install -D -m 755 "$path" "$2/usr/lib/${path##*/}" ;;
		*) install -D -m 755 "$path" "$2$path" ;;
		esac
	done
	if LD_LIBRARY_PATH=$libraries ldd "$1" | grep 'not found' >&2; then die "$1 is linked with what is not here"; fi
}

# helper ROOT: nmstate-revert, where Rust was there to build it.
helper() {
	if [ -z "$NMSTATE_REVERT" ]; then
		die "nmstate-revert is not built, which images need: install Rust 1.88 (hack/libnmstate.sh says how)"
	fi
	install -m 755 "$NMSTATE_REVERT" "$1/usr/bin/nmstate-revert"
	linked "$1/usr/bin/nmstate-revert" "$1"
}

# lay NAME: what the image holds, in out/images/NAME/root.
lay() {
	local root=$out/$1/root
	rm -rf "${out:?}/$1"
	mkdir -p "$root"/{usr/bin,tmp,run/dbus,var/lib/kubernetes-nmstate,etc/ssl/certs}
	chmod 1777 "$root/tmp"
	ln -s /run "$root/var/run" # Where libnmstate looks for the system bus.
	[ ! -e /etc/ssl/certs/ca-certificates.crt ] || install -m 644 /etc/ssl/certs/ca-certificates.crt "$root/etc/ssl/certs/"
	case $1 in
	handler)
		# Without the path of this machine's cache in the program.
		CGO_LDFLAGS="-O2 -g -L$libraries" go build -trimpath -buildvcs=false -ldflags "$stamp -X main.nmstateVersion=$NMSTATE_VERSION" -o "$root/usr/bin/handler" ./handler
		linked "$root/usr/bin/handler" "$root"
		;;
	controllers) # The tag is for captures, which the helper resolves.
		CGO_ENABLED=0 go build -trimpath -buildvcs=false -tags nmstate -ldflags "$stamp" -o "$root/usr/bin/controllers" ./controllers
		;;
	sim) CGO_ENABLED=0 go build -trimpath -buildvcs=false -ldflags "$stamp" -o "$root/usr/bin/sim" ./sim ;;
	esac
	[ "$1" = sim ] || helper "$root"
	if [ "$(id -u)" = 0 ]; then
		chroot "$root" "/usr/bin/$1" --version >/dev/null || die "$1 does not run in its image"
	fi
}

# archive NAME: the image as docker save writes it.
archive() {
	local user=''
	[ "$1" = handler ] || user='"User":"65532:65532",'
	SOURCE_DATE_EPOCH=$epoch hack/archive.sh "$out/$1.tar" "$out/$1/root" \
		"{$user\"Env\":[\"PATH=/usr/bin\"],\"Entrypoint\":[\"/usr/bin/$1\"]}" "$prefix$1:$tag"
}

for name; do
	[ -f "images/$name/Dockerfile" ] || die "no image is called $name; there are handler, controllers and sim"
done
[ $# -gt 0 ] || set -- handler controllers
if [ "$*" != sim ]; then # It needs nothing but Go.
	settings=$(hack/libnmstate.sh --env)
	eval "$settings"
	libraries=$(hack/libnmstate.sh)/lib
fi
use=$(engine)
for name; do
	lay "$name"
	archive "$name"
	say "$prefix$name:$tag in $out/$name.tar, $(($(stat -c %s "$out/$name.tar") / 1000000)) MB"
	[ -z "$use" ] || "$use" build -q -t "$prefix$name:$tag" -f "images/$name/Dockerfile" "$out/$name" >/dev/null
done
if [ -n "$use" ]; then
	say "built in $use too"
else
	say "neither docker nor podman answers, so the images are in these files only"
fi
