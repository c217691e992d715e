package agent

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"k8s.io/utils/clock"

	"github.com/nmstate/kubernetes-nmstate/handler/backend"
	"github.com/nmstate/kubernetes-nmstate/handler/deadline"
	"github.com/nmstate/kubernetes-nmstate/handler/journal"
	"github.com/nmstate/kubernetes-nmstate/handler/probe"
	"github.com/nmstate/kubernetes-nmstate/handler/profiles"
	"github.com/nmstate/kubernetes-nmstate/handler/state"
	"github.com/nmstate/kubernetes-nmstate/handler/txn"
)

// agreeable probes pass where they are named.
type agreeable struct {
	probe.NoTargets
	passes map[string]bool
}

func (p agreeable) Names() []string { return nil }

func (p agreeable) Probe(_ context.Context, name string) error {
	if !p.passes[name] {
		return errors.New(name + ": no answer")
	}
	return nil
}

// TestWhatOpenVSwitchWasGivenIsGuarded: no trial has it, so the guards are asked when
// it is there.
func TestWhatOpenVSwitchWasGivenIsGuarded(t *testing.T) {
	text := func(value string) state.Columns { return state.Columns{"external_ids": {"count": value}} }
	cases := map[string]struct {
		change string
		passes agreeable
		now    state.Columns
		want   string // Empty: it is fine.
	}{
		"the guards pass":                    {`{"ovs-db":{"external_ids":{"count":"4"}}}`, agreeable{passes: map[string]bool{"dns": true}}, text("4"), ""},
		"a guard is lost":                    {`{"ovs-db":{"external_ids":{"count":"4"}}}`, agreeable{}, text("4"), "with what Open vSwitch's database was given: dns: no answer"},
		"the database has not taken it":      {`{"ovs-db":{"external_ids":{"count":"4"}}}`, agreeable{passes: map[string]bool{"dns": true}}, text("3"), "has not taken external_ids:count"},
		"a change that does not speak of it": {`{"interfaces":[]}`, agreeable{}, text("3"), ""},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			a := &Agent{Options: Options{Clock: deadline.On(clock.RealClock{}), Prober: c.passes}}
			entry := journal.Entry{Change: []byte(c.change), Before: []byte("{}"), Profiles: &profiles.Snapshot{}, Transaction: txn.State{Guards: []string{"dns", txn.Confirm}}}
			entry.Transaction.Change.Probes = []txn.Guard{{Name: "dns", Interval: time.Millisecond}}
			change, err := changeOf(entry)
			if err != nil {
				t.Fatal(err)
			}
			err = a.guardWritten(t.Context(), entry, profiles.Snapshot{OpenVSwitch: c.now}, change)
			switch {
			case c.want == "" && err != nil:
				t.Errorf("got %v", err)
			case c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)):
				t.Errorf("got %v, want %s", err, c.want)
			}
		})
	}
}

// TestOpenVSwitchGoesBack to what the journal says, that of a handler too which
// had it in the report alone.
func TestOpenVSwitchGoesBack(t *testing.T) {
	t.Parallel()
	const change, before = `{"ovs-db":{"external_ids":{"count":"4"}}}`, `{"ovs-db":{"external_ids":{"count":"3"}}}`
	had := state.Columns{"external_ids": {"count": "2"}}
	now := profiles.Snapshot{OpenVSwitch: state.Columns{"external_ids": {"count": "4"}}}
	cases := map[string]struct {
		entry journal.Entry
		want  string
	}{
		"by the profiles' picture": {journal.Entry{Change: []byte(change), Before: []byte(before), Profiles: &profiles.Snapshot{OpenVSwitch: had}}, "2"},
		"by the report":            {journal.Entry{Change: []byte(change), Before: []byte(before), Profiles: &profiles.Snapshot{}}, "3"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			actions := openVSwitchBack(c.entry, now)
			if len(actions) != 1 || *actions[0].Keys["external_ids"]["count"] != c.want {
				t.Errorf("got %v", actions)
			}
			if lines := openVSwitchDifferences(c.entry, now); len(lines) != 1 || lines[0] != "Open vSwitch's external_ids:count is not as it was" {
				t.Errorf("differences: %v", lines)
			}
		})
	}
}

// pictured is a node of which NetworkManager tells this.
type pictured struct {
	backend.Backend
	found profiles.Snapshot
}

func (p pictured) Profiles(context.Context) (profiles.Snapshot, error) { return p.found, nil }

// TestADatabaseThatCannotBeReadStopsOnlyWhatNamesIt: it may be ill while another
// change is to be taken back.
func TestADatabaseThatCannotBeReadStopsOnlyWhatNamesIt(t *testing.T) {
	t.Parallel()
	had := &profiles.Snapshot{OpenVSwitch: state.Columns{"external_ids": {"count": "2"}}}
	for name, c := range map[string]struct {
		change string
		now    state.Columns
		fails  bool
	}{
		"a change of it":                 {`{"ovs-db":{"external_ids":{"count":"4"}}}`, nil, true},
		"a change of it, and it is read": {`{"ovs-db":{"external_ids":{"count":"4"}}}`, had.OpenVSwitch, false},
		"a change that does not name it": {`{"interfaces":[]}`, nil, false},
		"a change that nobody can read":  {`{`, nil, false},
	} {
		t.Run(name, func(t *testing.T) {
			a := &Agent{Options: Options{Backend: pictured{found: profiles.Snapshot{OpenVSwitch: c.now}}}}
			entry := journal.Entry{Change: []byte(c.change), Before: []byte("{}"), Profiles: had}
			if _, err := a.profilesFor(t.Context(), entry); (err != nil) != c.fails {
				t.Errorf("got %v", err)
			}
		})
	}
}
