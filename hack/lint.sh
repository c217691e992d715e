#!/bin/bash
# Runs the golangci-lint that hack/tools/go.mod pins, with .golangci.yml. Go
# builds it into its own cache, once. Arguments are passed on, e.g. --fix.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

hack/need.sh go
echo "lint: golangci-lint (is built first where it is not in the cache: 2 minutes)" >&2
linter=$(go -C hack/tools tool -n golangci-lint)
export CGO_ENABLED=0
# Another checkout that is linted at the same time is waited for.
exec "$linter" run --allow-serial-runners "$@" ./...
