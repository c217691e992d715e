# An ordinary kind node image with NetworkManager, which its base has not.
ARG BASE
FROM $BASE
RUN apt-get update \
 && DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends network-manager iputils-ping \
 && rm -rf /var/lib/apt/lists/* \
 && systemctl enable NetworkManager && systemctl mask NetworkManager-wait-online
COPY networkmanager.conf /etc/NetworkManager/conf.d/00-kind.conf
