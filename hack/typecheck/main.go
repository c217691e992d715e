package main

import (
	"fmt"
	"os"

	"golang.org/x/tools/go/packages"
)

func main() {
	if len(os.Args) < 2 {
		fmt.Fprintln(os.Stderr, "usage: go run ./hack/typecheck GOOS [PACKAGES]")
		os.Exit(2)
	}
	which := []string{"./..."}
	if len(os.Args) > 2 {
		which = os.Args[2:]
	}
	cfg := &packages.Config{
		Mode:  packages.NeedName | packages.NeedFiles | packages.NeedImports | packages.NeedDeps | packages.NeedTypes | packages.NeedSyntax | packages.NeedTypesInfo | packages.NeedCompiledGoFiles,
		Env:   append(os.Environ(), "GOOS="+os.Args[1], "CGO_ENABLED=0"),
		Tests: true,
	}
	found, err := packages.Load(cfg, which...)
	if err != nil {
		fmt.Fprintln(os.Stderr, "typecheck: listing the packages:", err)
		os.Exit(1)
	}
	if packages.PrintErrors(found) > 0 {
		os.Exit(1)
	}
}
