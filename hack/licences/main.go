package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// part is something that is linked in. says is what its manifest says of its licence,
// for a part that comes without the text.
type part struct{ name, folder, says string }

// named is how files with a licence, or what it asks to be passed on, are called.
var named = regexp.MustCompile(`(?i)^(licen[cs]e|copying|copyright|notice|unlicense)([-._].*)?$`)

func main() {
	if err := run(context.Background(), ".", os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "licences:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, root string, out io.Writer) error {
	parts, err := modules(ctx, root)
	if err != nil {
		return err
	}
	rust, err := crates(ctx, root)
	if err != nil {
		return err
	}
	return write(out, append(parts, rust...))
}

// write prints the licences of all parts, and names in its error those without.
func write(out io.Writer, parts []part) error {
	var missing []error
	for _, one := range parts {
		texts, err := texts(one.folder)
		if err != nil {
			return err
		}
		if len(texts) == 0 && one.says != "" {
			texts = []string{"Licence, as its manifest says: " + one.says}
		}
		if len(texts) == 0 {
			missing = append(missing, fmt.Errorf("%s has no licence in %s", one.name, one.folder))
		}
		for _, text := range texts {
			if _, err := fmt.Fprintf(out, "==== %s\n\n%s\n\n", one.name, strings.TrimSpace(text)); err != nil {
				return err
			}
		}
	}
	return errors.Join(missing...)
}

func texts(folder string) (found []string, err error) {
	entries, err := os.ReadDir(folder)
	if err != nil {
		return nil, err
	}
	for _, entry := range entries {
		if entry.IsDir() || !named.MatchString(entry.Name()) || strings.HasSuffix(entry.Name(), ".go") {
			continue
		}
		text, err := os.ReadFile(filepath.Join(folder, entry.Name()))
		if err != nil {
			return nil, err
		}
		found = append(found, string(text))
	}
	return found, nil
}

// modules are those of the Go programs, on every system that they are released for.
func modules(ctx context.Context, root string) ([]part, error) {
	found := map[string]part{}
	for system, programs := range map[string][]string{
		"linux": {"./handler", "./controllers", "./plugin"}, "darwin": {"./plugin"}, "windows": {"./plugin"},
	} {
		args := append([]string{"list", "-deps", "-f", "{{with .Module}}{{if not .Main}}{{.Path}} {{.Version}}\t{{.Dir}}{{end}}{{end}}"}, programs...)
		list := exec.CommandContext(ctx, "go", args...)
		list.Dir, list.Env = root, append(os.Environ(), "GOOS="+system, "CGO_ENABLED=1")
		text, err := output(list)
		if err != nil {
			return nil, err
		}
		for line := range strings.Lines(text) {
			if name, folder, is := strings.Cut(strings.TrimSpace(line), "\t"); is {
				found[name] = part{name: name, folder: folder}
			}
		}
	}
	standard := exec.CommandContext(ctx, "go", "env", "GOROOT")
	standard.Dir = root
	text, err := output(standard)
	if err != nil {
		return nil, err
	}
	parts := []part{{name: "Go's standard library", folder: strings.TrimSpace(text)}}
	for _, one := range found {
		parts = append(parts, one)
	}
	slices.SortFunc(parts, func(a, b part) int { return strings.Compare(a.name, b.name) })
	return parts, nil
}

// crates are those of the workspace in rust/, without our own.
func crates(ctx context.Context, root string) ([]part, error) {
	list := exec.CommandContext(ctx, "cargo", "metadata", "--format-version", "1", "--locked", "--filter-platform", "x86_64-unknown-linux-gnu",
		"--manifest-path", filepath.Join(root, "rust", "Cargo.toml"))
	text, err := output(list)
	if err != nil {
		return nil, err
	}
	var metadata struct {
		Packages []struct {
			Name, Version, License string
			Source                 *string
			Manifest               string `json:"manifest_path"`
		}
	}
	if err := json.Unmarshal([]byte(text), &metadata); err != nil {
		return nil, fmt.Errorf("reading cargo metadata: %w", err)
	}
	var parts []part
	for _, one := range metadata.Packages {
		if one.Source != nil {
			parts = append(parts, part{one.Name + " " + one.Version, filepath.Dir(one.Manifest), one.License})
		}
	}
	return parts, nil
}

func output(command *exec.Cmd) (string, error) {
	var failure bytes.Buffer
	command.Stderr = &failure
	out, err := command.Output()
	if err != nil {
		return "", fmt.Errorf("%s: %w: %s", strings.Join(command.Args[:2], " "), err, strings.TrimSpace(failure.String()))
	}
	return string(out), nil
}
