package mutants

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// Overlay writes the mutated files and an overlay for the go command into dir,
// and returns the overlay's path. Both folders are absolute.
func (m Mutant) Overlay(root, dir string) (string, error) {
	replace := map[string]string{}
	for _, file := range m.Files {
		original := filepath.Join(root, file.Path)
		text, err := os.ReadFile(original)
		if err != nil {
			return "", fmt.Errorf("mutant %s: %w", m.Name, err)
		}
		mutated, err := file.Apply(string(text))
		if err != nil {
			return "", fmt.Errorf("mutant %s: %w", m.Name, err)
		}
		replacement := filepath.Join(dir, strings.ReplaceAll(file.Path, "/", "_"))
		if err := os.WriteFile(replacement, []byte(mutated), 0o600); err != nil {
			return "", fmt.Errorf("mutant %s: %w", m.Name, err)
		}
		replace[original] = replacement
	}
	raw, err := json.Marshal(map[string]any{"Replace": replace})
	if err != nil {
		return "", fmt.Errorf("mutant %s: %w", m.Name, err)
	}
	overlay := filepath.Join(dir, "overlay.json")
	if err := os.WriteFile(overlay, raw, 0o600); err != nil {
		return "", fmt.Errorf("mutant %s: %w", m.Name, err)
	}
	return overlay, nil
}

// Packages that the mutant changes, as the go command names them from the root.
func (m Mutant) Packages() []string {
	var packages []string
	for _, file := range m.Files {
		if folder := "./" + filepath.Dir(file.Path); !slices.Contains(packages, folder) {
			packages = append(packages, folder)
		}
	}
	return packages
}
