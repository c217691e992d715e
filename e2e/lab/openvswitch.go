//go:build linux

package lab

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
	"time"
)

// A node with Open vSwitch has its database on its disk, as Debian does, and its
// socket in /run.
const (
	ovsDatabase = "/etc/openvswitch/conf.db"
	ovsRun      = "/run/openvswitch"
	ovsSocket   = "unix:" + ovsRun + "/db.sock"
	ovsSchema   = "/usr/share/openvswitch/vswitch.ovsschema"
)

// openVSwitch tells whether any node has it. NetworkManager's plugin for it is not in
// Debian's build, so the VM gets another one (hack/noderoot.sh openvswitch).
func (t *Topology) openVSwitch() bool {
	return slices.ContainsFunc(t.Nodes, func(n NodeSpec) bool { return n.OpenVSwitch })
}

// ovsUnits are the database and the switch.
func ovsUnits() []*unit {
	return []*unit{
		{
			name: "ovsdb",
			argv: []string{"ovsdb-server", ovsDatabase, "--remote=punix:" + ovsRun + "/db.sock", "--unixctl=" + ovsRun + "/ovsdb.ctl",
				"--no-chdir", "-vconsole:info", "-vsyslog:off"},
			logFile: nodeShare + "/ovsdb.log",
			ready: func(ctx context.Context) error {
				return ovsAnswers(ctx, "ovs-vsctl", "--timeout=5", "--no-wait", "--db="+ovsSocket, "init")
			},
		},
		{
			name:    "ovs",
			argv:    []string{"ovs-vswitchd", ovsSocket, "--unixctl=" + ovsRun + "/ovs.ctl", "--no-chdir", "-vconsole:info", "-vsyslog:off"},
			logFile: nodeShare + "/ovs.log",
			ready: func(ctx context.Context) error {
				return ovsAnswers(ctx, "ovs-appctl", "--timeout=5", "-t", ovsRun+"/ovs.ctl", "version")
			},
		},
	}
}

func startOpenVSwitch(ctx context.Context, sup *supervisor) error {
	if err := sup.undisturbed(func() error { return makeOVSDatabase(ctx) }); err != nil {
		return err
	}
	for _, u := range ovsUnits() {
		if err := sup.start(ctx, u.name); err != nil {
			return err
		}
	}
	return nil
}

// makeOVSDatabase is for the first boot; a database that is there stays.
func makeOVSDatabase(ctx context.Context) error {
	// In Debian's /etc it is a link to a file in /var.
	for _, dir := range []string{"/etc/openvswitch", "/var/lib/openvswitch", ovsRun} {
		if err := os.MkdirAll(dir, 0o755); err != nil {
			return fmt.Errorf("making %s: %w", dir, err)
		}
	}
	if _, err := os.Stat(ovsDatabase); !errors.Is(err, os.ErrNotExist) {
		return err
	}
	if out, err := exec.CommandContext(ctx, "ovsdb-tool", "create", ovsDatabase, ovsSchema).CombinedOutput(); err != nil {
		return fmt.Errorf("making the Open vSwitch database: %w: %s", err, inOneLine(out))
	}
	return nil
}

func inOneLine(out []byte) string {
	return strings.Join(strings.FieldsFunc(string(out), func(r rune) bool { return r == '\n' }), "; ")
}

func ovsAnswers(ctx context.Context, program string, args ...string) error {
	return poll(ctx, time.Minute, func() error {
		if out, err := exec.CommandContext(ctx, program, args...).CombinedOutput(); err != nil {
			return fmt.Errorf("%s does not answer: %w: %s", program, err, inOneLine(out))
		}
		return nil
	})
}
