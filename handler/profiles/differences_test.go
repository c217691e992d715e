package profiles

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestDifferences(t *testing.T) {
	const eth0 = "disk eth0 device=eth0 ip=192.0.2.1/24"
	for sentence, test := range map[string]struct {
		before, trial, now []string
		want               []string
	}{
		"a node as before has none": {before: []string{eth0, "device eth0 profile=eth0"}, now: []string{eth0, "device eth0 profile=eth0"}},
		"a shadow that is left is there": {
			before: []string{eth0}, trial: []string{eth0, "run eth0"}, now: []string{eth0, "run eth0"},
			want: []string{RunDir + "/eth0.nmconnection is there, and was not"}},
		"a file that is missing": {
			before: []string{eth0}, trial: []string{eth0, "run eth0"},
			want: []string{DiskDir + "/eth0.nmconnection is missing"}},
		"a file in other words": {
			before: []string{eth0}, trial: []string{eth0, "run eth0"}, now: []string{"disk eth0 device=eth0 ip=192.0.2.2/24"},
			want: []string{DiskDir + "/eth0.nmconnection has another content"}},
		"somebody else's file is none": {
			before: []string{eth0}, trial: []string{eth0}, now: []string{eth0, "disk eth9 device=eth9"}},
		"a profile that is not active": {
			before: []string{eth0, "device eth0 profile=eth0"}, now: []string{eth0, "device eth0"},
			want: []string{"profile eth0 is not active on eth0"}},
		"another profile that is": {
			before: []string{eth0, "disk b", "device eth0 profile=eth0"}, now: []string{eth0, "disk b", "device eth0 profile=b"},
			want: []string{"profile b is active on eth0, was eth0"}},
		"a device that is not there": {
			before: []string{eth0, "device eth0 profile=eth0"}, now: []string{eth0},
			want: []string{"device eth0 of profile eth0 is not there"}},
		"a device of the trial that nobody uses is there": {
			before: []string{eth0}, trial: []string{eth0, "run br0 device=br0"}, now: []string{eth0, "device br0 software=yes"},
			want: []string{"device br0 is there, and was not"}},
		"a device of somebody else is none": {
			before: []string{eth0}, trial: []string{eth0, "run br0 device=br0"}, now: []string{eth0, "device docker0 software=yes"}},
		"what somebody else configured has another profile each time": {
			before: []string{"device docker0 profile=x external=yes"}, now: []string{"device docker0 profile=y external=yes"}},
	} {
		t.Run(sentence, func(t *testing.T) {
			now := drawnNode(test.now...)
			got := Differences(drawnNode(test.before...), &Trial{Snapshot: drawnNode(test.trial...)}, now, now)
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("-want +got\n%s", diff)
			}
		})
	}
}

func TestDifferencesOfPermissionsAndWithoutSecrets(t *testing.T) {
	at := DiskDir + "/eth0.nmconnection"
	before := Snapshot{Files: Files{at: {Mode: 0o600, Content: []byte("[connection]\nuuid=u\n[802-1x]\npassword=s3cret\n")}}}
	now := Snapshot{Files: Files{at: {Mode: 0o644, Content: before.Files[at].Content}}}
	got := Differences(before, nil, now, now)
	if diff := cmp.Diff([]string{at + " has the permissions 644, had 600"}, got); diff != "" {
		t.Errorf("-want +got\n%s", diff)
	}
	now.Files[at] = File{Mode: 0o600, Content: []byte("[connection]\nuuid=u\n[802-1x]\npassword=0ther\n")}
	said := strings.Join(append(Differences(before, nil, now, now), words(FilesBack(before, nil, now, now))...), " ")
	if strings.Contains(said, "s3cret") || strings.Contains(said, "0ther") {
		t.Errorf("a secret in %q", said)
	}
}
