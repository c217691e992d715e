package main

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/nmstate/kubernetes-nmstate/hack/manifests"
)

func main() {
	if err := write("."); err != nil {
		fmt.Fprintln(os.Stderr, "manifests:", err)
		os.Exit(1)
	}
}

func write(root string) error {
	files, err := manifests.Files(root)
	if err != nil {
		return err
	}
	for name, content := range files {
		if err := os.MkdirAll(filepath.Dir(filepath.Join(root, name)), 0o755); err != nil {
			return err
		}
		if err := os.WriteFile(filepath.Join(root, name), content, 0o644); err != nil {
			return err
		}
	}
	return nil
}
