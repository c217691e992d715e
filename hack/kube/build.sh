#!/bin/sh
# Builds the programs of the embedded control plane (kube-apiserver,
# kube-controller-manager, etcd, kubectl: one binary, four names) from their Go
# modules, once for each version of this folder and of Go.
#
#   build.sh             build if needed, print the folder that holds the programs
#   build.sh OUTDIR      the same, and link the programs into OUTDIR
#   build.sh --cached    print the folder if it is built already, else exit 3
#
# Progress goes to stderr. A build that was cut off leaves nothing that a later
# call would take for a whole one.
set -eu
cd "$(dirname "$0")"

programs="kube-apiserver kube-controller-manager etcd kubectl"

say() { echo "kube: $*" >&2; }

sha256() { if command -v sha256sum >/dev/null; then sha256sum; else shasum -a 256; fi; }

command -v go >/dev/null || { say "go is not in PATH; install Go 1.26 or newer"; exit 1; }

cache=${XDG_CACHE_HOME:-$HOME/.cache}/kubernetes-nmstate/kube
key=$({ go version; cat go.mod go.sum main.go build.sh; } | sha256 | cut -c1-16)
built=$cache/$key

build() {
	version=$(go list -m -f '{{.Version}}' k8s.io/kubernetes)
	minor=$(echo "$version" | cut -d. -f2)
	# Without these kubectl cannot read the version that the API server reports.
	stamp=""
	for package in k8s.io/component-base/version k8s.io/client-go/pkg/version; do
		for value in gitVersion="$version" gitMajor=1 gitMinor="$minor" gitTreeState=clean \
			gitCommit=module buildDate=2026-01-01T00:00:00Z; do
			stamp="$stamp -X $package.$value"
		done
	done

	partial=$(mktemp -d "$cache/.partial.XXXXXX")
	trap 'rm -rf "$partial"' EXIT
	trap 'exit 130' INT TERM
	say "building Kubernetes $version from Go modules: about 10 minutes the first time, 10 seconds after small changes"
	CGO_ENABLED=0 nice go build -trimpath -ldflags "-s -w$stamp" -o "$partial/kube" .
	for program in $programs; do ln -s kube "$partial/$program"; done
	chmod 755 "$partial"
	# Somebody else may have finished the same build meanwhile: theirs is as good.
	mv -T "$partial" "$built" 2>/dev/null || [ -x "$built/kube" ] || mv "$partial" "$built"
	say "built $built in $(($(date +%s) - started)) s"
}

case ${1-} in
--cached)
	[ -x "$built/kube" ] || exit 3
	echo "$built"
	exit 0
	;;
-*)
	say "usage: build.sh [--cached | OUTDIR]"
	exit 2
	;;
esac

started=$(date +%s)
if [ ! -x "$built/kube" ]; then
	mkdir -p "$cache"
	# One build at a time; who waited finds it done.
	if command -v flock >/dev/null; then
		exec 9>"$cache/.lock"
		flock -n 9 || { say "waiting for another build to end"; flock 9; }
		rm -rf "$cache"/.partial.* # of a build that was killed
	fi
	[ -x "$built/kube" ] || build
fi
if [ -n "${1-}" ]; then
	mkdir -p "$1"
	for program in $programs; do ln -sfn "$built/kube" "$1/$program"; done
fi
echo "$built"
