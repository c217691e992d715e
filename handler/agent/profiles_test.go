package agent

import (
	"path"
	"slices"
	"testing"

	v1 "github.com/nmstate/kubernetes-nmstate/api/v1"
	"github.com/nmstate/kubernetes-nmstate/handler/profiles"
)

// layersOf tells in which folders the host has a profile.
func layersOf(t *testing.T, h *host, name string) []string {
	t.Helper()
	now, err := h.Profiles(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	var found []string
	for _, dir := range []string{profiles.DiskDir, profiles.RunDir} {
		if _, there := now.Files[path.Join(dir, name+".nmconnection")]; there {
			found = append(found, dir)
		}
	}
	return found
}

func TestATrialIsNotOnDiskBeforeItIsProven(t *testing.T) {
	n := newNode(t)
	n.handler()
	n.want(2, "p", "cut") // The API server is out of reach with it, so it stays a trial.
	n.until("the trial is in place", func() bool { return n.host.has("cut") })
	if got := layersOf(t, n.host, "cut"); !slices.Equal(got, []string{profiles.RunDir}) {
		t.Errorf("the trial's profile is in %v, want it in %s only", got, profiles.RunDir)
	}
}

func TestACommittedChangeIsOnDisk(t *testing.T) {
	n := newNode(t)
	n.handler()
	n.want(2, "p", "br0")
	if got := n.outcome(2); got.Result != v1.TransactionCommitted {
		t.Fatalf("outcome %+v, want it committed", got)
	}
	if got := layersOf(t, n.host, "br0"); !slices.Equal(got, []string{profiles.DiskDir}) {
		t.Errorf("the committed profile is in %v, want it in %s only", got, profiles.DiskDir)
	}
}
