#!/bin/bash
# Prints what a build for another architecture of Linux needs:
#
#   eval "$(hack/cross.sh arm64)"     for amd64, arm64, ppc64le or s390x
#
#   GOARCH, CC        for Go with cgo
#   RUST_TARGET       for cargo; the linker of that target is set too
#   DEBIAN_ARCH       what Debian calls the architecture
#   EMULATOR          runs its programs here
#
# Of this machine's own architecture it prints nothing. Exit 2: something is missing, and
# the line says what installs it.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

stop() {
	echo "cross: $*" >&2
	exit 2
}

case ${1:-} in
amd64) debian=amd64 cpu=x86_64 ;;
arm64) debian=arm64 cpu=aarch64 ;;
ppc64le) debian=ppc64el cpu=powerpc64le ;;
s390x) debian=s390x cpu=s390x ;;
*) stop "no architecture is called \"${1:-}\"; there are amd64, arm64, ppc64le and s390x" ;;
esac
[ "$1" != "$(GOARCH='' go env GOHOSTARCH)" ] || exit 0

compiler=$cpu-linux-gnu-gcc
[ "$cpu" != powerpc64le ] || emulator=qemu-ppc64le-static
emulator=${emulator:-qemu-$cpu-static}
for program in "$compiler" "$emulator" mmdebstrap; do
	command -v "$program" >/dev/null || stop "$program is missing; install it with: hack/install-deps.sh release $1 (Debian)"
done

target=$cpu-unknown-linux-gnu
if ! [ -d "$(rustc --print sysroot)/lib/rustlib/$target" ]; then
	command -v rustup >/dev/null || stop "Rust has no standard library for $target here; with rustup: rustup target add $target"
	# In rust/, where a toolchain may be chosen.
	(cd rust && rustup target add "$target") >&2 || stop "rustup could not add $target; what it says is above"
fi

variable=${target^^}
echo "export GOARCH=$1 CC=$compiler RUST_TARGET=$target DEBIAN_ARCH=$debian EMULATOR='$(command -v "$emulator")'"
echo "export CARGO_TARGET_${variable//-/_}_LINKER=$compiler"
