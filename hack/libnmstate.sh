#!/bin/bash
# Makes libnmstate and the program nmstate-revert available, once:
#
#   hack/libnmstate.sh          finds or builds them, prints their directory
#   hack/libnmstate.sh --env    the same, prints what a build that is linked with it
#                               needs:  eval "$(hack/libnmstate.sh --env)"
#
# The library is the system's where that is 2.2.50 or newer, otherwise it is
# built from the locked workspace in rust/. nmstate-revert is always built from
# there, since it exists in Rust only; without Rust it is left out, which is
# said in one line (handler/backend/nmstate/doc.go tells what it costs).
# NMSTATE_LIBRARY=build ignores the system's library. NMSTATE_ARCH builds for another
# architecture than this machine's (hack/cross.sh has them).
set -euo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
base=${XDG_CACHE_HOME:-$HOME/.cache}/kubernetes-nmstate/libnmstate
rust_wanted=1.88 # the minimum of the crate nmstate 2.2.62

say() { echo "libnmstate: $*" >&2; }
die() { say "$*"; exit 1; }

# has_library DIR: a program that calls the newest function we need links.
has_library() {
	echo 'int nmstate_validate(); int main(void) { return nmstate_validate(); }' |
		"${CC:-cc}" -x c - -o /dev/null ${1:+-L"$1"} -lnmstate 2>/dev/null
}

# system_library prints the path of the system's libnmstate.so.2, or nothing.
system_library() {
	[ "${NMSTATE_LIBRARY:-}" != build ] && [ -z "$cross" ] || return 0
	PATH=$PATH:/sbin:/usr/sbin ldconfig -p 2>/dev/null | awk '$1 == "libnmstate.so.2" { print $NF; exit }'
}

has_rust() {
	local version
	command -v cargo >/dev/null || return 1
	version=$(rustc --version 2>/dev/null | awk '{ print $2 }')
	[ -n "$version" ] && printf '%s\n' "$rust_wanted" "$version" | sort -V -C
}

how_to_install() {
	if command -v dnf >/dev/null; then
		echo "dnf install nmstate-devel"
	elif apt-cache show rustup >/dev/null 2>&1; then
		echo "apt-get install rustup && rustup default stable"
	else
		echo "curl -sSf https://sh.rustup.rs | sh -s -- -y"
	fi
}

# pinned is the version of nmstate that the workspace names.
pinned() { sed -n 's/^nmstate-clib = "=\(.*\)"$/\1/p' "$root/rust/Cargo.toml"; }

cargo_build() { # DIR PACKAGE...: into $built
	local target=$1 packages=()
	shift
	for package; do packages+=(-p "$package"); done
	(cd "$root/rust" && NMSTATE_VERSION=$(pinned) cargo build --release --locked --target-dir "$target" ${cross:+--target "$RUST_TARGET"} "${packages[@]}") >&2 ||
		die "cargo could not build ${packages[*]}; what it says is above"
}

# build DIR SYSTEM_LIBRARY: fills DIR with lib/ and bin/.
build() {
	local dir=$1 library=$2 packages=()
	mkdir -p "$dir/lib" "$dir/bin"
	if [ -n "$library" ]; then
		ln -s "$library" "$dir/lib/libnmstate.so"
		has_library "$dir/lib" || library=
	fi
	has_rust || [ -n "$library" ] ||
		die "neither the library nor Rust $rust_wanted is here; install it with: $(how_to_install)"
	if [ -z "$library" ]; then packages=(libnmstate nmstate-clib); fi
	if has_rust; then packages+=(nmstate-revert); fi
	if [ ${#packages[@]} -gt 0 ]; then
		say "building ${packages[*]} with $(cargo --version); some minutes, once"
		cargo_build "$base/target" "${packages[@]}"
	else
		say "no Rust $rust_wanted here, so no nmstate-revert: the way back after a lost checkpoint will be less exact"
	fi
	if [ -z "$library" ]; then
		install -m 755 "$built/libnmstate.so" "$dir/lib/libnmstate.so.2"
		ln -sf libnmstate.so.2 "$dir/lib/libnmstate.so"
	fi
	if has_rust; then install -m 755 "$built/nmstate-revert" "$dir/bin/"; fi
}

# version DIR: of the library in it, by the file that it is a link to where it is the
# system's.
version() {
	if [ -e "$1/lib/libnmstate.so.2" ]; then
		pinned
	else
		readlink -f "$1/lib/libnmstate.so" | sed 's/.*\.so\.//'
	fi
}

case ${1:-} in '' | --env) ;; *) die "unknown argument $1; see the top of $0" ;; esac

cross=
if [ -n "${NMSTATE_ARCH:-}" ]; then
	cross=$("$root/hack/cross.sh" "$NMSTATE_ARCH")
	eval "$cross"
	[ -z "$cross" ] || has_rust || die "for $NMSTATE_ARCH it is built by Rust $rust_wanted, which is not here: $(how_to_install)"
fi
built=$base/target/${cross:+$RUST_TARGET/}release

library=$(system_library)
key=$({
	cat "$root"/rust/Cargo.* "$root"/rust/*/Cargo.toml "$root"/rust/revert/src/*.rs
	echo layout 1 "$(uname -m)"
	# A library that was replaced, or a Rust that came, is another result.
	[ -z "$library" ] || stat -L -c '%n %s %Y' "$library"
	if has_rust; then echo rust; fi
	[ -z "$cross" ] || echo "$cross"
} | sha256sum | cut -c1-12)
dir=$base/$key

if [ ! -d "$dir" ]; then
	mkdir -p "$base"
	exec 9>"$base/lock"
	flock 9
	if [ ! -d "$dir" ]; then
		temporary=$(mktemp -d "$base/.new-XXXXXX")
		trap 'rm -rf "$temporary"' EXIT
		build "$temporary" "$library"
		chmod 755 "$temporary"
		mv -T "$temporary" "$dir"
		trap - EXIT
		say "ready in $dir"
	fi
	exec 9>&-
fi

if [ "${1:-}" = --env ]; then
	[ -z "$cross" ] || echo "$cross"
	# Without the C library's resolver and users, for which an image from scratch has no
	# modules; and dependencies are compiled once, for builds with cgo and without.
	echo "export CGO_ENABLED=1 GOFLAGS='$(go env GOFLAGS) -tags=nmstate,netgo,osusergo'"
	echo "export CGO_LDFLAGS='-O2 -g -L$dir/lib -Wl,-rpath,$dir/lib'"
	echo "export NMSTATE_VERSION='$(version "$dir")'"
	echo "export NMSTATE_REVERT='$([ ! -x "$dir/bin/nmstate-revert" ] || echo "$dir/bin/nmstate-revert")'"
else
	echo "$dir"
fi
