package profiles

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/nmstate/kubernetes-nmstate/handler/state"
)

// withServers is a node with the profile eth1 at a path, and name servers set globally or not.
func withServers(at string, global bool) Snapshot {
	const profile = "[connection]\nid=eth1\nuuid=u1\ntype=ethernet\ninterface-name=eth1\n\n" +
		"[ipv4]\naddress1=192.0.2.1/24\ndns=192.0.2.53;\ndns-priority=40\ndns-search=example.com;\nmethod=manual\n\n" +
		"[ipv6]\ndns=2001:db8::53;\nmethod=auto\n\n[user]\ndns=mine\n"
	node := Snapshot{Files: Files{at: {Mode: 0o600, Content: []byte(profile)}}}
	if global {
		node.Files[DNSFile] = File{Mode: 0o644, Content: []byte("[.intern.global-dns-domain-*]\nservers=192.0.2.53\n")}
	}
	return node
}

func TestWithoutServers(t *testing.T) {
	const onDisk, inRun = DiskDir + "/eth1.nmconnection", RunDir + "/eth1.nmconnection"
	const meta = "\n[.nmmeta]\nshadowed-storage=" + onDisk + "\nshadowed-owned=true\n"
	off := func(one string, families ...state.Family) (found []state.Off) {
		for _, family := range families {
			found = append(found, state.Off{Interface: one, Family: family})
		}
		return found
	}
	for sentence, test := range map[string]struct {
		at     string
		local  bool // No name servers are set globally.
		off    []state.Off
		gone   []string
		meta   string
		reload string
	}{
		"a family that is switched off loses them, in memory only": {
			at: onDisk, off: off("eth1", state.IPv4), gone: []string{"dns=192.0.2.53;\n", "dns-priority=40\n", "dns-search=example.com;\n"}, meta: meta, reload: inRun},
		"both families": {
			at: onDisk, off: off("eth1", state.IPv4, state.IPv6),
			gone: []string{"dns=192.0.2.53;\n", "dns-priority=40\n", "dns-search=example.com;\n", "dns=2001:db8::53;\n"}, meta: meta, reload: inRun},
		"a profile that is in memory anyway stays where it is":              {at: inRun, off: off("eth1", state.IPv6), gone: []string{"dns=2001:db8::53;\n"}, reload: inRun},
		"another interface's stays":                                         {at: onDisk, off: off("eth2", state.IPv4)},
		"one that is asked stays: a rollback would not have it asked again": {at: onDisk, local: true, off: off("eth1", state.IPv4)},
		"where no family is switched off nothing is done":                   {at: onDisk},
	} {
		t.Run(sentence, func(t *testing.T) {
			node := withServers(test.at, !test.local)
			before := string(node.Files[test.at].Content)
			got := WithoutServers(node, test.off)
			var want []Action
			if test.gone != nil {
				content := before
				for _, line := range test.gone {
					content = strings.Replace(content, line, "", 1)
				}
				want = []Action{
					{Verb: Write, Path: test.reload, File: File{Mode: 0o600, Content: []byte(content + test.meta)}},
					{Verb: Reload, Paths: []string{test.reload}},
				}
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Fatalf("-want +got\n%s", diff)
			}
			if string(node.Files[test.at].Content) != before {
				t.Error("the picture from before has changed")
			}
			for _, action := range append(got, ServersBack(node, got)...) {
				switch action.Verb {
				case Write:
					node.Files[action.Path] = action.File
				case Remove:
					delete(node.Files, action.Path)
				}
			}
			if diff := cmp.Diff(withServers(test.at, !test.local).Files, node.Files); diff != "" {
				t.Errorf("back again: -want +got\n%s", diff)
			}
		})
	}
}
