#!/bin/bash
# Generates the deep copies of the API types and the custom resource
# definitions. The result is committed; hack/verify.sh checks that it is current.
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
