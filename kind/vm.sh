#!/bin/bash
# A worker of the kind cluster that is a virtual machine: a kernel with all drivers, a
# boot of its own, and power that can be cut.
#
# Usage: kind/vm.sh COMMAND
#
#   up           make its disk, switch it on, wait until the node is Ready
#   cut          cut its power: what was not on the disk is lost
#   on           switch it on again, with the disk as it is
#   run SCRIPT   run a script in a shell of root's on its console, which needs no network
#   console      print what its kernel and systemd said
#   down         take it away, and its node
#
# It wants a cluster that stands (kind/kind.sh up), and root. NICs: eth0 to the cluster's
# network, eth1 and eth2 to each other. There are no ways between its pods and those of
# other nodes; the handler is in the node's own network. Its files are in out/kind/vm.
#
# Examples:
#   kind/kind.sh up && kind/vm.sh up
#   kind/vm.sh run 'nmcli device; ip -brief address'
#   kind/vm.sh cut && kind/vm.sh on
#
# Exit 1: something failed. Exit 2: wrong use, or this machine lacks something.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

out=$PWD/out/kind
vm=$out/vm
ready_seconds=900 # A boot takes a minute, and ten where others compute.

say() { echo "kind vm: $*" >&2; }
die() { say "$*"; exit 1; }
wrong() { say "$*"; exit 2; }
usage() { sed -n '2,/^set /{ s/^# \{0,1\}//; /^set /d; p }' "$0"; }

# settled reads out/kind/env, where the cluster's settings are.
settled() {
	local line
	[ -e "$out/env" ] || wrong "no cluster is ready: kind/kind.sh up"
	while read -r line; do export "${line?}"; done <"$out/env"
	PATH=$KIND_BIN:$PATH
	name=$KIND_CLUSTER-vm
	tap=${KIND_CLUSTER:0:11}-vm0
}

is_on() { [ -e "$vm/pid" ] && kill -0 "$(cat "$vm/pid")" 2>/dev/null; }

# timed TEXT COMMAND...
timed() {
	local text=$1 begun=$SECONDS
	shift
	"$@"
	say "$text: $((SECONDS - begun)) s"
}

# lay_root: what kind nodes are made of, the kernel's modules, and its own names.
lay_root() {
	local container
	mkdir -p "$root"
	container=$(docker create "$KIND_NODE_IMAGE")
	docker export "$container" | tar -C "$root" -x --exclude=kind/images/kube.tar
	docker rm "$container" >/dev/null
	rm -f "$root/.dockerenv" "$root"/etc/systemd/system/multi-user.target.wants/node-images.service "$root/etc/systemd/system/kubelet.service.d/11-kind.conf"
	cp -a "$kernel_tree/usr/lib/modules" "$root/usr/lib/"
	echo "$name" >"$root/etc/hostname"
	printf '127.0.0.1 localhost\n%s %s\n%s %s\n' "$address" "$name" "$api" "$KIND_CONTROL_PLANE" >"$root/etc/hosts"
	echo "nameserver $gateway" >"$root/etc/resolv.conf"
	echo '/dev/vda / ext4 defaults 0 1' >"$root/etc/fstab"
	printf 'virtio_net\noverlay\nbr_netfilter\nnf_tables\nbonding\n8021q\n' >"$root/etc/modules-load.d/vm.conf"
	echo 'options bonding max_bonds=0' >"$root/etc/modprobe.d/vm.conf"
	echo 'net.ipv4.ip_forward=1' >"$root/etc/sysctl.d/99-vm.conf"
	echo kind >"$root/kind/product_name"
	cat /proc/sys/kernel/random/uuid >"$root/kind/product_uuid"
	sed "s/@ADDRESS@/$address/; s/@LENGTH@/$length/; s/@GATEWAY@/$gateway/" kind/vm/eth0.nmconnection |
		install -m 600 /dev/stdin "$root/etc/NetworkManager/system-connections/eth0.nmconnection"
}

# lay_join: what makes a node of it, once, at its first boot.
lay_join() {
	local token
	token=$(docker exec "$KIND_CONTROL_PLANE" kubeadm token create)
	mkdir -p "$root/kind/patches"
	echo '{"cgroupRoot":"/"}' >"$root/kind/patches/kubeletconfiguration+strategic.json"
	sed "s/@NAME@/$name/; s/@ADDRESS@/$address/; s/@TOKEN@/$token/; s/@API@/$KIND_CONTROL_PLANE:6443/" kind/vm/join.yaml >"$root/kind/join.yaml"
	cp kind/pods.conflist "$root/kind/pods.conflist"
	install -m 755 kind/vm/join.sh "$root/kind/join.sh"
	cp kind/vm/node-join.service "$root/etc/systemd/system/"
	ln -sf ../node-join.service "$root/etc/systemd/system/multi-user.target.wants/"
}

# lay_images unpacks what its pods run here, where it takes seconds.
lay_images() {
	local container
	container=$(docker run -d --privileged -v /var/lib/containerd --entrypoint sleep "$KIND_NODE_IMAGE" infinity)
	docker cp out/images/handler.tar "$container:/handler.tar"
	docker exec "$container" sh -euc '
		containerd >/tmp/containerd.log 2>&1 & pid=$!
		until ctr version >/dev/null 2>&1; do kill -0 $pid || { tail -n 3 /tmp/containerd.log; exit 1; }; sleep 0.2; done
		for file in /kind/images/kube.tar /kind/images/pause.tar /handler.tar; do ctr -n k8s.io images import --digests=false $file >/dev/null 2>/tmp/import.log || { tail -n 3 /tmp/import.log; exit 1; }; done
		kill $pid; wait $pid || true' >&2 || { docker rm -fv "$container" >/dev/null; die "the images could not be unpacked; the lines above say why"; }
	docker cp "$container:/var/lib/containerd" - | tar -C "$root/var/lib" -x
	docker rm -fv "$container" >/dev/null
}

lay_disk() {
	rm -rf "$vm"
	mkdir -p "$vm"
	root=$vm/tree
	timed "its root" lay_root
	timed "its images" lay_images
	lay_join
	cp "$boot"/{vmlinuz,initrd} "$vm/"
	mkfs.ext4 -q -F -m 0 -d "$root" "$vm/disk.partial" 6G >/dev/null
	mv "$vm/disk.partial" "$vm/disk"
	rm -rf "$root"
}

# switch_on: QEMU sees its own programs, this folder, and the machine's devices. The
# disk's flushes are left to the machine: what the VM wrote is there after its power is
# cut, what it kept in memory is not.
switch_on() {
	! is_on || die "it is on already"
	[ -e "$vm/disk" ] || wrong "there is no disk: kind/vm.sh up"
	local qemu bridge accelerator=tcg,thread=multi arguments
	qemu=$(hack/noderoot.sh qemu)
	bridge=br-$(docker network inspect kind -f '{{.Id}}' | cut -c1-12)
	ip link show "$tap" >/dev/null 2>&1 || ip tuntap add dev "$tap" mode tap
	echo "$tap" >"$vm/tap"
	ip link set "$tap" master "$bridge" up
	rm -f "$vm"/sh.in "$vm"/sh.out
	mkfifo "$vm"/sh.in "$vm"/sh.out
	grep -qE '^flags\s*:.* (vmx|svm)( |$)' /proc/cpuinfo && [ -e /dev/kvm ] && accelerator=kvm
	arguments=(-machine q35 -accel "$accelerator" -cpu "max,la57=off" -smp 2 -m 2048
		-nodefaults -no-user-config -display none -no-reboot
		-kernel /vm/vmlinuz -initrd /vm/initrd
		-append "root=/dev/vda rw console=ttyS0 quiet panic=-1 net.ifnames=0 mitigations=off nokaslr random.trust_cpu=on tsc=reliable clocksource=tsc no_timer_check systemd.show_status=0 systemd.debug_shell=ttyS1 systemd.journald.forward_to_console=1 systemd.journald.max_level_console=notice"
		-serial file:/vm/console.log -chardev pipe,id=sh,path=/vm/sh -serial chardev:sh
		-drive "file=/vm/disk,if=virtio,format=raw,cache=unsafe"
		-netdev "tap,id=n0,ifname=$tap,script=no,downscript=no" -device "virtio-net-pci,netdev=n0,mac=02:00:00:00:76:00"
		-netdev hubport,id=n1,hubid=1 -device "virtio-net-pci,netdev=n1,mac=02:00:00:00:76:01"
		-netdev hubport,id=n2,hubid=1 -device "virtio-net-pci,netdev=n2,mac=02:00:00:00:76:02")
	# shellcheck disable=SC2016 # It is that shell which takes $0.
	setsid unshare --mount --propagation private sh -euc '
		root=$0 vm=$1 && shift
		mount -t tmpfs tmpfs /mnt && mkdir /mnt/up /mnt/work /mnt/root
		mount -t overlay overlay -o "lowerdir=$root,upperdir=/mnt/up,workdir=/mnt/work" /mnt/root
		mkdir -p /mnt/root/vm /mnt/root/dev /mnt/root/proc
		mount --bind "$vm" /mnt/root/vm && mount --rbind /dev /mnt/root/dev && mount -t proc proc /mnt/root/proc
		exec chroot /mnt/root qemu-system-x86_64 "$@"' "$qemu" "$vm" "${arguments[@]}" >"$vm/qemu.log" 2>&1 </dev/null &
	echo $! >"$vm/pid"
	disown
}

# cut is what a power cut is.
cut_power() {
	is_on || return 0
	kill -KILL "$(cat "$vm/pid")"
	while is_on; do sleep 0.1; done
	rm -f "$vm/pid"
}

# boot_id is how the API server knows one boot from the next.
boot_id() { kubectl get node "$name" -o jsonpath='{.status.nodeInfo.bootID} {.status.conditions[?(@.type=="Ready")].status}' 2>/dev/null; }

# await_ready BEFORE: until the node is Ready in another boot than that one.
await_ready() {
	local deadline=$((SECONDS + ready_seconds)) tell=$((SECONDS + 20)) id
	while id=$(boot_id || true) && { [ "${id#* }" != True ] || [ "${id% *}" = "$1" ]; }; do
		is_on || die "it is off: $(tail -n 2 "$vm/qemu.log" "$vm/console.log" 2>/dev/null | tail -n 3)"
		[ $SECONDS -lt $deadline ] || die "the node is not Ready after $ready_seconds s: kind/vm.sh console"
		[ $SECONDS -lt $tell ] || { say "waiting for the node" && tell=$((SECONDS + 20)); }
		sleep 1
	done
}

up() {
	[ "$(id -u)" = 0 ] || wrong "it needs root, for the VM's way to the cluster"
	! is_on || { say "it is on already" && return 0; }
	[ -e out/images/handler.tar ] || wrong "out/images/handler.tar is missing: make images"
	local bits begun=$SECONDS
	api=$(docker inspect -f '{{.NetworkSettings.Networks.kind.IPAddress}}' "$KIND_CONTROL_PLANE")
	gateway=$(docker network inspect kind -f '{{range .IPAM.Config}}{{println .Gateway}}{{end}}' | grep -m 1 -F .)
	bits=$(docker network inspect kind -f '{{range .IPAM.Config}}{{println .Subnet}}{{end}}' | grep -m 1 -F .)
	length=${bits#*/}
	address=${gateway%.*}.200 # Docker counts from below.
	kernel_tree=$(hack/noderoot.sh vm)
	boot=$(hack/vmroot.sh "$kernel_tree")
	trap 'exit 130' INT
	trap 'exit 143' TERM
	trap 'down' EXIT # What an up that fails, or is interrupted, had begun.
	timed "its disk" lay_disk
	switch_on
	timed "boot until the node is Ready" await_ready none
	# A handler that is deleted while it begins is killed after its 330 s: the first process
	# of a container hears no signal before it asks for it.
	timed "its handler" kubectl -n nmstate rollout status daemonset/nmstate-handler --timeout="${ready_seconds}s" >&2
	kubectl label node "$name" node-role.kubernetes.io/worker= e2e.nmstate.io/vm=yes --overwrite >/dev/null
	sed -i '/^KIND_VM=/d' "$out/env"
	echo "KIND_VM=$name" >>"$out/env"
	trap - EXIT
	say "node $name is Ready, $((SECONDS - begun)) s in all"
}

on() {
	local before
	before=$(boot_id || true)
	switch_on
	timed "boot until the node is Ready" await_ready "${before% *}"
}

# run SCRIPT: what it prints comes back by the console, and its exit status.
run() {
	is_on || die "it is off: kind/vm.sh on"
	local mark=$RANDOM$RANDOM line sent begun= empty=
	sent=$(printf '%s' "$1" | base64 -w 0)
	[ ${#sent} -lt 3900 ] || wrong "the script is longer than a line of a terminal can be"
	exec 8>"$vm/sh.lock" && flock 8
	exec 5>"$vm/sh.in" 6<"$vm/sh.out" # QEMU's end of both; once it is gone, a read ends.
	printf "stty -echo; (echo begin; echo %s | base64 -d | sh; printf '\\\\nend_%%s %%s\\\\n' %s \$?) 2>&1 | cat\n" "$sent" "$mark" >&5
	while IFS= read -r -t "$ready_seconds" line <&6; do
		line=${line%$'\r'}
		while [[ $line =~ $'\e'\[[0-9\;?]*[A-Za-z] ]]; do line=${line/"${BASH_REMATCH[0]}"/}; done
		case $line in
		"end_$mark "*) printf %s "${empty%$'\n'}" && return "${line##* }" ;;
		begin) begun=1 ;;
		*)
			[ -n "$begun" ] || continue
			[ -n "$line" ] || { empty+=$'\n' && continue; } # The last one is ours.
			printf '%s%s\n' "$empty" "$line"
			empty=
			;;
		esac
	done
	is_on || die "it was switched off meanwhile"
	die "the console does not answer: kind/vm.sh console"
}

# down takes the node out of a cluster that still stands.
down() {
	cut_power
	[ ! -e "$vm/tap" ] || ip link delete "$(cat "$vm/tap")" 2>/dev/null || true
	if [ -e "$out/env" ]; then
		settled
		kubectl delete node "$name" --ignore-not-found --timeout=30s >/dev/null 2>&1 || true
		sed -i '/^KIND_VM=/d' "$out/env"
	fi
	rm -rf "$vm"
}

case ${1:---help} in
-h | --help | help) usage ;;
up) settled && up ;;
on) settled && on ;;
cut) cut_power ;;
run) [ $# = 2 ] || wrong "run wants one script"; run "$2" ;;
console) cat "$vm/console.log" ;;
down) down ;;
*) wrong "there is no command $1; kind/vm.sh --help has them" ;;
esac
