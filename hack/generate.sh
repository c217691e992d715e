#!/bin/bash
# Generates the deep copies of the API types and the custom resource
# definitions. The result is committed; hack/verify.sh checks that it is current.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

hack/need.sh go
go tool controller-gen object paths=./api/...
go tool controller-gen crd:maxDescLen=200 paths=./api/... output:crd:dir=deploy/crds
