//go:build linux

package trial

import (
	"bytes"
	"context"
	_ "embed"
	"errors"
	"fmt"
	"path"
	"strings"
	"time"

	"golang.org/x/tools/txtar"

	"k8s.io/utils/clock"

	"github.com/nmstate/kubernetes-nmstate/e2e/lab"
)

// Topology has one node with each NetworkManager: older and newer.
//
//go:embed topology.yaml
var Topology []byte

//go:embed profiles.txtar
var profiles []byte

const (
	profileDir = "/etc/NetworkManager/system-connections"
	scriptDir  = "/etc/NetworkManager/dispatcher.d"
	journalDir = "/var/lib/kubernetes-nmstate"

	// patience is far beyond what is normal.
	patience = 90 * time.Second
	pause    = 50 * time.Millisecond
)

// HandlerArgs are what the changes need of the handler: one of them brings a script.
func HandlerArgs() []string { return []string{"--allow-commands"} }

// devices are what is up on an administrator's node.
var devices = []string{"eth0", "eth1", "eth3", "eth4", "br9"}

// number is what the addresses of a node end with.
func number(n *lab.Node) string {
	return n.Address()[strings.LastIndex(n.Address(), ".")+1:]
}

// Prepare makes a node one whose administrator wrote its profiles by hand: with
// comments, odd spacing, a second profile for a NIC, zones, permissions, secrets.
// Then it is booted and its picture taken.
func Prepare(ctx context.Context, n *lab.Node) (lab.Picture, error) {
	if _, err := n.Exec(ctx, "sh", "-c", "rm -f "+profileDir+"/*"); err != nil {
		return lab.Picture{}, err
	}
	text := strings.ReplaceAll(string(profiles), "NUMBER", number(n))
	for _, file := range txtar.Parse([]byte(text)).Files {
		dir := profileDir
		if strings.HasSuffix(file.Name, ".sh") {
			dir = scriptDir
		}
		if err := write(ctx, n, path.Join(dir, file.Name), file.Data); err != nil {
			return lab.Picture{}, err
		}
	}
	if err := n.Reboot(ctx); err != nil {
		return lab.Picture{}, err
	}
	return steady(ctx, n)
}

// Restore makes a node what a picture of it shows, as a new installation would.
// Its handler is stopped and starts with the boot.
func Restore(ctx context.Context, n *lab.Node, before lab.Picture) error {
	if err := n.Handler(ctx, "stop"); err != nil {
		return err
	}
	if err := n.NM(ctx, "stop"); err != nil {
		return err
	}
	script := "rm -rf " + journalDir + "/* " + profileDir + "/* " + scriptDir + "/* /var/lib/NetworkManager/NetworkManager-intern.conf /etc/systemd/network/*"
	if _, err := n.Exec(ctx, "sh", "-c", script); err != nil {
		return err
	}
	for at, text := range before.Disk {
		if err := write(ctx, n, at, []byte(text)); err != nil {
			return err
		}
	}
	if err := n.Reboot(ctx); err != nil {
		return err
	}
	now, err := steady(ctx, n)
	if err != nil {
		return err
	}
	if d := before.Differences(now); len(d) > 0 {
		return fmt.Errorf("%s is not what it was installed as: %s", n.Name, strings.Join(d, "; "))
	}
	return nil
}

func write(ctx context.Context, n *lab.Node, at string, content []byte) error {
	script := fmt.Sprintf("umask 077 && mkdir -p %s && cat >%s", path.Dir(at), at)
	return n.Run(ctx, lab.Command{Args: []string{"sh", "-c", script}, Stdin: bytes.NewReader(content)})
}

// steady is the node's picture once all of its devices are up and it does not
// change any more.
func steady(ctx context.Context, n *lab.Node) (lab.Picture, error) {
	var last lab.Picture
	since := wall().Now()
	err := until(ctx, n.Name+" to be up and quiet", func() error {
		now, err := n.Picture(ctx)
		if err != nil {
			return err
		}
		for _, d := range devices {
			if !strings.HasPrefix(now.Active[d], "connected ") {
				return fmt.Errorf("%s is %s", d, now.Active[d])
			}
		}
		if d := last.Differences(now); len(d) > 0 {
			last, since = now, wall().Now()
			return errors.New(strings.Join(d, "; "))
		}
		if wall().Since(since) < time.Second {
			return errors.New("it has been quiet for less than a second")
		}
		return nil
	})
	return last, err
}

// until polls, and tells in the end what the last try said.
func until(ctx context.Context, what string, f func() error) error {
	return within(ctx, patience, what, f)
}

func within(ctx context.Context, limit time.Duration, what string, f func() error) error {
	for end := wall().Now().Add(limit); ; {
		err := f()
		if err == nil {
			return nil
		}
		if wall().Now().After(end) {
			return fmt.Errorf("waited %s for %s: %w", limit, what, err)
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("waiting for %s: %w (%w)", what, err, ctx.Err())
		case <-wall().After(pause):
		}
	}
}

// wall is the machine's clock: the nodes of a lab are real processes.
func wall() clock.Clock { return clock.RealClock{} }
