#!/bin/bash
# Builds the image of kind nodes with NetworkManager, and prints its name:
#
#   kind/image.sh            build it unless docker has it
#   kind/image.sh --print    only print the name
#
# It is made of Debian packages and of Go modules, with kind's own node files,
# which its module carries; nothing is pulled. Versions are pinned in
# hack/kube/go.mod (Kubernetes, containerd, CNI, kind) and by the release that
# hack/noderoot.sh takes (NetworkManager); the name has a hash of all of it.
#
# KIND_NODE_IMAGE=kindest/node:v1.37.0 takes an ordinary node image instead,
# which docker pulls if it has to, and puts NetworkManager into it by apt.
#
# DOCKER_HOST says which docker. Exit 3: this machine cannot build it.
set -euo pipefail
umask 022
cd "$(dirname "${BASH_SOURCE[0]}")/.."

here=$PWD/kind
repository=kubernetes-nmstate/node

say() { echo "node image: $*" >&2; }
die() { say "$*"; exit 1; }
has() { docker image inspect "$1" >/dev/null 2>&1; }
hashed() { sha256sum | cut -c1-12; }

# layered: an ordinary image with NetworkManager on top.
layered() {
	local image=$repository:on-top-$({ echo "$KIND_NODE_IMAGE"; cat "$here"/node/ordinary.Dockerfile "$here"/node/networkmanager.conf; } | hashed)
	if [ "${1:-}" != --print ] && ! has "$image"; then
		has "$KIND_NODE_IMAGE" || docker pull -q "$KIND_NODE_IMAGE" >&2 || die "docker has no image $KIND_NODE_IMAGE and cannot pull it"
		say "putting NetworkManager into $KIND_NODE_IMAGE"
		docker buildx version >/dev/null 2>&1 || export DOCKER_BUILDKIT=0 # The builder without it.
		docker build -q --network host --build-arg "BASE=$KIND_NODE_IMAGE" -t "$image" -f "$here/node/ordinary.Dockerfile" "$here/node" >/dev/null ||
			die "NetworkManager could not be put into $KIND_NODE_IMAGE; the lines above say why"
	fi
	echo "$image"
}

# kind_files prints the folder of the node files in kind's module.
kind_files() { (cd hack/kube && go mod download sigs.k8s.io/kind && go list -m -f '{{.Dir}}/images/base/files' sigs.k8s.io/kind); }

# lay_kube ROOT: one image for all of Kubernetes and etcd, with the iptables that
# kube-proxy calls, and what that is linked with.
lay_kube() {
	local name file
	mkdir -p "$1"/usr/{bin,sbin,lib,local/bin} "$1"/tmp
	for name in bin sbin lib lib64; do ln -s "usr/$name" "$1/$name"; done
	mkdir -p "$1/usr/lib64"
	cp "$programs/kube" "$1/usr/local/bin/"
	for name in kube-apiserver kube-controller-manager kube-scheduler kube-proxy etcd; do ln -s kube "$1/usr/local/bin/$name"; done
	for file in /usr/sbin/xtables-nft-multi /usr/sbin/nft '/usr/lib/*/xtables/*.so'; do copy_linked "$1" "$file"; done
	for name in {ip,ip6}tables{,-save,-restore}; do ln -s xtables-nft-multi "$1/usr/sbin/$name"; done
}

# copy_linked ROOT GLOB: from the node's root, with its libraries.
copy_linked() {
	local file path
	for file in "$base"$2; do
		file=${file#"$base"}
		install -D "$base$file" "$1$file"
		chroot "$base" ldd "$file" | awk '/=> \//{ print $3 } $1 ~ /^\//{ print $1 }' | while read -r path; do
			path=$(chroot "$base" readlink -f "$path")@$path
			[ -e "$1${path#*@}" ] || install -D "$base${path%@*}" "$1${path#*@}"
		done
	done
}

# pod_images DIR: what kubeadm's pods run, under the names that it has for them.
pod_images() {
	local name names kube=()
	names=$("$programs/kubeadm" config images list --kubernetes-version "$version")
	for name in $names; do
		case $name in
		*/coredns:*) hack/archive.sh "$1/coredns.tar" "$work/coredns" '{"Entrypoint":["/coredns"]}' "$name" ;;
		# containerd's configuration says 3.10, whatever kubeadm says.
		*/pause:*) hack/archive.sh "$1/pause.tar" "$work/pause" '{"Entrypoint":["/pause"]}' "$name" "${name%:*}:3.10" ;;
		*) kube+=("$name") ;;
		esac
	done
	hack/archive.sh "$1/kube.tar" "$work/kube" '{"Env":["PATH=/usr/local/bin:/usr/sbin:/usr/bin"]}' "${kube[@]}"
}

# lay_node ROOT
lay_node() {
	mkdir "$1"
	cp -a "$base/." "$1/"
	cp -R --no-preserve=mode,ownership "$(kind_files)/." "$1/"
	mkdir -p "$1/opt/cni/bin" "$1/kind/images"
	cp -L "$programs"/{containerd,containerd-shim-runc-v2,ctr,crictl} "$1/usr/local/bin/"
	cp -L "$programs"/{host-local,loopback,ptp,portmap} "$1/opt/cni/bin/"
	cp -L "$programs/kube" "$1/usr/bin/kube"
	cp "$here"/node/*.service "$1/etc/systemd/system/"
	cp "$here/node/networkmanager.conf" "$1/etc/NetworkManager/conf.d/00-kind.conf"
	pod_images "$1/kind/images"
	chroot "$1" /bin/bash -s <"$here/node/setup.sh" >"$work/setup.log" 2>&1 || {
		cat "$work/setup.log" >&2
		die "the node's root could not be set up; the lines above say why"
	}
}

build() {
	exec 7>"$cache/node-image.lock"
	flock 7
	! has "$image" || return 0 # Somebody else built it while we waited.
	say "building $image"
	rm -rf "$cache"/.node-image-* # Of a build that was killed.
	work=$(mktemp -d "$cache/.node-image-XXXXXX")
	trap 'rm -rf "$work"' EXIT
	trap 'exit 130' INT TERM
	mkdir "$work"/{kube,coredns,pause}
	lay_kube "$work/kube"
	cp "$programs/coredns" "$work/coredns/"
	cp "$programs/pause" "$work/pause/"
	lay_node "$work/node"
	# trixie's systemd wants to be asked for cgroup v1, on machines that have it.
	ARCHIVE_OWNERS=keep hack/archive.sh "$work/node.tar" "$work/node" \
		'{"Env":["PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin","container=docker","SYSTEMD_PROC_CMDLINE=SYSTEMD_CGROUP_ENABLE_LEGACY_FORCE=1"],"Entrypoint":["/usr/local/bin/entrypoint","/sbin/init"],"StopSignal":"SIGRTMIN+3"}' "$image"
	docker load -q -i "$work/node.tar" >/dev/null
	say "built $image in $SECONDS s, $(($(stat -c %s "$work/node.tar") / 1000000)) MB"
}

case ${1:-} in '' | --print) ;; *) die "unknown argument $1; see the top of $0" ;; esac
if [ -n "${KIND_NODE_IMAGE:-}" ]; then
	layered "${1:-}"
	exit
fi
cache=${XDG_CACHE_HOME:-$HOME/.cache}/kubernetes-nmstate
version=$(cd hack/kube && go list -m -f '{{.Version}}' k8s.io/kubernetes)
key=$({
	hack/noderoot.sh kind --print
	cat hack/kube/{go.mod,go.sum,build.sh} hack/kube/*.go hack/kube/{coredns,pause}/*.go hack/archive.sh "$here/image.sh" "$here"/node/*
} | hashed)
image=$repository:$version-$key
if [ "${1:-}" != --print ] && ! has "$image"; then
	base=$(hack/noderoot.sh kind) # Exit 3 where it cannot be made.
	programs=$(hack/kube/build.sh --cluster)
	build
fi
echo "$image"
