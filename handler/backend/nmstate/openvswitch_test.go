//go:build linux && cgo && nmstate

package nmstate

import (
	"errors"
	"io"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/nmstate/kubernetes-nmstate/handler/backend"
	"github.com/nmstate/kubernetes-nmstate/handler/profiles"
	"github.com/nmstate/kubernetes-nmstate/handler/state"
)

// startOpenVSwitch starts a database as on a fresh node, with some keys in it.
func startOpenVSwitch(t *testing.T) {
	t.Helper()
	const server = "/usr/sbin/ovsdb-server"
	if _, err := os.Stat(server); err != nil {
		why := "the real database of Open vSwitch: the node has no " + server + "; hack/noderoot.sh makes one that does"
		if os.Getenv("NMSTATE_STRICT") == "1" {
			t.Fatal(why)
		}
		t.Skip(why)
	}
	const dir = "/run/openvswitch"
	if err := os.Mkdir(dir, 0o755); err != nil && !errors.Is(err, os.ErrExist) {
		t.Fatal(err)
	}
	if err := mounted(mount{"tmpfs", dir, "tmpfs", 0, ""}); err != nil {
		t.Fatal(err)
	}
	do := func(path string, args ...string) {
		if out, err := exec.Command(path, args...).CombinedOutput(); err != nil {
			t.Fatalf("%s: %v: %s", path, err, out)
		}
	}
	const db = dir + "/conf.db"
	do("/usr/bin/ovsdb-tool", "create", db, "/usr/share/openvswitch/vswitch.ovsschema")
	running := exec.Command(server, db, "--remote=punix:"+dir+"/db.sock", "--unixctl="+dir+"/ctl", "--log-file=/dev/null")
	if err := running.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = running.Process.Kill() // It may have ended.
		_ = running.Wait()
		_ = syscall.Unmount(dir, syscall.MNT_DETACH) // It goes with the node in any case.
	})
	eventually(t, "the database listens", func() bool { _, err := os.Stat(dir + "/db.sock"); return err == nil })
	do("/usr/bin/ovsdb-client", "transact", "unix:"+dir+"/db.sock", `["Open_vSwitch", {"op": "insert", "table": "Open_vSwitch", "row": {
		"external_ids": ["map", [["system-id", "rack7"], ["count", "3"], ["ovn-bridge-mappings", "b:br-b,a:br-a"]]],
		"other_config": ["map", [["vlan-limit", "0"]]]}}]`)
}

func (n *node) openVSwitch(t *testing.T) state.Columns {
	t.Helper()
	found, err := n.backend.Profiles(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return found.OpenVSwitch
}

// TestOpenVSwitchIsHeldOutOfTheTrial: what a change asks of the database is not in
// it until it is made permanent, and every byte of it comes back.
func TestOpenVSwitchIsHeldOutOfTheTrial(t *testing.T) {
	n := newNode(t)
	startOpenVSwitch(t)
	before := n.openVSwitch(t)
	ids := func(pairs ...string) map[string]string {
		made := map[string]string{}
		for i := 0; i < len(pairs); i += 2 {
			made[pairs[i]] = pairs[i+1]
		}
		return made
	}
	limit := ids("vlan-limit", "0")
	cases := map[string]struct {
		desired string
		want    state.Columns
	}{
		"a key is set, one changed, one taken away": {
			`{"ovs-db": {"external_ids": {"new": "1", "count": "4", "system-id": null}}}`,
			state.Columns{"external_ids": ids("new", "1", "count", "4", "ovn-bridge-mappings", "b:br-b,a:br-a"), "other_config": limit}},
		"an empty column loses everything but OVN's mappings": {
			`{"ovs-db": {"external_ids": {}}}`,
			state.Columns{"external_ids": ids("ovn-bridge-mappings", "b:br-b,a:br-a"), "other_config": limit}},
		"nothing at all empties both columns": {
			`{"ovs-db": {}}`,
			state.Columns{"external_ids": ids("ovn-bridge-mappings", "b:br-b,a:br-a"), "other_config": ids()}},
		"a mapping goes": {
			`{"ovn": {"bridge-mappings": [{"localnet": "a", "state": "absent"}]}}`,
			state.Columns{"external_ids": ids("system-id", "rack7", "count", "3", "ovn-bridge-mappings", "b:br-b"), "other_config": limit}},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			desired := parsed(t, c.desired)
			checkpoint, _, err := n.backend.Apply(t.Context(), desired, time.Minute, nil)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(before, n.openVSwitch(t)); diff != "" {
				t.Errorf("in the trial (-before +now):\n%s", diff)
			}
			n.writeOpenVSwitch(t, desired.OpenVSwitch().Forth(before))
			if diff := cmp.Diff(c.want, n.openVSwitch(t)); diff != "" {
				t.Errorf("made permanent (-want +got):\n%s", diff)
			}
			current, err := n.backend.Show(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			if missing := state.Missing(desired, current); len(missing) > 0 {
				t.Errorf("nmstate reads back: %v", missing)
			}
			n.writeOpenVSwitch(t, desired.OpenVSwitch().Back(before, n.openVSwitch(t)))
			if diff := cmp.Diff(before, n.openVSwitch(t)); diff != "" {
				t.Errorf("taken back (-before +now):\n%s", diff)
			}
			if err := n.backend.Rollback(t.Context(), checkpoint); err != nil {
				t.Error(err)
			}
		})
	}
}

func (n *node) writeOpenVSwitch(t *testing.T, keys state.Keys) {
	t.Helper()
	if err := n.backend.Do(t.Context(), profiles.Action{Verb: profiles.SetOpenVSwitch, Keys: keys}); err != nil {
		t.Fatal(err)
	}
}

// TestNmstateWritesToOpenVSwitchAtOnce is why: it is in the database as soon as it is
// applied in memory only, and a rollback leaves it there.
func TestNmstateWritesToOpenVSwitchAtOnce(t *testing.T) {
	n := newNode(t)
	startOpenVSwitch(t)
	if err := applyUncommitted(`{"ovs-db": {"external_ids": {"system-id": null, "new": "1"}}}`, trialOptions{rollbackAfter: time.Minute, verify: true}, io.Discard); err != nil {
		t.Fatal(err)
	}
	in := n.openVSwitch(t)
	pending, err := n.backend.Pending(t.Context())
	if err != nil || len(pending) != 1 {
		t.Fatalf("checkpoints %v, %v", pending, err)
	}
	if err := n.backend.Rollback(t.Context(), pending[0].Checkpoint); err != nil {
		t.Fatal(err)
	}
	after := n.openVSwitch(t)
	for when, got := range map[string]state.Columns{"in the trial": in, "after the rollback": after} {
		if _, had := got["external_ids"]["system-id"]; had || got["external_ids"]["new"] != "1" {
			t.Errorf("%s: %v", when, got)
		}
	}
}

// TestOpenVSwitchIsRefusedByName: before anything is changed.
func TestOpenVSwitchIsRefusedByName(t *testing.T) {
	n := newNode(t)
	refused := func(t *testing.T, desired, want string) {
		t.Helper()
		armed := false
		_, _, err := n.backend.Apply(t.Context(), parsed(t, desired), time.Minute, func(backend.Checkpoint) { armed = true })
		if armed || !errors.Is(err, backend.ErrInvalid) || !strings.Contains(err.Error(), want) {
			t.Errorf("armed %t: %v", armed, err)
		}
	}
	refused(t, `{"ovs-db": {"external_ids": {"a": "1"}}}`, "ovs-db and ovn need Open vSwitch on the node")
	startOpenVSwitch(t)
	refused(t, `{"ovn": {"bridge-mappings": [{"localnet": "a", "bridge": "br-none"}]}}`, "br-none")
	refused(t, `{"ovs-db": {"external_ids": {"ovn-bridge-mappings": "a:b"}}}`, "reserved")
}
