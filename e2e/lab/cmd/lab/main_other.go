//go:build !linux

// The command lab builds emulated nodes in Linux network namespaces.
package main

import (
	"fmt"
	"os"
)

func main() {
	fmt.Fprintln(os.Stderr, "lab: needs Linux: the nodes are network namespaces")
	os.Exit(2)
}
