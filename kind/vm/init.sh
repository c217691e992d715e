#!/bin/busybox sh
# The kernel's first program: it loads what leads to the disk, and goes on there.
export PATH=/bin
busybox mkdir -p /proc /sys /dev /new
busybox mount -t proc proc /proc
busybox mount -t sysfs sysfs /sys
busybox mount -t devtmpfs dev /dev
for module in $(busybox cat /modules/order); do busybox insmod "/modules/$module"; done
tries=0
while [ ! -b /dev/vda ] && [ $tries -lt 3000 ]; do busybox usleep 10000; tries=$((tries + 1)); done
# What the journal has of writes that the power cut is taken up by this.
busybox mount -t ext4 -o rw /dev/vda /new || exit 1
for d in dev proc sys; do busybox mount --move /$d /new/$d; done
exec busybox switch_root /new /sbin/init
