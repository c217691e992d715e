package profiles

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestFilesBackReloadsWhatNetworkManagerHasNotRead(t *testing.T) {
	before := drawnNode("disk eth0 device=eth0")
	trial := &Trial{Snapshot: drawnNode("disk eth0 device=eth0", "run eth0 device=eth0 controller=br0 shadow=disk:eth0.nmconnection")}
	eth0 := []string{DiskDir + "/eth0.nmconnection", RunDir + "/eth0.nmconnection"}
	for sentence, test := range map[string]struct {
		trial          *Trial
		unsaved, since []string
		want           []Action
	}{
		"everything is as before":                                   {trial: trial},
		"whoever put the files back died before the reload":         {trial: trial, unsaved: []string{"eth0"}, want: []Action{{Verb: Reload, Paths: eth0}}},
		"so it was before the trial":                                {trial: trial, unsaved: []string{"eth0"}, since: []string{"eth0"}},
		"of a profile without a file and a trial without a picture": {unsaved: []string{"br0"}, want: []Action{{Verb: Reload}}},
	} {
		t.Run(sentence, func(t *testing.T) {
			before, now := before, before
			before.Unsaved, now.Unsaved = test.since, test.unsaved
			if diff := cmp.Diff(test.want, FilesBack(before, test.trial, now, now)); diff != "" {
				t.Errorf("-want +got\n%s", diff)
			}
		})
	}
}
