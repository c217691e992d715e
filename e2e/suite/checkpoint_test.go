//go:build linux

package suite

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"strings"

	"github.com/godbus/dbus/v5"
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/nmstate/kubernetes-nmstate/e2e/lab"
)

// checkpointCommand makes this binary, run in a node, make a checkpoint or,
// given its path, destroy it: NetworkManager answers only to who is in the
// node.
const checkpointCommand = "suite-checkpoint"

func checkpointMain(ctx context.Context, verb string) int {
	bus, err := dbus.ConnectSystemBus()
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer func() { _ = bus.Close() }()
	nm := bus.Object("org.freedesktop.NetworkManager", "/org/freedesktop/NetworkManager")
	if verb != "create" {
		err = nm.CallWithContext(ctx, "org.freedesktop.NetworkManager.CheckpointDestroy", 0, dbus.ObjectPath(verb)).Err
	} else {
		var made dbus.ObjectPath
		err = nm.CallWithContext(ctx, "org.freedesktop.NetworkManager.CheckpointCreate", 0, []dbus.ObjectPath{}, uint32(0), uint32(0)).Store(&made)
		fmt.Println(made)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return 0
}

// foreignCheckpoint makes one that nobody of ours knows of and that never
// expires.
func foreignCheckpoint(ctx context.Context, n *lab.Node) (path string) {
	GinkgoHelper()
	return strings.TrimSpace(inNode(ctx, n, checkpointCommand, "create"))
}

func destroyCheckpoint(ctx context.Context, n *lab.Node, path string) {
	GinkgoHelper()
	inNode(ctx, n, checkpointCommand, path)
}

func inNode(ctx context.Context, n *lab.Node, args ...string) string {
	GinkgoHelper()
	self, err := os.Executable()
	Expect(err).NotTo(HaveOccurred())
	var out, stderr bytes.Buffer
	err = n.Run(ctx, lab.Command{Args: append([]string{self}, args...), Stdout: &out, Stderr: &stderr})
	Expect(err).NotTo(HaveOccurred(), stderr.String())
	return out.String()
}
