//go:build linux && cgo && nmstate

package nmstate

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/nmstate/kubernetes-nmstate/handler/backend"
	"github.com/nmstate/kubernetes-nmstate/handler/profiles"
)

// newScriptNode is a node whose installation allows scripts.
func newScriptNode(t *testing.T) *node {
	t.Helper()
	n := newNodeWith(t, nil, map[string]string{"br9.nmconnection": byHand()["br9.nmconnection"]})
	n.backend.options.Commands = true
	return n
}

func (n *node) scripts(t *testing.T) profiles.Files {
	t.Helper()
	found, err := n.backend.Profiles(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return found.Scripts
}

// TestScriptsAreThoseOfNmstate: the older project has nmstate write them.
func TestScriptsAreThoseOfNmstate(t *testing.T) {
	n := newScriptNode(t)
	desired := parsed(t, `{"interfaces": [{"name": "eth1", "dispatch": {"post-activation": "echo \"$1\" up\necho 2", "post-deactivation": "echo down\n"}}]}`)
	if err := applyUncommitted(string(desired.JSON()), trialOptions{rollbackAfter: time.Minute, verify: true}, io.Discard); err != nil {
		t.Fatal(err)
	}
	want := profiles.Files{}
	for at, file := range profiles.ScriptsOf(desired, nil, false) {
		want[at] = *file
	}
	if diff := cmp.Diff(want, n.scripts(t)); diff != "" {
		t.Errorf("nmstate writes others (-ours +nmstate's):\n%s", diff)
	}
	theirs, err := retrieve()
	if err != nil {
		t.Fatal(err)
	}
	ours, err := n.backend.Show(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(parsed(t, theirs).Scripts(), ours.Scripts()); diff != "" || len(ours.Scripts()) == 0 {
		t.Errorf("the report differs (-nmstate's +ours):\n%s", diff)
	}
}

// TestATrialLeavesScriptsAlone: nmstate would remove those of an interface that is to be
// absent, and those of a change would be on disk before it is proven.
func TestATrialLeavesScriptsAlone(t *testing.T) {
	n := newScriptNode(t)
	at := profiles.ScriptsDir + "/nmstate-br9-up.sh"
	written(t, at, "#!/bin/sh\n# an administrator's\n")
	before := n.scripts(t)
	for name, desired := range map[string]string{
		"a script":         `{"interfaces": [{"name": "eth1", "dispatch": {"post-activation": "true"}}, {"name": "br9", "dispatch": {"post-activation": "false"}}]}`,
		"an absent device": `{"interfaces": [{"name": "br9", "type": "linux-bridge", "state": "absent"}]}`,
	} {
		t.Run(name, func(t *testing.T) {
			checkpoint, _, err := n.backend.Apply(t.Context(), parsed(t, desired), time.Minute, nil)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(before, n.scripts(t)); diff != "" || len(before) != 1 {
				t.Errorf("in the trial (-before +now):\n%s", diff)
			}
			// NetworkManager 1.42 may fail to bring a bridge back. This is about files.
			if err := n.backend.Rollback(t.Context(), checkpoint); err != nil {
				t.Log(err)
			}
			if diff := cmp.Diff(before, n.scripts(t)); diff != "" {
				t.Errorf("taken back (-before +now):\n%s", diff)
			}
		})
	}
}

// TestScriptsRunWithReapply, and what others have put on the device stays there.
func TestScriptsRunWithReapply(t *testing.T) {
	n := newScriptNode(t)
	const ran = "/run/ran"
	for _, line := range []string{"ip addr add 198.18.9.1/24 dev eth1", "ip route add 203.0.113.0/24 via 192.0.2.253 dev eth1"} {
		if out, err := exec.Command("sh", "-c", line).CombinedOutput(); err != nil {
			t.Fatalf("%s: %v: %s", line, err, out)
		}
	}
	before := n.Kernel(t)
	desired := parsed(t, fmt.Sprintf(`{"interfaces": [{"name": "eth1", "dispatch": {"post-activation": "echo $2 >>%s"}}]}`, ran))
	for at, file := range profiles.ScriptsOf(desired, nil, false) {
		n.doAll(t, profiles.Action{Verb: profiles.Write, Path: at, File: *file})
	}
	n.doAll(t, profiles.Action{Verb: profiles.Reapply, Device: "eth1"})
	eventually(t, "the script has run", func() bool {
		said, err := os.ReadFile(ran)
		return err == nil && strings.TrimSpace(string(said)) == "reapply"
	})
	if diff := cmp.Diff(before, n.Kernel(t)); diff != "" {
		t.Errorf("the kernel (-before +now):\n%s", diff)
	}
	if out, err := exec.Command("nmcli", "device", "disconnect", "eth1").CombinedOutput(); err != nil {
		t.Fatalf("disconnecting eth1: %v: %s", err, out)
	}
	for name, device := range map[string]string{"no profile": "eth1", "no device": "eth9"} {
		if err := n.backend.Do(t.Context(), profiles.Action{Verb: profiles.Reapply, Device: device}); !errors.Is(err, backend.ErrGone) {
			t.Errorf("%s: got %v, want ErrGone", name, err)
		}
	}
}

func (n *node) doAll(t *testing.T, actions ...profiles.Action) {
	t.Helper()
	for _, action := range actions {
		if err := n.backend.Do(t.Context(), action); err != nil {
			t.Fatal(err)
		}
	}
}
