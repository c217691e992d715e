//go:build linux

package lab

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// Picture is all of a node that a trial must leave as it was. Two pictures that
// are equal are of the same configuration, now and after the next boot.
type Picture struct {
	// Disk are the bytes of what the next boot reads: NetworkManager's profiles,
	// its global DNS, dispatcher scripts, alternative names, the host name.
	Disk map[string]string
	// Run are the bytes of profiles in /run, which the next NetworkManager reads,
	// without those that it makes up for what it finds in the kernel.
	Run map[string]string
	// Active is the state and the profile of each device.
	Active map[string]string
	// Kernel is what Node.Settled says, line by line, and the resolver's servers.
	Kernel []string
}

// onDisk and inRun are what a picture shows, folder or file.
var (
	onDisk = []string{
		profileDir, "/etc/NetworkManager/dispatcher.d", "/etc/systemd/network", "/etc/hostname",
		"/var/lib/NetworkManager/NetworkManager-intern.conf",
	}
	inRun = []string{"/run/NetworkManager/system-connections"}
)

// Picture takes one. It waits until the addresses have settled.
func (n *Node) Picture(ctx context.Context) (Picture, error) {
	p := Picture{Active: map[string]string{}}
	root, err := n.lab.at.root(n.Name)
	if err != nil {
		return p, err
	}
	kernel, err := n.Settled(ctx)
	if err != nil {
		return p, err
	}
	p.Kernel = strings.Split(strings.TrimSpace(kernel), "\n")
	resolv, err := os.ReadFile(root + "/etc/resolv.conf")
	if err != nil {
		return p, fmt.Errorf("reading the resolver's file of %s: %w", n.Name, err)
	}
	for line := range strings.Lines(string(resolv)) {
		if line = strings.TrimSpace(line); line != "" && !strings.HasPrefix(line, "#") {
			p.Kernel = append(p.Kernel, "resolver "+line)
		}
	}
	if p.Disk, err = bytesOf(root, onDisk); err != nil {
		return p, fmt.Errorf("reading the disk of %s: %w", n.Name, err)
	}
	if p.Run, err = bytesOf(root, inRun); err != nil {
		return p, fmt.Errorf("reading /run of %s: %w", n.Name, err)
	}
	maps.DeleteFunc(p.Run, func(_, text string) bool { return madeUp(text) })
	devices, err := n.Exec(ctx, "nmcli", "-t", "-f", "DEVICE,STATE,CON-UUID", "device")
	if err != nil {
		return p, err
	}
	for line := range splitLines(string(devices)) {
		device, state, _ := strings.Cut(line, ":")
		state, profile, _ := strings.Cut(state, ":")
		if state == "connected (externally)" {
			profile = "made up"
		}
		p.Active[device] = strings.TrimSpace(state + " " + profile)
	}
	return p, nil
}

// madeUp tells a profile that NetworkManager wrote for a device that somebody
// else had configured; it has a new name at each boot.
func madeUp(text string) bool {
	return strings.Contains(text, "nm-generated=true") && strings.Contains(text, "external=true")
}

func bytesOf(root string, places []string) (map[string]string, error) {
	found := map[string]string{}
	for _, place := range places {
		err := filepath.WalkDir(filepath.Join(root, place), func(path string, entry os.DirEntry, err error) error {
			if errors.Is(err, os.ErrNotExist) {
				return nil // or NetworkManager removed it in this moment
			}
			if err != nil || entry.IsDir() {
				return err
			}
			raw, err := os.ReadFile(path)
			if errors.Is(err, os.ErrNotExist) {
				return nil
			}
			found[strings.TrimPrefix(path, root)] = string(raw)
			return err
		})
		if err != nil {
			return nil, err
		}
	}
	return found, nil
}

// Differences are what of a later picture is not as in this one, one line each;
// each begins with "disk", "profiles", "kernel" or "metrics". The last is of a
// route that is as before but for its metric: where a profile names none,
// NetworkManager numbers its devices from 100 on (bridges from 425 on), in the order in which they were
// activated last.
func (p Picture) Differences(later Picture) []string {
	var all []string
	files := func(kind string, was, is map[string]string) {
		for _, path := range slices.Sorted(maps.Keys(both(was, is))) {
			before, had := was[path]
			after, has := is[path]
			switch {
			case !has:
				all = append(all, kind+": "+path+" is gone")
			case !had:
				all = append(all, kind+": "+path+" is new: "+oneLine(after))
			case before != after && normal(before) == normal(after):
				all = append(all, kind+": "+path+" was written in other words")
			case before != after:
				all = append(all, fmt.Sprintf("%s: %s says something else: %s", kind, path, lineDifferences(normal(before), normal(after))))
			}
		}
	}
	files("disk", p.Disk, later.Disk)
	files("profiles", p.Run, later.Run)
	for _, device := range slices.Sorted(maps.Keys(both(p.Active, later.Active))) {
		if was, is := p.Active[device], later.Active[device]; was != is {
			all = append(all, fmt.Sprintf("profiles: %s was %q, is %q", device, was, is))
		}
	}
	was, is := strings.Join(p.Kernel, "\n"), strings.Join(later.Kernel, "\n")
	if d := lineDifferences(was, is); d == "" {
		return all
	} else if numbered(was) == numbered(is) {
		return append(all, "metrics: "+d)
	}
	return append(all, "kernel: "+lineDifferences(numbered(was), numbered(is)))
}

// Severe are differences without metrics.
func Severe(all []string) []string {
	return slices.DeleteFunc(slices.Clone(all), func(d string) bool { return strings.HasPrefix(d, "metrics: ") })
}

// numbered is the kernel's state without the metrics that NetworkManager chooses.
func numbered(kernel string) string {
	lines := strings.Split(regexp.MustCompile(`("metric":[14])\d\d\b`).ReplaceAllString(kernel, "${1}xx"), "\n")
	slices.Sort(lines)
	return strings.Join(lines, "\n")
}

func both(a, b map[string]string) map[string]string {
	all := map[string]string{}
	maps.Copy(all, a)
	maps.Copy(all, b)
	return all
}

func oneLine(text string) string {
	text = strings.ReplaceAll(normal(text), "\n", ", ")
	return text[:min(len(text), 300)]
}

// lineDifferences are the lines that one of two texts has, and the other not.
func lineDifferences(before, after string) string {
	was, is := strings.Split(before, "\n"), strings.Split(after, "\n")
	var all []string
	for _, line := range was {
		if !slices.Contains(is, line) {
			all = append(all, "-"+strings.TrimSpace(line))
		}
	}
	for _, line := range is {
		if !slices.Contains(was, line) {
			all = append(all, "+"+strings.TrimSpace(line))
		}
	}
	return strings.Join(all, " ")
}
