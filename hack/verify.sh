#!/bin/bash
# Checks what needs no test to be run: that generated code is what the
# generators make, that the code is formatted and vetted, and that the modules
# and the Cargo workspace name exactly what they use. Reports everything that
# is wrong, then exits 1.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

say() { echo "verify: $*" >&2; }

failed=0
wrong() {
	say "FAILED: $*"
	failed=1
}

hack/need.sh go

say "generated code"
before=$(mktemp -d)
trap 'rm -rf "$before"' EXIT
generated=(api deploy/crds handler/state/zz_generated.nmstate.go deploy/operator controllers/install/manifests charts/kubernetes-nmstate)
mkdir -p "$before"/{deploy,handler/state,controllers/install,charts}
for one in "${generated[@]}"; do cp -R "$one" "$before/$one"; done
hack/generate.sh
for one in "${generated[@]}"; do
	diff -ru "$before/$one" "$one" || wrong "$one was out of date; it is generated now: commit it"
done

say "format"
unformatted=$(find . -name '*.go' -not -path '*/testdata/*' -not -path '*/target/*' -not -path './bin/*' -exec gofmt -l {} +)
[ -z "$unformatted" ] || wrong "not formatted, run gofmt -w on:" $unformatted

say "go vet"
CGO_ENABLED=0 go vet ./... || wrong "go vet ./..."

# Left out: methods that mark the members of a sum type, which nobody calls, and what the API's
# packages offer to programs of others.
say "dead code"
if uncalled=$(deadcode=$(go -C hack/tools tool -n deadcode) && CGO_ENABLED=0 "$deadcode" -test ./...); then
	dead=$(grep -vE '\.(event|effect|what)$|^api/.*: AddToScheme$' <<<"$uncalled" || true) # grep fails where nothing is left.
	[ -z "$dead" ] || wrong "nothing calls these functions, neither programs nor tests: delete them:"$'\n'"$dead"
else
	wrong "deadcode -test ./..."
fi

say "it compiles for a Mac"
CGO_ENABLED=0 go run ./hack/typecheck darwin || wrong "it does not compile for a Mac"

# Compiling all that it is linked with for another system takes minutes; none of our own
# code knows the processor.
say "the plugin compiles for Windows"
CGO_ENABLED=0 go run ./hack/typecheck windows ./plugin/... || wrong "the plugin does not compile for Windows"

for module in . hack/tools hack/kube hack/release; do
	say "go.mod of $module"
	go -C "$module" mod tidy -diff || wrong "$module/go.mod: run go mod tidy there"
	go -C "$module" mod verify >/dev/null || wrong "$module: a module in the cache is not what go.sum says"
done

if command -v cargo >/dev/null; then
	say "Cargo.lock"
	cargo metadata --locked --format-version 1 --manifest-path rust/Cargo.toml >/dev/null ||
		wrong "rust/Cargo.lock: run cargo update there"
elif [ "${NMSTATE_STRICT:-}" = 1 ]; then
	hack/need.sh cargo || failed=1
else
	say "Cargo.lock is not checked: no cargo"
fi

[ "$failed" = 0 ] && say "all in order"
exit "$failed"
