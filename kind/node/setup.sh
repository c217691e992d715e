#!/bin/bash
# Runs in the node's root (chroot) once its programs and kind's files are there:
# what kind's own image does when it is built, and NetworkManager.
set -euo pipefail

chmod 755 /kind /kind/bin /kind/bin/* /usr/local/bin/* /opt/cni/bin/*
find /etc/systemd/system /etc/containerd /etc/sysctl.d /etc/default/kubelet /etc/crictl.yaml -type f -exec chmod 644 {} +
for name in kubelet kubeadm kubectl; do ln -s kube "/usr/bin/$name"; done

# A container has no consoles, devices or file systems of its own to set up.
find /lib/systemd/system/sysinit.target.wants/ -name systemd-tmpfiles-setup.service -delete
rm -f /lib/systemd/system/{multi-user,local-fs,basic}.target.wants/* /etc/systemd/system/*.wants/* \
	/lib/systemd/system/sockets.target.wants/*{udev,initctl}*
echo ReadKMsg=no >>/etc/systemd/journald.conf
ln -sf /usr/lib/systemd/systemd /sbin/init
systemctl enable kubelet containerd undo-mount-hacks node-images node-routes NetworkManager
systemctl mask systemd-binfmt NetworkManager-wait-online
mkdir -p /etc/kubernetes/manifests /etc/cni/net.d /lib/modules

kubelet --version | cut -d' ' -f2 >/kind/version
# Where root may not lower the score, no pod would start.
sed -i 's/restrict_oom_score_adj = false/restrict_oom_score_adj = true/' /etc/containerd/config.toml
ctr oci spec |
	jq '.hooks.createContainer += [{"path": "/kind/bin/mount-product-files.sh"}] | del(.process.rlimits)' >/etc/containerd/cri-base.json
# Every node makes its own.
rm -f /etc/machine-id /var/lib/dbus/machine-id /etc/hostname /etc/resolv.conf
: >/etc/machine-id
