package agent

import (
	"context"
	"errors"
	"path"
	"slices"
	"testing"
	"time"

	clocktesting "k8s.io/utils/clock/testing"

	"github.com/nmstate/kubernetes-nmstate/handler/backend"
	"github.com/nmstate/kubernetes-nmstate/handler/deadline"
	"github.com/nmstate/kubernetes-nmstate/handler/journal"
	"github.com/nmstate/kubernetes-nmstate/handler/probe"
	"github.com/nmstate/kubernetes-nmstate/handler/profiles"
	"github.com/nmstate/kubernetes-nmstate/handler/state"
	"github.com/nmstate/kubernetes-nmstate/handler/txn"
)

// passing is a clock on which every wait is over at once, and takes its time.
type passing struct {
	deadline.Clock
	fake  *clocktesting.FakeClock
	began time.Time
}

func newPassing() passing {
	fake := clocktesting.NewFakeClock(time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC))
	return passing{deadline.On(fake), fake, fake.Now()}
}

func (p passing) Wait(_ context.Context, _ <-chan struct{}, d time.Duration) bool {
	p.fake.Step(d)
	return true
}

func (p passing) passed() time.Duration { return p.fake.Now().Sub(p.began) }

// rollsBack is a host whose interface comes, or comes back, after a while.
type rollsBack struct {
	*host
	clock passing
	name  string
	after time.Duration
}

func (r rollsBack) Show(ctx context.Context) (state.State, error) {
	if r.after > 0 && r.clock.passed() >= r.after {
		r.interfaces[r.name] = map[string]any{"name": r.name, "type": "linux-bridge", "state": "up"}
	}
	return r.host.Show(ctx)
}

func TestAProvenChangeWhoseCheckpointIsGoneIsKeptOnlyWhenItStaysInPlace(t *testing.T) {
	t.Parallel()
	const br1 = `{"interfaces": [{"name": "eth0", "type": "ethernet", "state": "up"}, {"name": "br1", "type": "linux-bridge", "state": "up"}]}`
	for name, c := range map[string]struct {
		comesBack time.Duration
		kept      bool
	}{
		"it stays": {kept: true},
		"what it took away comes back a moment later": {comesBack: 300 * time.Millisecond},
		"what it took away comes back late":           {comesBack: keptFor - settleInterval},
	} {
		t.Run(name, func(t *testing.T) {
			clock := newPassing()
			a := &Agent{Options: Options{Clock: clock, Boot: boot{"first"}, Backend: rollsBack{newHost(), clock, "br1", c.comesBack}}}
			settled, _ := a.settle(t.Context(), journal.Entry{
				BootID: "first", Transaction: txn.State{Proven: true}, Before: []byte(br1), Change: []byte(`{"interfaces": [{"name": "br1", "state": "absent"}]}`),
			}).(txn.Settled)
			if kept := len(settled.Missing) == 0; kept != c.kept {
				t.Errorf("kept %t, want %t: %+v", kept, c.kept, settled)
			}
		})
	}
}

// unreadable is a host that cannot be read for a while.
type unreadable struct {
	*host
	clock passing
	until time.Duration
}

func (u unreadable) Show(ctx context.Context) (state.State, error) {
	if u.clock.passed() < u.until {
		return state.State{}, errors.New("the connection to D-Bus ended without an answer")
	}
	return u.host.Show(ctx)
}

// NetworkManager may have committed a change and its answer be lost. While that is not
// known, what the change took from a NIC would cut the node off.
func TestOfAChangeThatMayBeCommittedNothingIsPutBackWhileTheNodeIsNotAsBefore(t *testing.T) {
	t.Parallel()
	const isThere, isNot = `{"interfaces": [{"name": "eth0", "state": "up", "type": "ethernet"}, {"name": "br1", "state": "up", "type": "linux-bridge"}]}`, `{"interfaces": [{"name": "eth0", "type": "ethernet", "state": "up"}]}`
	for name, c := range map[string]struct {
		unread    time.Duration
		bridge    bool
		back      bool
		committed bool
	}{
		"it is in place":                       {bridge: true, committed: true},
		"it is in place, and cannot be read":   {bridge: true, unread: managedGrace + time.Second, committed: true},
		"the node is as before":                {back: true},
		"it is as before, and cannot be read":  {unread: managedGrace + time.Second, back: true},
		"nothing can be read as long as it is": {unread: time.Hour},
	} {
		t.Run(name, func(t *testing.T) {
			clock, h, k := newPassing(), newHost(), newKernel()
			h.interfaces = map[string]map[string]any{"eth0": {"name": "eth0", "type": "ethernet", "state": "up"}}
			if c.bridge {
				h.interfaces["br1"] = map[string]any{"name": "br1", "type": "linux-bridge", "state": "up"}
			}
			before, _ := k.Note(t.Context())
			k.routes = nil // The change took them.
			a := &Agent{Options: Options{Clock: clock, Backend: unreadable{h, clock, c.unread}, Foreign: k, Boot: boot{"first"}}}
			settled, _ := a.settle(t.Context(), journal.Entry{
				BootID: "first", Transaction: txn.State{Proven: true}, Before: []byte(isNot), Change: []byte(isThere), Foreign: &before,
			}).(txn.Settled)
			if back, committed := k.put > 0, len(settled.Missing) == 0; back != c.back || committed != c.committed {
				t.Errorf("put back %t, committed %t; want %t, %t: %+v", back, committed, c.back, c.committed, settled)
			}
		})
	}
}

// outOfReach is an API server that does not answer for a while.
type outOfReach struct {
	probe.NoTargets
	clock passing
	until time.Duration
}

func (outOfReach) Names() []string { return []string{probe.APIServer} }

func (s outOfReach) Probe(context.Context, string) error {
	if s.clock.passed() < s.until {
		return errors.New("no answer")
	}
	return nil
}

func TestWhatIsOutOfReachForAMomentHindersTheLastResortNoLonger(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		until time.Duration
		cut   bool
	}{
		"it is in reach":                         {},
		"it is in reach when addresses are back": {until: 2 * time.Second},
		"it is out of reach for good":            {until: time.Hour, cut: true},
	} {
		t.Run(name, func(t *testing.T) {
			clock := newPassing()
			a := &Agent{Options: Options{Clock: clock, Prober: outOfReach{clock: clock, until: c.until}}}
			entry := journal.Entry{Transaction: txn.State{Guards: []string{probe.APIServer}}}
			got := a.lastingHindrance(t.Context(), entry, errors.New("verification failed"))
			if got.Cut != c.cut || !got.At.Equal(clock.began) {
				t.Errorf("got %+v, want cut %t, from the beginning", got, c.cut)
			}
		})
	}
}

func TestWhatALastResortHasLeftGoesThoughNobodyHasSeenIt(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		begun, goes bool
	}{
		"no last resort was begun: it is somebody else's":            {},
		"NetworkManager died as the last resort was done: it is its": {begun: true, goes: true},
	} {
		t.Run(name, func(t *testing.T) {
			h := newHost()
			before, _ := h.Profiles(t.Context())
			h.layers.tried("eth0", map[string]any{"name": "eth0", "type": "ethernet", "state": "up"})
			a := &Agent{Options: Options{Backend: h, Boot: boot{"first"}}}
			entry := journal.Entry{
				BootID: "first", Profiles: &before, Trial: &profiles.Trial{Snapshot: before}, Seen: &before,
				Transaction: txn.State{LastResort: c.begun},
			}
			if told := len(a.profileDifferences(t.Context(), entry)) > 0; told != c.goes {
				t.Errorf("told %t, want %t", told, c.goes)
			}
			if got := a.restore(t.Context(), &entry); got != (txn.Restored{}) {
				t.Fatalf("it came to %+v", got)
			}
			if _, stays := h.layers.files[path.Join(profiles.RunDir, "eth0.nmconnection")]; stays == c.goes {
				t.Errorf("it stays: %t", stays)
			}
		})
	}
}

func TestANodeThatIsAsBeforeDoesNotProveThatAChangeWasCommitted(t *testing.T) {
	t.Parallel()
	link := func(name, kind, is string) state.State {
		return state.FromTree(map[string]any{"interfaces": []any{map[string]any{"name": name, "type": kind, "state": is}}})
	}
	for name, c := range map[string]struct {
		before, change, now state.State
		missing             bool
	}{
		"what is new to the node is there, so it was committed":       {before: link("eth1", "ethernet", "up"), change: link("br1", "linux-bridge", "up"), now: link("br1", "linux-bridge", "up")},
		"what is new to the node is not there, so it was not":         {before: link("eth1", "ethernet", "up"), change: link("br1", "linux-bridge", "up"), now: link("eth1", "ethernet", "up"), missing: true},
		"an end of a veth that should be gone and never is compared":  {before: link("veth9", "veth", "up"), change: link("veth9", "veth", "absent"), now: link("veth9", "veth", "up"), missing: true},
		"a change that changes nothing: it may be applied once again": {before: link("eth1", "ethernet", "up"), change: link("eth1", "ethernet", "up"), now: link("eth1", "ethernet", "up"), missing: true},
		"an end of a veth that should be gone, and something is gone": {before: link("veth9", "veth", "up"), change: link("veth9", "veth", "absent"), now: link("eth1", "ethernet", "up")},
		"what was to go, is of a kind that is compared, and has gone": {before: link("br1", "linux-bridge", "up"), change: link("br1", "linux-bridge", "absent"), now: link("eth1", "ethernet", "up")},
		"what was to go, is of a kind that is compared, and is there": {before: link("br1", "linux-bridge", "up"), change: link("br1", "linux-bridge", "absent"), now: link("br1", "linux-bridge", "up"), missing: true},
	} {
		t.Run(name, func(t *testing.T) {
			h := newHost()
			h.interfaces = map[string]map[string]any{}
			for _, i := range c.now.Interfaces() {
				h.interfaces[i.Name] = i.Tree()
			}
			a := &Agent{Options: Options{Backend: mortal{h, t.Context()}, Boot: boot{"first"}}}
			if got := a.compare(t.Context(), journal.Entry{BootID: "first"}, c.before, c.change).Missing; (len(got) > 0) != c.missing {
				t.Errorf("missing: %q", got)
			}
		})
	}
}

// noted is a host that notes what it is to do, and fails at one verb.
type noted struct {
	*host
	fails profiles.Verb
	with  error
	done  *[]profiles.Verb
}

func (n noted) Do(_ context.Context, action profiles.Action) error {
	*n.done = append(*n.done, action.Verb)
	if action.Verb == n.fails {
		return n.with
	}
	return nil
}

func TestAFileThatCannotBePutBackKeepsNetworkManagerFromNothingAndFilesOnDisk(t *testing.T) {
	t.Parallel()
	inRun := profiles.Action{Verb: profiles.Remove, Path: profiles.RunDir + "/last-resort.nmconnection"}
	onDisk := profiles.Action{Verb: profiles.Remove, Path: profiles.DiskDir + "/br0.nmconnection"}
	write, sync := profiles.Action{Verb: profiles.Write, Path: profiles.DiskDir + "/eth0.nmconnection"}, profiles.Action{Verb: profiles.Sync}
	reload := profiles.Action{Verb: profiles.Reload}
	for name, c := range map[string]struct {
		fails profiles.Verb
		with  error
		todo  []profiles.Action
		done  []profiles.Verb
	}{
		"the disk is full: the bridge that the NIC's profile still names stays, and NetworkManager reads what is there": {
			profiles.Write, errors.New("no space left on device"),
			[]profiles.Action{write, sync, onDisk, sync, reload},
			[]profiles.Verb{profiles.Write, profiles.Sync, profiles.Sync, profiles.Reload},
		},
		"what is written is not on disk for certain: nothing goes from there": {
			profiles.Sync, errors.New("input/output error"),
			[]profiles.Action{write, sync, onDisk, reload},
			[]profiles.Verb{profiles.Write, profiles.Sync, profiles.Reload},
		},
		"what a reboot forgets goes all the same": {
			profiles.Write, errors.New("no space left on device"),
			[]profiles.Action{write, inRun, reload},
			[]profiles.Verb{profiles.Write, profiles.Remove, profiles.Reload},
		},
		"NetworkManager is away: nobody would read it": {
			profiles.Write, backend.ErrUnavailable,
			[]profiles.Action{inRun, write, sync, reload},
			[]profiles.Verb{profiles.Remove, profiles.Write},
		},
	} {
		t.Run(name, func(t *testing.T) {
			var done []profiles.Verb
			a := &Agent{Options: Options{Backend: noted{newHost(), c.fails, c.with, &done}}}
			if err := a.doWhatCanBe(t.Context(), c.todo); !errors.Is(err, c.with) || !slices.Equal(done, c.done) {
				t.Errorf("did %v, want %v: %v", done, c.done, err)
			}
		})
	}
}

// On the lab a power cut in the middle of a trial made a MAC-VLAN anew, and the way back was told as incomplete.
func TestTheMACAddressOfWhatABootHasMadeAnewIsNoDifference(t *testing.T) {
	t.Parallel()
	for booted, want := range map[string]int{"first": 1, "second": 0} {
		h := newHost()
		h.interfaces = map[string]map[string]any{"mac1": {"name": "mac1", "type": "mac-vlan", "state": "up", "mac-address": "02:00:00:00:00:0B"}}
		before, err := state.Parse([]byte(`{"interfaces": [{"name": "mac1", "type": "mac-vlan", "state": "up", "mac-address": "02:00:00:00:00:0A"}]}`))
		if err != nil {
			t.Fatal(err)
		}
		a := &Agent{Options: Options{Backend: mortal{h, t.Context()}, Boot: boot{booted}}}
		if got := a.compare(t.Context(), journal.Entry{BootID: "first"}, before, state.State{}).Differences; len(got) != want {
			t.Errorf("in boot %s: %q, want %d", booted, got, want)
		}
	}
}
