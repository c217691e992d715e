#!/bin/bash
# Makes what `lab up --vm` boots, out of what `hack/noderoot.sh vm` made: a folder
# with vmlinuz, initrd and root.ext4. Prints the folder; made once, kept in the
# cache, and never seen half made. With root=/dev/vda among the kernel's words, as
# kind/vm.sh has it, vmlinuz and initrd boot a disk of the machine's own instead.
#
#   hack/vmroot.sh "$(hack/noderoot.sh vm)"              make it if missing, print where it is
#   hack/vmroot.sh "$(hack/noderoot.sh vm --print)" --print
set -euo pipefail

tree=$1

# The first program of the kernel: it loads what leads to the disk. What is
# written goes to memory, so many machines can share the disk; to one of the machine's
# own it goes as on any machine.
first=$(
	cat <<'EOF'
#!/bin/busybox sh
export PATH=/bin
busybox mkdir -p /proc /sys /dev /disk /memory /new
busybox mount -t proc proc /proc
busybox mount -t sysfs sysfs /sys
busybox mount -t devtmpfs dev /dev
for module in $(busybox cat /modules/order); do busybox insmod "/modules/$module"; done
tries=0
while [ ! -b /dev/vda ] && [ $tries -lt 3000 ]; do busybox usleep 10000; tries=$((tries + 1)); done
if busybox grep -q root=/dev/vda /proc/cmdline; then
	busybox mount -t ext4 -o rw /dev/vda /new || exit 1
	for d in dev proc sys; do busybox mount --move /$d /new/$d; done
	exec busybox switch_root /new /sbin/init
fi
busybox mount -t ext4 -o ro,noatime /dev/vda /disk || exit 1
busybox mount -t tmpfs tmpfs /memory
busybox mkdir /memory/upper /memory/work
busybox mount -t overlay -o lowerdir=/disk,upperdir=/memory/upper,workdir=/memory/work overlay /new
busybox cp /second /new/second
for d in dev proc sys; do busybox mount --move /$d /new/$d; done
exec busybox switch_root /new /bin/sh /second
EOF
)

# The second one has a whole Debian and mounts the lab's folder, where it finds
# what else to do. "lab" is a word of the kernel's command line.
second=$(
	cat <<'EOF'
export PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LANG=C.UTF-8
mount -t tmpfs -o mode=755 tmpfs /run
mount -t tmpfs -o mode=1777 tmpfs /tmp
mkdir -p /dev/pts /dev/shm
mount -t devpts devpts /dev/pts
mount -t tmpfs tmpfs /dev/shm
hostname vm
ip link set lo up
modprobe -a 9pnet_virtio 9p virtio_console
mkdir -p "$lab"
if mount -t 9p -o trans=virtio,version=9p2000.L,msize=262144,cache=mmap lab "$lab"; then sh "$lab/vm/start"; fi
echo o >/proc/sysrq-trigger
while :; do sleep 60; done
EOF
)

key=$(printf '%s\n' "$tree" "$first" "$second" layout-1 | sha256sum | cut -c1-12)
cache=$(dirname "$tree")
made=$cache/vmroot-$key
if [ "${2:-}" = --print ] || [ -d "$made" ]; then
	echo "$made"
	exit 0
fi

cannot() {
	echo "vmroot: $1" >&2
	exit 3
}
[ "$(id -u)" = 0 ] || cannot "needs root"
command -v mkfs.ext4 >/dev/null || cannot "mkfs.ext4 is missing: apt-get install e2fsprogs"
[ -d "$tree/usr/lib/modules" ] || cannot "$tree has no kernel: give what hack/noderoot.sh vm prints"

exec 9>"$cache/vmroot.lock"
flock 9
if [ -d "$made" ]; then # somebody else made it while we waited
	echo "$made"
	exit 0
fi
rm -rf "$cache"/vmroot-*.partial
partial=$made.partial
trap 'rm -rf "$partial"' EXIT

echo "vmroot: making $made (about a minute, once)" >&2
mkdir -p "$partial/initrd/bin" "$partial/initrd/modules"
version=$(ls "$tree/usr/lib/modules")
cp "$tree/boot/vmlinuz-$version" "$partial/vmlinuz"
cp "$tree/bin/busybox" "$partial/initrd/bin/busybox"
chroot "$tree" modprobe -S "$version" -a --show-depends virtio_pci virtio_blk ext4 overlay |
	awk '$1 == "insmod" && !seen[$2]++ { print $2 }' |
	while read -r module; do
		name=$(basename "$module" .xz)
		case $module in
		*.xz) chroot "$tree" xz -dc "$module" >"$partial/initrd/modules/$name" ;;
		*) cp "$tree/$module" "$partial/initrd/modules/$name" ;;
		esac
		echo "$name" >>"$partial/initrd/modules/order"
	done
printf '%s\n' "$first" >"$partial/initrd/init"
printf '%s\n' "$second" >"$partial/initrd/second"
chmod +x "$partial/initrd/init"
(cd "$partial/initrd" && find . | "$tree/bin/busybox" cpio -o -H newc 2>/dev/null) | gzip -1 >"$partial/initrd.gz"
rm -r "$partial/initrd"
mv "$partial/initrd.gz" "$partial/initrd"

size=$(du -sm "$tree" | cut -f1)
mkfs.ext4 -q -O ^has_journal -m 0 -d "$tree" "$partial/root.ext4" "$((size * 5 / 4 + 64))M" >&2 9>&-
mv "$partial" "$made"
echo "$made"
