#!/bin/bash
# Writes a container image with one layer as docker save does, the same bits for
# the same files; docker load, podman load and ctr images import take it.
#
#   hack/archive.sh OUT.tar ROOT CONFIG TAG...
#
# ROOT is the folder with the image's files, CONFIG what is in "config" of the
# image's JSON, such as {"Entrypoint":["/usr/bin/handler"]}. SOURCE_DATE_EPOCH
# dates everything, or 0; ARCHIVE_ARCH is the
# image's architecture, or this machine's. OUT.tar is never seen half written.
set -euo pipefail
umask 022

out=$1 root=$2 config=$3
shift 3
epoch=${SOURCE_DATE_EPOCH:-0}
dir=$(mktemp -d "$out.partial-XXXXXX")
trap 'rm -rf "$dir"' EXIT
trap 'exit 130' INT TERM

packed() { tar -C "$1" --sort=name --numeric-owner --mtime="@$epoch" --format=ustar "${@:3}" -cf "$2" .; }

architecture=${ARCHIVE_ARCH:-$(uname -m)}
case $architecture in
x86_64) architecture=amd64 ;;
aarch64) architecture=arm64 ;;
esac
mkdir "$dir/archive"
# Owners are kept where root laid the files, since a system's root has many.
owner=(--owner=0 --group=0)
[ -z "${ARCHIVE_OWNERS:-}" ] || owner=()
packed "$root" "$dir/archive/layer.tar" "${owner[@]}"
layer=$(sha256sum "$dir/archive/layer.tar" | cut -d' ' -f1)
printf '{"architecture":"%s","os":"linux","created":"%s","config":%s,"rootfs":{"type":"layers","diff_ids":["sha256:%s"]}}' \
	"$architecture" "$(date -u -d "@$epoch" +%Y-%m-%dT%H:%M:%SZ)" "$config" "$layer" >"$dir/config.json"
name=$(sha256sum "$dir/config.json" | cut -d' ' -f1).json
mv "$dir/config.json" "$dir/archive/$name"
tags=$(printf '"%s",' "$@")
printf '[{"Config":"%s","RepoTags":[%s],"Layers":["layer.tar"]}]' "$name" "${tags%,}" >"$dir/archive/manifest.json"
packed "$dir/archive" "$dir/image.tar" --owner=0 --group=0
mv "$dir/image.tar" "$out"
