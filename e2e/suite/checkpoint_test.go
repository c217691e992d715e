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

// nmCommand makes this binary, run in a node, ask its NetworkManager, which
// answers only to who is in the node: to make a checkpoint ("create"), to do what
// it does when the machine goes to sleep and wakes up, or, given a checkpoint's
// path, to destroy it.
const nmCommand = "suite-networkmanager"

func nmMain(ctx context.Context, verb string) int {
	bus, err := dbus.ConnectSystemBus()
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer func() { _ = bus.Close() }()
	const name = "org.freedesktop.NetworkManager"
	nm := bus.Object(name, "/org/freedesktop/NetworkManager")
	switch verb {
	case "create":
		var made dbus.ObjectPath
		err = nm.CallWithContext(ctx, name+".CheckpointCreate", 0, []dbus.ObjectPath{}, uint32(0), uint32(0)).Store(&made)
		fmt.Println(made)
	case "sleep", "wake":
		err = nm.CallWithContext(ctx, name+".Sleep", 0, verb == "sleep").Err
	default:
		err = nm.CallWithContext(ctx, name+".CheckpointDestroy", 0, dbus.ObjectPath(verb)).Err
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
	return strings.TrimSpace(inNode(ctx, n, nmCommand, "create"))
}

func destroyCheckpoint(ctx context.Context, n *lab.Node, path string) {
	GinkgoHelper()
	inNode(ctx, n, nmCommand, path)
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
