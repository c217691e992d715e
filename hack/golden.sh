#!/bin/bash
# Runs the tests that compare with files, all with the one flag that writes these files
# anew: what is drawn, transcripts, tables. Then git diff shows what a change does.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

hack/need.sh go
export CGO_ENABLED=0
packages=$(go list -f '{{range .TestImports}}{{if eq . "gotest.tools/v3/golden"}}{{$.ImportPath}}{{end}}{{end}}' ./...)
# shellcheck disable=SC2086 # A line each.
go test $packages -count 1 -update
git status --short
