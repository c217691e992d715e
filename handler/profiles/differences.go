package profiles

import (
	"fmt"
	"path"
	"slices"
)

// Differences are how a node that was taken back differs from before, one line
// each: files by their bytes, and which profile is active where. They name
// files and profiles, never contents. seen is as for FilesBack.
func Differences(before Snapshot, trial *Trial, seen, now Snapshot) []string {
	var lines []string
	want, mine := target(before, trial, seen)
	for _, at := range paths(want, now.Files) {
		was, wanted := want[at]
		is, there := now.Files[at]
		switch {
		case want.same(at, now.Files), !wanted && !isOurs(at, mine, trial, now.Files):
		case !wanted:
			lines = append(lines, fmt.Sprintf("%s is there, and was not", at))
		case !there:
			lines = append(lines, fmt.Sprintf("%s is missing", at))
		case string(was.Content) != string(is.Content):
			lines = append(lines, fmt.Sprintf("%s has another content", at))
		default:
			lines = append(lines, fmt.Sprintf("%s has the permissions %o, had %o", at, is.Mode, was.Mode))
		}
	}
	if before.Hostname != now.Hostname {
		lines = append(lines, fmt.Sprintf("the hostname of the next boot is %q, was %q", now.Hostname, before.Hostname))
	}
	made := madeFor(mine, trial, seen)
	for _, d := range now.Devices {
		if _, existed := before.device(d.Name); !existed && d.Software && slices.Contains(made, d.Name) {
			lines = append(lines, fmt.Sprintf("device %s is there, and was not", d.Name))
		}
	}
	names := now.current()
	had := before.current()
	for _, was := range before.Devices {
		d, there := now.device(was.Name)
		switch {
		case was.Profile == "" || was.External || d.Profile == was.Profile:
		case !there:
			lines = append(lines, fmt.Sprintf("device %s of profile %s is not there", was.Name, had[was.Profile].name()))
		case d.Profile == "":
			lines = append(lines, fmt.Sprintf("profile %s is not active on %s", had[was.Profile].name(), was.Name))
		default:
			lines = append(lines, fmt.Sprintf("profile %s is active on %s, was %s", names[d.Profile].label(), was.Name, had[was.Profile].name()))
		}
	}
	return lines
}

func (p profile) label() string {
	if name := p.name(); name != "" {
		return name
	}
	return path.Base(p.path)
}
