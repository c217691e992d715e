#!/bin/bash
# Lays out in out/before what an update on a kind cluster begins with: images of an
# earlier commit, with the tag before, and its deploy/, in which before/distributed and
# before/operator install them.
#
#   kind/before.sh            of the last commit, or of the one before it where the
#                             checkout is as committed
#   kind/before.sh COMMIT     of that one, such as the tag of a release
#
# Where the checkout has no earlier commit (a shallow clone, no history at all), it says so
# and takes this one: the update then brings the same programs as new images.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

out=$PWD/out/before
say() { echo "before: $*" >&2; }

commit=${1:-}
if ! git rev-parse --git-dir >/dev/null 2>&1; then
	say "this checkout has no history, so the update is from this one to itself"
	commit=nothing
elif [ -n "$commit" ]; then
	commit=$(git rev-parse --verify "$commit^{commit}")
elif [ -z "$(git status --porcelain --untracked-files=no)" ] && commit=$(git rev-parse --quiet --verify 'HEAD~1^{commit}'); then
	:
else
	[ -n "$(git status --porcelain --untracked-files=no)" ] || say "this checkout has no earlier commit, so the update is from this one to itself"
	commit=$(git rev-parse --verify 'HEAD^{commit}')
fi
mark="$commit $(sha256sum kind/before.sh | cut -c1-12)"
if [ "$commit" != nothing ] && [ "$(cat "$out/commit" 2>/dev/null)" = "$mark" ]; then
	say "$commit is there"
	exit
fi

rm -rf "$out"
mkdir -p "$out"
trap 'git worktree remove --force "$out/tree" 2>/dev/null || rm -rf "$out/tree"' EXIT
if [ "$commit" = nothing ]; then
	mkdir "$out/tree"
	tar --exclude=./out --exclude=./bin --exclude=./artifacts --exclude=./.git -cf - . | tar -C "$out/tree" -xf -
else
	git worktree prune
	git worktree add --quiet --force --detach "$out/tree" "$commit"
fi
(cd "$out/tree" && IMAGE_TAG=before IMAGE_ENGINE=none hack/images.sh)
mv "$out/tree/out/images"/{handler,controllers}.tar "$out/"
cp -R "$out/tree/deploy" "$out/deploy"
for what in overlays/distributed operator; do
	mkdir -p "$out/deploy/before/${what##*/}"
	cat >"$out/deploy/before/${what##*/}/kustomization.yaml" <<-END
		apiVersion: kustomize.config.k8s.io/v1beta1
		kind: Kustomization
		resources: [../../$what]
		images:
		- {name: localhost/kubernetes-nmstate/handler, newTag: before}
		- {name: localhost/kubernetes-nmstate/controllers, newTag: before}
	END
done
echo "$mark" >"$out/commit"
say "images and deploy/ of $commit are in $out"
