package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/nmstate/kubernetes-nmstate/hack/manifests"
)

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "manifests:", err)
		os.Exit(1)
	}
}

func run(args []string) error {
	if len(args) == 0 {
		files, err := manifests.Files(".")
		return write(".", files, err)
	}
	if len(args) != 4 || args[0] != "release" {
		return errors.New("usage: manifests [release FOLDER PREFIX VERSION]")
	}
	files, err := manifests.Release(".", args[2], args[3])
	return write(args[1], files, err)
}

func write(folder string, files map[string][]byte, err error) error {
	if err != nil {
		return err
	}
	for name, content := range files {
		if err := os.MkdirAll(filepath.Dir(filepath.Join(folder, name)), 0o755); err != nil {
			return err
		}
		if err := os.WriteFile(filepath.Join(folder, name), content, 0o644); err != nil {
			return err
		}
	}
	return nil
}
