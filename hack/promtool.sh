#!/bin/bash
# Prints the path of promtool, Prometheus' tool to test rules: the one on the PATH, or
# that of Debian's package, which is unpacked into the cache and not installed, since
# installing it starts a Prometheus.
set -euo pipefail

if command -v promtool; then exit; fi
folder=${XDG_CACHE_HOME:-$HOME/.cache}/kubernetes-nmstate/promtool
if [ ! -x "$folder/promtool" ]; then
	if ! command -v apt-get >/dev/null; then
		echo "promtool is not here: install Prometheus' promtool" >&2
		exit 1
	fi
	work=$(mktemp -d)
	trap 'rm -rf "$work"' EXIT
	chmod 755 "$work" # apt-get may fetch as another user.
	(cd "$work" && { apt-get -q download prometheus || { apt-get -q update && apt-get -q download prometheus; }; } && dpkg -x prometheus_*.deb .) >&2
	mkdir -p "$folder"
	# Whole at once, for whoever looks at the same time.
	cp "$work/usr/bin/promtool" "$folder/promtool.$$"
	mv "$folder/promtool.$$" "$folder/promtool"
fi
echo "$folder/promtool"
