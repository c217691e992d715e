//go:build linux

package lab

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

const profileDir = "/etc/NetworkManager/system-connections"

// Profiles are NetworkManager's keyfiles on the node's disk by file, in a form
// in which equal texts mean an equal profile.
func (n *Node) Profiles() (map[string]string, error) {
	files, err := filepath.Glob(filepath.Join(n.DiskPath(profileDir), "*"))
	if err != nil {
		return nil, fmt.Errorf("listing the profiles of %s: %w", n.Name, err)
	}
	found := map[string]string{}
	for _, path := range files {
		raw, err := os.ReadFile(path)
		if errors.Is(err, os.ErrNotExist) {
			continue // NetworkManager removed it in this moment
		}
		if err != nil {
			return nil, fmt.Errorf("reading a profile of %s: %w", n.Name, err)
		}
		found[filepath.Base(path)] = normal(string(raw))
	}
	return found, nil
}

// IdleProfile tells one of Profiles that does nothing.
func IdleProfile(text string) bool {
	return strings.Contains(text, "[ipv4] method=disabled") && strings.Contains(text, "[ipv6] method=disabled") && !strings.Contains(text, "controller=")
}

// normal is a keyfile as "[section] key=value" lines, sorted, in one spelling.
// A person, NetworkManager and nmstate (whose revert writes it after a lost
// checkpoint) each spell the default route and what is the default their way.
func normal(keyfile string) string {
	var lines []string
	section := ""
	for line := range strings.Lines(keyfile) {
		line = strings.TrimSpace(line)
		key, value, _ := strings.Cut(line, "=")
		first, second, _ := strings.Cut(value, ",")
		switch key {
		case "", "timestamp", "dhcp-timeout", "addr-gen-mode", "route1_options":
			continue
		case "address1":
			lines = append(lines, section+" address1="+first)
			if second != "" {
				lines = append(lines, section+" gateway="+second)
			}
			continue
		case "route1":
			if gateway, _, _ := strings.Cut(second, ","); first == "0.0.0.0/0" || first == "::/0" {
				line = "gateway=" + gateway
			}
		}
		if strings.HasPrefix(line, "[") {
			section = line
			continue
		}
		lines = append(lines, section+" "+line)
	}
	slices.Sort(lines)
	return strings.Join(lines, "\n")
}
