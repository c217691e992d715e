package agent

import (
	"context"
	"path"
	"slices"
	"strings"
	"testing"

	v1 "github.com/nmstate/kubernetes-nmstate/api/v1"
	"github.com/nmstate/kubernetes-nmstate/handler/backend"
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
	t.Parallel()
	n := newNode(t)
	n.handler()
	n.want(2, "p", "cut") // The API server is out of reach with it, so it stays a trial.
	n.until("the trial is in place", func() bool { return n.host.has("cut") })
	if got := layersOf(t, n.host, "cut"); !slices.Equal(got, []string{profiles.RunDir}) {
		t.Errorf("the trial's profile is in %v, want it in %s only", got, profiles.RunDir)
	}
}

func TestACommittedChangeIsOnDisk(t *testing.T) {
	t.Parallel()
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

// forgetful is a NetworkManager that says it saves, and does not.
type forgetful struct{ backend.Backend }

func (f forgetful) Do(ctx context.Context, action profiles.Action) error {
	if action.Verb == profiles.Save {
		return nil
	}
	return f.Backend.Do(ctx, action)
}

func TestWhatIsNotOnDiskIsNotCommittedWhateverNetworkManagerSays(t *testing.T) {
	t.Parallel()
	n := newNode(t)
	n.handler(func(o *Options) { o.Backend = forgetful{o.Backend} })
	n.want(2, "p", "br0")
	got := n.outcome(2)
	if got.Result != v1.TransactionRolledBack || !strings.Contains(got.Message, "NetworkManager has not saved br0") {
		t.Errorf("outcome %+v, want it taken back", got)
	}
	if found := layersOf(t, n.host, "br0"); len(found) > 0 {
		t.Errorf("the profile is in %v, want it nowhere", found)
	}
}
