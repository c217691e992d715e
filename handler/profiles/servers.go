package profiles

import (
	"path"
	"slices"
	"strings"

	"github.com/nmstate/kubernetes-nmstate/handler/state"
)

// WithoutServers takes the name servers out of the profiles whose family a change switches
// off, in RunDir and so for the trial only. nmstate sets a node's name servers globally, and
// writes a copy into the profile of an interface that has addresses; when those go, it leaves
// the copy, and NetworkManager takes no profile that has name servers in a family that is off.
//
// Only where name servers are set globally: these hide those of all profiles, so nothing
// asks the copies, neither now nor after a rollback.
func WithoutServers(before Snapshot, off []state.Off) []Action {
	if !before.hasGlobalServers() {
		return nil
	}
	var actions []Action
	var changed []string
	current := before.current()
	for _, p := range inOrder(current, sorted(current)) {
		content := before.Files[p.path].Content
		for _, one := range off {
			if one.Interface == p.device() && p.kind() != "ovs-bridge" && p.kind() != ovsPort {
				content = withoutServers(content, string(one.Family))
			}
		}
		if string(content) == string(before.Files[p.path].Content) {
			continue
		}
		at := p.path
		if path.Dir(at) == DiskDir {
			at = RunDir + "/" + path.Base(at)
			content = append(slices.Clone(content), "\n[.nmmeta]\nshadowed-storage="+p.path+"\nshadowed-owned=true\n"...)
		}
		actions = append(actions, Action{Verb: Write, Path: at, File: File{Mode: before.Files[p.path].Mode, Content: content}})
		changed = append(changed, at)
	}
	if len(actions) == 0 {
		return nil
	}
	return append(actions, Action{Verb: Reload, Paths: changed})
}

// ServersBack undoes WithoutServers, for a trial that was not begun.
func ServersBack(before Snapshot, done []Action) []Action {
	var actions []Action
	for _, action := range done {
		was, there := before.Files[action.Path]
		switch {
		case action.Verb != Write:
			actions = append(actions, action)
		case there:
			actions = append(actions, Action{Verb: Write, Path: action.Path, File: was})
		default:
			actions = append(actions, Action{Verb: Remove, Path: action.Path})
		}
	}
	return actions
}

func (s Snapshot) hasGlobalServers() bool {
	return parse(s.Files[DNSFile].Content)[".intern.global-dns-domain-*"]["servers"] != ""
}

func sorted(all map[string]profile) []profile {
	var found []profile
	for _, p := range all {
		found = append(found, p)
	}
	slices.SortFunc(found, func(a, b profile) int { return strings.Compare(a.uuid(), b.uuid()) })
	return found
}

// withoutServers is a profile without what its section says of name servers; every other
// byte stays.
func withoutServers(content []byte, section string) []byte {
	var kept strings.Builder
	in := ""
	for line := range strings.Lines(string(content)) {
		said := strings.TrimSpace(line)
		if name, is := strings.CutPrefix(said, "["); is {
			in = strings.TrimSuffix(name, "]")
		}
		key, _, _ := strings.Cut(said, "=")
		if in == section && slices.Contains(serverKeys(), strings.TrimSpace(key)) {
			continue
		}
		kept.WriteString(line)
	}
	return []byte(kept.String())
}

func serverKeys() []string { return []string{"dns", "dns-search", "dns-options", "dns-priority"} }
