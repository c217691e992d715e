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
# IMAGE_FILES is a folder whose files every image gets too.
#
# IMAGE_ARCH=arm64 (or amd64, ppc64le, s390x) builds for another architecture than this
# machine's, on Debian, into out/images/NAME-ARCH.tar: hack/cross.sh has the compilers,
# Debian's packages of that architecture the C library, and QEMU runs the result.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

umask 022
prefix=${IMAGE_PREFIX:-localhost/kubernetes-nmstate/}
tag=${IMAGE_TAG:-devel}
out=out/images
architecture=${IMAGE_ARCH:-$(go env GOHOSTARCH)}

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

# system makes the folder with the C library of the other architecture, from the packages
# of this machine's release of Debian, with the corrections of today. Nothing of them runs.
system() {
	local sources
	rm -rf "$sysroot"
	mkdir -p "$out"
	# shellcheck disable=SC2016
	sources=$(apt-get indextargets --format 'deb $(REPO_URI) $(RELEASE) $(COMPONENT)' 'Created-By: Packages' |
		awk -v own="$(. /etc/os-release && echo "$VERSION_CODENAME")" '$4 == "main" && ($3 == own || $3 ~ "^" own "-")' | sort -u)
	[ -n "$sources" ] || die "apt of this machine has no release of Debian from which the C library for $architecture could come"
	mmdebstrap --quiet --variant=extract --architectures="$DEBIAN_ARCH" --include=libc6,libgcc-s1 --aptopt='APT::Install-Recommends "false"' \
		--skip=cleanup/apt '' "$sysroot" - <<<"$sources" >&2
	register "$sysroot"/var/cache/apt/archives/*.deb
}

# register writes into dpkg's records which packages were unpacked, since nobody installed
# them: their programs are not this machine's.
register() {
	local deb records=$sysroot/var/lib/dpkg
	echo 1 >"$records/info/format"
	for deb; do
		printf '%s\nStatus: install ok installed\n\n' "$(dpkg-deb -f "$deb")" >>"$records/status"
		dpkg-deb --fsys-tarfile "$deb" | tar -t | sed 's|^\.||; s|/$||; s|^$|/.|' >"$records/info/$(dpkg-deb -f "$deb" Package):$DEBIAN_ARCH.list"
	done
}

# loader PROGRAM: lists what the dynamic loader finds for it, as ldd does.
loader() {
	local interpreter
	if [ -z "${EMULATOR:-}" ]; then
		LD_LIBRARY_PATH=$libraries ldd "$1"
		return
	fi
	interpreter=$(readelf -l "$1" | sed -n 's/.*interpreter: \(.*\)]/\1/p')
	"$EMULATOR" -L "$sysroot" "$sysroot$interpreter" --library-path "$libraries" --list "$1"
	echo "$interpreter (the loader itself)"
}

# linked PROGRAM ROOT: copies the libraries that a program is linked with to
# where the loader looks for them.
linked() {
	local path list
	list=$(loader "$1")
	if grep 'not found' <<<"$list" >&2; then die "$1 is linked with what is not here"; fi
	awk '/=> \//{ print $3 } $1 ~ /^\//{ print $1 }' <<<"$list" | while read -r path; do
		case $path in
		"$libraries"/*) install -D -m 755 "$path" "$2/usr/lib/${path##*/}" ;;
		*)
			install -D -m 755 "$sysroot$path" "$2$path"
			package "$path" "$2"
			;;
		esac
	done
}

# package LIBRARY ROOT: tells in the image which package of Debian's a library is of, where
# scanners look for it, and under which licence.
package() {
	local name path
	command -v dpkg-query >/dev/null || return 0
	for path in "$1" "/usr$1" "${1#/usr}"; do
		name=$(dpkg-query --admindir="$sysroot/var/lib/dpkg" -S "$path" 2>/dev/null | head -n 1 | cut -d: -f1)
		[ -z "$name" ] || break
	done
	[ -n "$name" ] || die "no package is known that $1 is of"
	install -d "$2/var/lib/dpkg/status.d" "$2/usr/share/doc/$name" "$2/etc"
	cp -L /etc/os-release "$2/etc/os-release" # Scanners ask of which release the packages are.
	dpkg-query --admindir="$sysroot/var/lib/dpkg" -s "$name${DEBIAN_ARCH:+:$DEBIAN_ARCH}" >"$2/var/lib/dpkg/status.d/$name"
	cp -L "$sysroot/usr/share/doc/$name/copyright" "$2/usr/share/doc/$name/"
}

# helper ROOT: nmstate-revert, where Rust was there to build it.
helper() {
	if [ -z "$NMSTATE_REVERT" ]; then
		die "nmstate-revert is not built, which images need: install Rust 1.88 (hack/libnmstate.sh says how)"
	fi
	install -m 755 "$NMSTATE_REVERT" "$1/usr/bin/nmstate-revert"
	linked "$1/usr/bin/nmstate-revert" "$1"
}

# lay NAME FOLDER: what the image holds, in FOLDER/root.
lay() {
	local root=$2/root
	rm -rf "$2"
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
		# The page for a team (deploy/components/page) runs from this image.
		CGO_ENABLED=0 go build -trimpath -buildvcs=false -ldflags "$stamp" -o "$root/usr/bin/kubectl-nmstate" ./plugin
		;;
	sim) CGO_ENABLED=0 go build -trimpath -buildvcs=false -ldflags "$stamp" -o "$root/usr/bin/sim" ./sim ;;
	esac
	[ "$1" = sim ] || helper "$root"
	[ -z "${IMAGE_FILES:-}" ] || cp -R "$IMAGE_FILES/." "$root/"
	runs "$1" "$root"
}

# runs NAME ROOT: the program begins with what is in its image, and nothing else.
runs() {
	[ "$(id -u)" = 0 ] || return 0
	local emulator=''
	[ -z "${EMULATOR:-}" ] || { emulator=/emulator && cp "$EMULATOR" "$2$emulator"; }
	# shellcheck disable=SC2086 # No emulator is no word.
	chroot "$2" $emulator "/usr/bin/$1" --version >/dev/null || die "$1 does not run in its image"
	# shellcheck disable=SC2086
	if [ "$1" = handler ] && ! chroot "$2" $emulator /usr/bin/handler profiles <<<'{interfaces: [{name: eth1, type: ethernet, state: up}]}' | grep -q '^interface-name=eth1$'; then
		die "libnmstate does not work in the handler's image"
	fi
	[ -z "$emulator" ] || rm "$2$emulator"
}

# archive NAME FOLDER: the image as docker save writes it, in FOLDER.tar.
archive() {
	local user=''
	[ "$1" = handler ] || user='"User":"65532:65532",'
	SOURCE_DATE_EPOCH=$epoch ARCHIVE_ARCH=$architecture hack/archive.sh "$2.tar" "$2/root" \
		"{$user\"Env\":[\"PATH=/usr/bin\"],\"Entrypoint\":[\"/usr/bin/$1\"]}" "$prefix$1:$tag"
}

for name; do
	[ -f "images/$name/Dockerfile" ] || die "no image is called $name; there are handler, controllers and sim"
done
[ $# -gt 0 ] || set -- handler controllers
settings=$(hack/cross.sh "$architecture")
eval "$settings"
sysroot=${settings:+$out/system-$architecture}
if [ "$*" != sim ]; then # It needs nothing but Go.
	settings=$(NMSTATE_ARCH=$architecture hack/libnmstate.sh --env)
	eval "$settings"
	libraries=$(NMSTATE_ARCH=$architecture hack/libnmstate.sh)/lib
	[ -z "$sysroot" ] || system
fi
use=$(engine)
[ -z "$sysroot" ] || use=
for name; do
	folder=$out/$name${sysroot:+-$architecture}
	lay "$name" "$folder"
	archive "$name" "$folder"
	say "$prefix$name:$tag in $folder.tar, $(($(stat -c %s "$folder.tar") / 1000000)) MB"
	[ -z "$use" ] || "$use" build -q -t "$prefix$name:$tag" -f "images/$name/Dockerfile" "$out/$name" >/dev/null
done
if [ -n "$use" ]; then
	say "built in $use too"
else
	say "neither docker nor podman answers, so the images are in these files only"
fi
