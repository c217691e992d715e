#!/bin/bash
# Makes a release in out/release: manifests, Helm chart, images for several architectures,
# the kubectl plugin for Linux, macOS and Windows with its krew manifest, SBOMs, licences,
# checksums and a list of changes. It uploads nothing.
#
#   VERSION=v1.2.3 hack/release.sh
#
# IMAGE_PREFIX is where the images will be pulled from (ghcr.io/nmstate/kubernetes-nmstate).
# ARCHITECTURES are those of the images ("amd64 arm64"; ppc64le and s390x were not tried):
# others than this machine's need Debian and what hack/install-deps.sh release installs.
# IMAGES=no leaves the images out. TOOLS is a folder with goreleaser, syft, crane and helm,
# which are built otherwise.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

say() { echo "release: $*" >&2; }
die() { say "$*"; exit 2; }

version=${VERSION:-}
[[ $version =~ ^v[0-9]+\.[0-9]+\.[0-9]+(-[0-9A-Za-z.-]+)?$ ]] || die "VERSION is \"$version\": want one such as v1.2.3 or v1.2.3-rc.1"
[ -n "${DIRTY:-}" ] || [ -z "$(git status --porcelain --untracked-files=no)" ] || die "there are changes that are not committed; DIRTY=1 releases them all the same"
hack/need.sh go
prefix=${IMAGE_PREFIX:-ghcr.io/nmstate/kubernetes-nmstate}
architectures=${ARCHITECTURES:-amd64 arm64}
if [ "${IMAGES:-yes}" != no ]; then
	# Now and not after ten minutes.
	for architecture in $architectures; do
		hack/cross.sh "$architecture" >/dev/null 2>&1 || hack/install-deps.sh release "$architecture"
		hack/cross.sh "$architecture" >/dev/null
	done
fi
export VERSION=$version

out=out/release
files=$out/files
rm -rf "$out"
mkdir -p "$files"

tools=${TOOLS:-$PWD/out/release-tools}
if [ -z "${TOOLS:-}" ]; then
	say "tools: goreleaser, syft, crane, helm (the first time this takes minutes)"
	mkdir -p "$tools"
	(cd hack/release/tools && CGO_ENABLED=0 go build -trimpath -o "$tools/" github.com/goreleaser/goreleaser/v2 github.com/anchore/syft/cmd/syft github.com/google/go-containerregistry/cmd/crane)
	(cd hack/release && CGO_ENABLED=0 go build -trimpath -o "$tools/" helm.sh/helm/v4/cmd/helm)
fi
export PATH=$tools:$PATH SYFT_CHECK_FOR_APP_UPDATE=false SYFT_GOLANG_SEARCH_LOCAL_MOD_CACHE_LICENSES=true
SYFT_GOLANG_LOCAL_MOD_CACHE_DIR=$(go env GOMODCACHE)
export SYFT_GOLANG_LOCAL_MOD_CACHE_DIR

say "licences"
go run ./hack/licences >"$files/THIRD_PARTY_LICENSES.txt"

say "manifests"
CGO_ENABLED=0 go run ./hack/manifests/cmd/manifests release "$files" "$prefix" "$version"
cp deploy/operator/nmstate.yaml "$files/nmstate.yaml"

say "chart"
cp -RL charts "$out/charts" # The kinds are links.
sed -i.before "s|^  prefix: .*|  prefix: $prefix|" "$out/charts/kubernetes-nmstate/values.yaml"
rm "$out/charts/kubernetes-nmstate/values.yaml.before"
helm lint --quiet "$out/charts/kubernetes-nmstate"
helm package "$out/charts/kubernetes-nmstate" --version "${version#v}" --app-version "$version" --destination "$files" >&2

# crates ARCHITECTURE: what is linked into libnmstate and nmstate-revert, as a Cargo.lock,
# which scanners of images read.
crates() (
	local names
	eval "$(hack/cross.sh "$1")"
	names=$(cd rust && cargo tree --locked -p libnmstate -p nmstate-revert -e normal,no-proc-macro \
		--target "${RUST_TARGET:-$(rustc -vV | sed -n 's/^host: //p')}" --prefix none -f '{p}' | awk '{ print $1, substr($2, 2) }' | sort -u)
	awk -v names="$names" 'BEGIN { RS = ""; ORS = "\n\n"; count = split(names, each, "\n"); for (i = 1; i <= count; i++) linked[each[i]] = 1 }
		!/^\[\[package/ { print }
		match($0, /name = "[^"]*"/) { name = substr($0, RSTART + 8, RLENGTH - 9); match($0, /version = "[^"]*"/); if ((name " " substr($0, RSTART + 11, RLENGTH - 12)) in linked) print }' rust/Cargo.lock
)

quietly() {
	local said
	said=$("$@" 2>&1) || die "$*: $said"
}

# image NAME ARCHITECTURE: what people load and scan, of one that was built.
image() {
	local tar=out/images/$1-$2.tar
	[ -e "$tar" ] || tar=out/images/$1.tar # This machine's own.
	syft scan "docker-archive:$tar" --source-name "$prefix/$1" --source-version "$version" --platform "linux/$2" --select-catalogers +rust-cargo-lock-cataloger --quiet --output "spdx-json=$files/$1-$2.spdx.json"
	gzip -9nc "$tar" >"$files/$1-$2.tar.gz"
	quietly crane push --insecure "$tar" "$registry/$1:$2"
}

# joined NAME: one image for all architectures, as a folder and as a file.
joined() {
	local architecture all=()
	for architecture in $architectures; do all+=(--manifest "$registry/$1:$architecture"); done
	quietly crane index append --insecure --docker-empty-base=false "${all[@]}" --tag "$registry/$1:$version"
	quietly crane pull --insecure --format oci --annotate-ref "$registry/$1:$version" "$out/oci/$1"
	sed -i.before "s|$registry/$1|$prefix/$1|" "$out/oci/$1/index.json"
	rm "$out/oci/$1/index.json.before"
	tar -C "$out/oci/$1" --sort=name --owner=0 --group=0 --numeric-owner --mtime="@$(git log -1 --format=%ct)" -cf "$files/$1-$version.oci.tar" .
}

if [ "${IMAGES:-yes}" != no ]; then
	rm -f out/images/*.tar
	extra=$out/image-files/usr/share
	mkdir -p "$extra/licenses/kubernetes-nmstate" "$extra/kubernetes-nmstate"
	cp LICENSE "$files/THIRD_PARTY_LICENSES.txt" "$extra/licenses/kubernetes-nmstate/"
	# A registry of our own joins the architectures.
	crane registry serve --address 127.0.0.1:0 >"$out/registry.log" 2>&1 &
	trap 'kill %1' EXIT
	registry=127.0.0.1:$(timeout 30 sh -c "until sed -n 's/.* serving on port //p' '$out/registry.log' | grep .; do sleep 0.1; done") || die "crane's registry did not start: $(cat "$out/registry.log")"
	for architecture in $architectures; do
		say "images, $architecture"
		crates "$architecture" >"$extra/kubernetes-nmstate/Cargo.lock"
		IMAGE_PREFIX=$prefix/ IMAGE_TAG=$version IMAGE_ARCH=$architecture IMAGE_FILES=$out/image-files IMAGE_ENGINE=none hack/images.sh
		for name in handler controllers; do image "$name" "$architecture"; done
	done
	for name in handler controllers; do joined "$name"; done
fi

say "kubectl-nmstate, checksums and changes"
# What people have to know comes before the list of commits.
awk -v version="$version" '/^## / { is = $2 == version || $2 == "Unreleased" } is && !/^## /' CHANGELOG.md >"$out/notes.md"
flags=(--clean --skip=publish,announce,validate --release-header="$out/notes.md")
[ "$(git describe --tags --exact-match 2>/dev/null || true)" = "$version" ] || flags+=(--snapshot)
goreleaser release "${flags[@]}"
cp "$out"/plugin/*.tar.gz "$out"/plugin/*.zip "$out"/plugin/*.json "$out/plugin/checksums.txt" "$files/" 2>/dev/null || true
rm -f "$files/artifacts.json" "$files/config.json" "$files/metadata.json"
cp "$(find "$out/plugin" -path '*krew*' -name '*.yaml' | head -n 1)" "$files/nmstate-krew.yaml"
cp "$out/plugin/CHANGELOG.md" "$files/CHANGELOG.md" 2>/dev/null || say "no list of changes: a snapshot has none"
(
	cd "$files"
	# What goreleaser made after it had counted.
	for file in *; do grep -qF "  $file" checksums.txt || [ "$file" = checksums.txt ] || sha256sum "$file" >>checksums.txt; done
	sha256sum --check --quiet checksums.txt
)
say "done: $(find "$files" -type f | wc -l) files in $files"
