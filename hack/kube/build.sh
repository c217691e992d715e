#!/bin/sh
# Builds Kubernetes' programs from their Go modules, once for each version of
# this folder and of Go:
#
#   build.sh             build if needed, print the folder that holds the programs
#                        of the embedded control plane and of nodes: one binary,
#                        eight names, of them kube-apiserver, etcd and kubectl
#   build.sh OUTDIR      the same, and link the programs into OUTDIR
#   build.sh --cached    print the folder if it is built already, else exit 3
#   build.sh --cluster   the same programs, and what else a kind cluster needs:
#                        containerd, CNI plugins, crictl, coredns, pause, kind
#
# It is one module, so no package is compiled twice. Progress goes to stderr. A
# build that was cut off leaves nothing that a later call would take for a whole
# one.
set -eu
cd "$(dirname "$0")"

programs="kube-apiserver kube-controller-manager kube-scheduler kube-proxy kubelet kubeadm etcd kubectl"

say() { echo "kube: $*" >&2; }

sha256() { if command -v sha256sum >/dev/null; then sha256sum; else shasum -a 256; fi; }

command -v go >/dev/null || { say "go is not in PATH; install Go 1.26 or newer"; exit 1; }

cache=${XDG_CACHE_HOME:-$HOME/.cache}/kubernetes-nmstate/kube
key=$({ go version; cat go.mod go.sum main.go build.sh; } | sha256 | cut -c1-16)
built=$cache/$key
cluster=$cache/cluster-$({ echo "$key"; cat coredns/*.go pause/*.go; } | sha256 | cut -c1-16)

# stamped are the linker's flags that tell the programs their versions. Without
# them kubectl cannot read the version that the API server reports, and kubeadm
# looks for images of a version that there is not.
stamped() {
	version=$(go list -m -f '{{.Version}}' k8s.io/kubernetes)
	minor=$(echo "$version" | cut -d. -f2)
	flags="-X github.com/containerd/containerd/v2/version.Version=$(go list -m -f '{{.Version}}' github.com/containerd/containerd/v2)"
	for package in k8s.io/component-base/version k8s.io/client-go/pkg/version; do
		for value in gitVersion="$version" gitMajor=1 gitMinor="$minor" gitTreeState=clean \
			gitCommit=module buildDate=2026-01-01T00:00:00Z; do
			flags="$flags -X $package.$value"
		done
	done
	echo "-s -w $flags"
}

# begin TEXT: a folder for a build, which put gives its name when it is whole.
begin() {
	say "$1"
	partial=$(mktemp -d "$cache/.partial.XXXXXX")
	trap 'rm -rf "$partial"' EXIT
	trap 'exit 130' INT TERM
}

put() { # FOLDER PROGRAM
	chmod 755 "$partial"
	# Somebody else may have finished the same build meanwhile: theirs is as good.
	mv -T "$partial" "$1" 2>/dev/null || [ -x "$1/$2" ] || mv "$partial" "$1"
	say "built $1 in $(($(date +%s) - started)) s"
}

# compile OUT PACKAGE...; the tags leave out containerd's less usual snapshotters.
compile() {
	out=$1
	shift
	CGO_ENABLED=0 nice go build -trimpath -tags no_aufs,no_zfs,no_btrfs,no_devmapper -ldflags "$(stamped)" -o "$out" "$@"
}

build() {
	begin "building Kubernetes from Go modules: about 10 minutes the first time, 10 seconds after small changes"
	compile "$partial/kube" .
	for program in $programs; do ln -s kube "$partial/$program"; done
	put "$built" kube
}

build_cluster() {
	begin "building what kind nodes need besides Kubernetes: some minutes the first time"
	compile "$partial/" ./pause ./coredns $(go list tool)
	for program in kube $programs; do ln -s "$built/kube" "$partial/$program"; done
	put "$cluster" kind
}

want=$built/kube
case ${1-} in
--cached)
	[ -x "$built/kube" ] || exit 3
	echo "$built"
	exit 0
	;;
--cluster) want=$cluster/kind ;;
-*)
	say "usage: build.sh [--cached | --cluster | OUTDIR]"
	exit 2
	;;
esac

started=$(date +%s)
if [ ! -x "$want" ]; then
	mkdir -p "$cache"
	# One build at a time; who waited finds it done.
	if command -v flock >/dev/null; then
		exec 9>"$cache/.lock"
		flock -n 9 || { say "waiting for another build to end"; flock 9; }
		rm -rf "$cache"/.partial.* # of a build that was killed
	fi
	[ -x "$built/kube" ] || build
	[ -x "$want" ] || build_cluster
fi
if [ "${1-}" = --cluster ]; then
	echo "$cluster"
	exit 0
fi
if [ -n "${1-}" ]; then
	mkdir -p "$1"
	for program in $programs; do ln -sfn "$built/kube" "$1/$program"; done
fi
echo "$built"
