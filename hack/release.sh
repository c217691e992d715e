#!/bin/bash
# Makes a release in out/release: manifests, Helm chart, images of this machine's
# architecture, the kubectl plugin for Linux, macOS and Windows with its krew manifest,
# SBOMs, licences, checksums and a list of changes. It uploads nothing.
#
#   VERSION=v1.2.3 hack/release.sh
#
# IMAGE_PREFIX is where the images will be pulled from (ghcr.io/nmstate/kubernetes-nmstate).
# The handler is linked with the distribution's libraries, so its image is built on a
# machine of each architecture: run this on amd64 and on arm64, push both, and join them
# with docker manifest create. IMAGES=no leaves the images out. TOOLS is a folder with
# goreleaser, syft and helm, which are built otherwise.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

say() { echo "release: $*" >&2; }
die() { say "$*"; exit 2; }

version=${VERSION:-}
[[ $version =~ ^v[0-9]+\.[0-9]+\.[0-9]+(-[0-9A-Za-z.-]+)?$ ]] || die "VERSION is \"$version\": want one such as v1.2.3 or v1.2.3-rc.1"
[ -n "${DIRTY:-}" ] || [ -z "$(git status --porcelain --untracked-files=no)" ] || die "there are changes that are not committed; DIRTY=1 releases them all the same"
hack/need.sh go
prefix=${IMAGE_PREFIX:-ghcr.io/nmstate/kubernetes-nmstate}
architecture=$(go env GOARCH)
export VERSION=$version

out=out/release
files=$out/files
rm -rf "$out"
mkdir -p "$files"

tools=${TOOLS:-$PWD/out/release-tools}
if [ -z "${TOOLS:-}" ]; then
	say "tools: goreleaser, syft, helm (the first time this takes minutes)"
	mkdir -p "$tools"
	(cd hack/release/tools && CGO_ENABLED=0 go build -trimpath -o "$tools/" github.com/goreleaser/goreleaser/v2 github.com/anchore/syft/cmd/syft)
	(cd hack/release && CGO_ENABLED=0 go build -trimpath -o "$tools/" helm.sh/helm/v4/cmd/helm)
fi
export PATH=$tools:$PATH SYFT_CHECK_FOR_APP_UPDATE=false

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

if [ "${IMAGES:-yes}" != no ]; then
	say "images, $architecture"
	IMAGE_PREFIX=$prefix/ IMAGE_TAG=$version hack/images.sh
	for name in handler controllers; do
		syft scan "docker-archive:out/images/$name.tar" --quiet --output "spdx-json=$files/$name-$architecture.spdx.json"
		gzip -9nc "out/images/$name.tar" >"$files/$name-$architecture.tar.gz"
	done
fi

say "kubectl-nmstate, checksums and changes"
flags=(--clean --skip=publish,announce,validate)
[ "$(git describe --tags --exact-match 2>/dev/null || true)" = "$version" ] || flags+=(--snapshot)
goreleaser release "${flags[@]}"
cp "$out"/plugin/*.tar.gz "$out"/plugin/*.zip "$out"/plugin/*.json "$out/plugin/checksums.txt" "$files/" 2>/dev/null || true
rm -f "$files/artifacts.json" "$files/config.json" "$files/metadata.json"
cp "$(find "$out/plugin" -path '*krew*' -name '*.yaml' | head -n 1)" "$files/nmstate-krew.yaml"
cp "$out/plugin/CHANGELOG.md" "$files/CHANGELOG.md" 2>/dev/null || say "no list of changes: a snapshot has none"
(cd "$files" && sha256sum --check --quiet checksums.txt)
say "done: $(find "$files" -type f | wc -l) files in $files"
