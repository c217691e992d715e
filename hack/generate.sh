#!/bin/bash
# Generates the deep copies of the API types, the custom resource definitions,
# what follows from deploy/ (hack/manifests),
# and the tables of what nmstate reads, from the source that rust/Cargo.lock
# names. The result is committed; hack/verify.sh checks that it is current.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

hack/need.sh go
go tool controller-gen object paths=./api/...
# As long as our longest description, so that kubectl explain shows all of each.
# Those of Kubernetes' own types are longer: kubectl apply keeps a copy of the
# object in an annotation, which has room for 256 KiB.
go tool controller-gen crd:maxDescLen=300 paths=./api/... output:crd:dir=deploy/crds

# controller-gen has no marker for the values of a map. Without a length here
# the API server refuses the rule about them: it could cost too much.
sed -i.before '/^              nodeSelector:$/,/type: string/ s/^\( *\)type: string$/\1maxLength: 63\n&/' \
	deploy/crds/nmstate.io_nodenetworkconfigurationpolicies.yaml
rm deploy/crds/nmstate.io_nodenetworkconfigurationpolicies.yaml.before

# The API server takes times that Go cannot read (a lower-case t or z, a zone of
# +99:99). One such time in a status of one node would keep everybody who reads that
# kind from reading any of it.
for crd in deploy/crds/nmstate.io_*.yaml; do
	sed -i.before "s/^\( *\)format: date-time$/&\n\1pattern: ^[0-9]{4}-[0-9]{2}-[0-9]{2}T([01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9]([.][0-9]{1,9})?(Z|[+-]([01][0-9]|2[0-3]):[0-5][0-9])$/" "$crd"
	rm "$crd.before"
done

CGO_ENABLED=0 go run ./hack/manifests/cmd/manifests

if command -v cargo >/dev/null; then
	manifest=$(cargo metadata --locked --format-version 1 --manifest-path rust/Cargo.toml |
		grep -o '"manifest_path":"[^"]*/nmstate-[0-9.]*/Cargo.toml"' | cut -d '"' -f 4)
	tables=handler/state/zz_generated.nmstate.go
	cargo run --quiet --locked --manifest-path rust/Cargo.toml -p nmstate-schema \
		--target-dir "${XDG_CACHE_HOME:-$HOME/.cache}/kubernetes-nmstate/schema" -- "$(dirname "$manifest")" >"$tables.new"
	gofmt "$tables.new" >"$tables"
	rm "$tables.new"
elif [ "${NMSTATE_STRICT:-}" = 1 ]; then
	hack/need.sh cargo
else
	echo "generate: nmstate's tables stay as they are: no cargo" >&2
fi
