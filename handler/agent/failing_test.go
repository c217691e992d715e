package agent

import (
	"context"
	"errors"
	"path"
	"testing"
	"time"

	clocktesting "k8s.io/utils/clock/testing"

	"github.com/nmstate/kubernetes-nmstate/handler/backend"
	"github.com/nmstate/kubernetes-nmstate/handler/deadline"
	"github.com/nmstate/kubernetes-nmstate/handler/journal"
	"github.com/nmstate/kubernetes-nmstate/handler/profiles"
	"github.com/nmstate/kubernetes-nmstate/handler/txn"
)

// failing is a host that fails now and then: at each call of which it says so.
type failing struct {
	*host
	profiles, dos func() error
}

func (f failing) Profiles(ctx context.Context) (profiles.Snapshot, error) {
	if err := f.profiles(); err != nil {
		return profiles.Snapshot{}, err
	}
	return f.host.Profiles(ctx)
}

func (f failing) Do(ctx context.Context, action profiles.Action) error {
	if err := f.dos(); err != nil {
		return err
	}
	return f.host.Do(ctx, action)
}

func never() error { return nil }

// fails at the n-th call only, or until it.
func fails(call func(n int) bool) func() error {
	n := 0
	return func() error {
		if n++; call(n) {
			return errors.New("no connection to D-Bus")
		}
		return nil
	}
}

// skipping has every wait end at once, and counts their time.
type skipping struct {
	deadline.Clock
	waited *time.Duration
}

func (s skipping) Wait(_ context.Context, _ <-chan struct{}, d time.Duration) bool {
	*s.waited += d
	return true
}

func onDisk(h *host, names ...string) profiles.Snapshot {
	for _, name := range names {
		h.layers.put(fileOf(profiles.DiskDir, name), profiles.File{Content: []byte("[connection]\nuuid=" + name + "\ninterface-name=" + name + "\n")})
	}
	now, _ := h.Profiles(context.Background())
	return now
}

func TestWhatWasSeenAsTheWayBackBeganOutlivesACallThatFails(t *testing.T) {
	t.Parallel()
	h := newHost()
	before := onDisk(h, "eth0")
	second := func(n int) bool { return n == 2 }
	a := &Agent{Options: Options{Backend: failing{h, fails(second), never}, Boot: boot{"first"}, Clock: deadline.On(clocktesting.NewFakeClock(time.Now()))}}
	entry := journal.Entry{BootID: "first", Profiles: &before, Trial: &profiles.Trial{Snapshot: before}}
	if got, is := a.restore(t.Context(), &entry).(txn.RestoreFailed); !is {
		t.Errorf("it came to %+v, want the error of the second read", got)
	}
	if entry.Seen == nil || len(entry.Seen.Files) != 1 {
		t.Errorf("seen %+v, want the profile of eth0: whatever is not seen is taken for the trial's, and goes", entry.Seen)
	}
}

func TestWithoutAPictureOfTheTrialNothingGoesBeforeWhatIsThereIsNoted(t *testing.T) {
	t.Parallel()
	h := newHost()
	before := onDisk(h, "eth0")
	h.layers.tried("br0", map[string]any{"name": "br0", "type": "linux-bridge", "state": "up"})
	a := &Agent{Options: Options{Backend: h, Boot: boot{"first"}}}
	entry := journal.Entry{BootID: "first", Profiles: &before}
	ofTrial := path.Join(profiles.RunDir, "br0.nmconnection")
	if got := a.restore(t.Context(), &entry); got != (txn.Seen{}) {
		t.Fatalf("it came to %+v, want that it has seen what is there", got)
	}
	if _, stays := h.layers.files[ofTrial]; !stays || entry.Seen == nil {
		t.Errorf("the trial's profile is there: %t, and seen: %+v; want both, so that the next handler knows it", stays, entry.Seen)
	}
	if got := a.restore(t.Context(), &entry); got != (txn.Restored{}) {
		t.Errorf("then it came to %+v", got)
	}
	if _, stays := h.layers.files[ofTrial]; stays {
		t.Error("the trial's profile stays")
	}
}

// lasting is a host whose checkpoint cannot be taken back.
type lasting struct{ failing }

func (lasting) Rollback(context.Context, backend.Checkpoint) error {
	return errors.New("no connection to D-Bus")
}

func TestWhereWhatIsThereCannotBeReadNoFileGoesBeforeTheCheckpoint(t *testing.T) {
	t.Parallel()
	h := newHost()
	before := onDisk(h, "eth0")
	h.layers.tried("br0", map[string]any{"name": "br0", "type": "linux-bridge", "state": "up"})
	h.checkpoint = "1"
	first := func(n int) bool { return n == 1 }
	a := &Agent{Options: Options{Backend: lasting{failing{h, fails(first), never}}, Boot: boot{"first"}, Clock: deadline.On(clocktesting.NewFakeClock(time.Now()))}}
	entry := journal.Entry{BootID: "first", Instance: "0", Profiles: &before, Transaction: txn.State{Checkpoint: "1"}}
	if got, is := a.rollback(t.Context(), &entry, false).(txn.RollbackFailed); !is {
		t.Fatalf("it came to %+v, want that the checkpoint cannot be taken back", got)
	}
	if got := a.rollback(t.Context(), &entry, false); got != (txn.Seen{}) {
		t.Fatalf("then it came to %+v, want that it has seen what is there", got)
	}
	if _, seen := entry.Seen.Files[path.Join(profiles.RunDir, "br0.nmconnection")]; !seen {
		t.Error("the trial's profile was not seen: the checkpoint brings it back, and it would be taken for somebody else's")
	}
}

func TestACommitWaitsUntilWhatItMakesVoidIsGoneForCertain(t *testing.T) {
	t.Parallel()
	for sentence, c := range map[string]struct {
		failures int
		waits    time.Duration
		left     int
	}{
		"nothing fails": {0, 0, 0},
		"NetworkManager does not answer for a bit": {2, 3 * time.Second, 0},
		"it fails for two minutes":                 {7, 91 * time.Second, 0},
		"it fails for good: the change stays":      {100, 211 * time.Second, 1},
	} {
		t.Run(sentence, func(t *testing.T) {
			h, waited := newHost(), time.Duration(0)
			before := onDisk(h, "dummy0")
			first := func(n int) bool { return n > 1 && n <= c.failures+1 } // The first one flushes the trial.
			a := &Agent{Options: Options{
				Backend: failing{h, never, fails(first)}, Boot: boot{"first"},
				Clock: skipping{deadline.On(clocktesting.NewFakeClock(time.Now())), &waited},
			}}
			entry := journal.Entry{
				Change: []byte(`{"interfaces":[{"name":"dummy0","state":"absent"}]}`), Before: []byte(`{"interfaces":[]}`),
				Profiles: &before, Trial: &profiles.Trial{Snapshot: before},
			}
			if _, is := a.commit(t.Context(), entry).(txn.Committed); !is {
				t.Error("it is not committed")
			}
			if left := len(h.layers.files); left != c.left || waited != c.waits {
				t.Errorf("%d profiles are left after %s, want %d after %s", left, waited, c.left, c.waits)
			}
		})
	}
}
