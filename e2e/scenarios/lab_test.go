//go:build linux

package scenarios

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/nmstate/kubernetes-nmstate/e2e/cluster"
	"github.com/nmstate/kubernetes-nmstate/e2e/controlplane"
	"github.com/nmstate/kubernetes-nmstate/e2e/lab"
)

const (
	// patience is far beyond what is normal, poll how often is looked.
	patience = 90 * time.Second
	poll     = 50 * time.Millisecond

	// atOnce is how a handler is stopped, as a scenario means it: one that is asked to
	// would end its transaction first.
	atOnce = "halt"

	journalFile = "/var/lib/kubernetes-nmstate/journal.json"
	// handlerRestart is longer than the lab waits before it starts a killed handler.
	handlerRestart = 10 * time.Second
	// emulated is how many times slower a node may be in a VM without hardware for
	// it, and inVMPatience what patience is there.
	emulated     = 15
	inVMPatience = 10 * time.Minute
)

// Lab is a lab as a scenario.Backend.
type Lab struct {
	cluster *cluster.Cluster
	bin     string
	audit   string
	began   time.Time
	mode    string
	slow    int // 1, or emulated
	phases  map[string]*lab.Phases
	// pristine are the profiles that the nodes had at the beginning.
	pristine map[string]map[string]string
	// away are parts that were stopped, cut tells that the API server is out of reach.
	away map[string]bool
	cut  bool
	// out are the Nodes that are not in the cluster (any more), and grown tells that one
	// has joined it since.
	out   map[string]*corev1.Node
	grown bool
	// broken is what mends a switch, with its last word, and stepped what the clock is off.
	broken  map[string]string
	stepped time.Duration
}

// Client is the administrator's.
func (l *Lab) Client() client.Client { return l.cluster.Client }

// Elapsed is the time since the scenario began.
func (l *Lab) Elapsed() time.Duration { return time.Since(l.began) }

// Patience is for whatever takes a few seconds.
func (l *Lab) Patience() time.Duration {
	if l.slow > 1 {
		return inVMPatience
	}
	return patience
}

// Until polls.
func (l *Lab) Until(ctx context.Context, d time.Duration, done func() (bool, error)) (bool, error) {
	for end := time.Now().Add(d); ; {
		if is, err := done(); is || err != nil {
			return is, err
		}
		if time.Now().After(end) {
			return false, nil
		}
		select {
		case <-ctx.Done():
			return false, ctx.Err()
		case <-time.After(poll):
		}
	}
}

// Kernel asks ip, and the resolver's file.
func (l *Lab) Kernel(ctx context.Context, node string) ([]string, error) {
	n, err := l.cluster.Node(node)
	if err != nil {
		return nil, err
	}
	if l.out[node] != nil {
		return nil, nil
	}
	kernel, err := n.Kernel(ctx)
	if err != nil {
		return nil, err
	}
	resolv, err := n.Exec(ctx, "cat", "/etc/resolv.conf")
	if err != nil {
		return nil, err
	}
	lines, err := plain(kernel, string(resolv))
	if err != nil || !strings.Contains(kernel, `"`+ovsSystem+`"`) {
		return lines, err
	}
	bridges, err := ovsPorts(ctx, n)
	return bridgesOfOVS(lines, bridges), err
}

// ovsPorts are the bridges of Open vSwitch by their ports.
func ovsPorts(ctx context.Context, n *lab.Node) (map[string]string, error) {
	all := map[string]string{}
	bridges, err := n.Exec(ctx, "ovs-vsctl", "--timeout=5", "list-br")
	if err != nil {
		return nil, err
	}
	for bridge := range strings.FieldsSeq(string(bridges)) {
		ports, err := n.Exec(ctx, "ovs-vsctl", "--timeout=5", "list-ports", bridge)
		if err != nil {
			return nil, err
		}
		for port := range strings.FieldsSeq(string(ports)) {
			all[port] = bridge
		}
	}
	return all, nil
}

// Snapshot is the kernel and the profiles. NetworkManager keeps a profile that
// does nothing for a NIC that it has once configured, and IPv6 switched off on
// it, so without the route for multicasts.
func (l *Lab) Snapshot(ctx context.Context, node string) (string, error) {
	n, err := l.cluster.Node(node)
	if err != nil {
		return "", err
	}
	kernel, err := n.Settled(ctx)
	if err != nil {
		return "", err
	}
	profiles, err := n.Profiles()
	if err != nil {
		return "", err
	}
	var lines []string
	for line := range strings.Lines(kernel) {
		if !strings.Contains(line, `"dst":"ff00::/8"`) {
			lines = append(lines, strings.TrimSpace(line))
		}
	}
	for name, text := range profiles {
		if l.pristine[node][name] == "" && lab.IdleProfile(text) {
			continue
		}
		for line := range strings.Lines(text) {
			lines = append(lines, name+": "+strings.TrimSpace(line))
		}
	}
	slices.Sort(lines)
	return strings.Join(lines, "\n"), nil
}

// Phase reads the journal.
func (l *Lab) Phase(_ context.Context, node string) (string, error) {
	n, err := l.cluster.Node(node)
	if err != nil {
		return "", err
	}
	raw, err := os.ReadFile(n.DiskPath(journalFile))
	if errors.Is(err, os.ErrNotExist) {
		return "Idle", nil
	}
	if err != nil {
		return "", fmt.Errorf("reading the journal: %w", err)
	}
	var entry struct{ Transaction struct{ Phase string } }
	if err := json.Unmarshal(raw, &entry); err != nil {
		return "", fmt.Errorf("reading the journal: %w", err)
	}
	return entry.Transaction.Phase, nil
}

// Watch begins to follow the logs.
func (l *Lab) Watch(context.Context) error {
	for _, n := range l.cluster.Nodes() {
		var err error
		if l.phases[n.Name], err = n.FollowPhases(); err != nil {
			return err
		}
	}
	return nil
}

// Enter follows the handler's log.
func (l *Lab) Enter(ctx context.Context, node, phase string) error {
	return l.phases[node].Until(ctx, phase, l.Patience())
}

// Applies counts in NetworkManager's log.
func (l *Lab) Applies(_ context.Context, node string) (int, error) {
	n, err := l.cluster.Node(node)
	if err != nil {
		return 0, err
	}
	raw, err := os.ReadFile(n.LogPath("nm"))
	if err != nil {
		return 0, fmt.Errorf("reading NetworkManager's log: %w", err)
	}
	return bytes.Count(raw, []byte(`op="checkpoint-create"`)), nil
}

// Writes reads the API server's audit log.
func (l *Lab) Writes(context.Context) (int, string, error) {
	all, err := controlplane.ReadRequests(l.audit, controlplane.Filter{
		Since: l.began, Verbs: []string{"create", "update", "patch", "delete", "deletecollection"},
	})
	if err != nil {
		return 0, "", err
	}
	all = slices.DeleteFunc(all, func(r controlplane.Request) bool { return r.Group != "nmstate.io" && r.Resource != "events" })
	return len(all), controlplane.Summary(all[max(0, len(all)-5):]), nil
}

// Process starts, stops, kills and restarts. A killed handler is back when it
// returns; NetworkManager and the API server stay away until they are started.
func (l *Lab) Process(ctx context.Context, verb, part, node string) error {
	switch part {
	case "controllers":
		return l.controllers(ctx, verb)
	case "apiserver":
		if verb == "restart" {
			return errors.Join(l.cluster.APIServer(ctx, "kill"), l.cluster.APIServer(ctx, "start"))
		}
		l.away[part] = verb != "start"
		return l.cluster.APIServer(ctx, verb)
	}
	n, err := l.cluster.Node(node)
	if err != nil {
		return err
	}
	if part == "networkmanager" {
		if verb == "restart" { // as a crash: nothing is written down before
			return errors.Join(n.NM(ctx, "kill"), n.NM(ctx, "start"))
		}
		return n.NM(ctx, verb)
	}
	if verb == "stop" {
		verb = atOnce
	}
	if verb != "kill" {
		return n.Handler(ctx, verb)
	}
	return l.killed(ctx, n, func() error { return n.Handler(ctx, verb) })
}

// ProcessIn has the node itself watch for the phase, where it is in a virtual machine.
func (l *Lab) ProcessIn(ctx context.Context, verb, part, node, phase string) (bool, error) {
	if l.slow == 1 || part != "handler" || verb != "stop" && verb != "kill" {
		return false, nil
	}
	n, err := l.cluster.Node(node)
	if err != nil {
		return true, err
	}
	if verb == "stop" {
		return true, n.HandlerIn(ctx, atOnce, phase, l.phases[node], l.Patience())
	}
	return true, l.killed(ctx, n, func() error { return n.HandlerIn(ctx, verb, phase, l.phases[node], l.Patience()) })
}

// killed waits until a handler that is killed runs again.
func (l *Lab) killed(ctx context.Context, n *lab.Node, kill func() error) error {
	before, err := handlerStarts(ctx, n)
	if err != nil {
		return err
	}
	if err := kill(); err != nil {
		return err
	}
	_, err = l.Until(ctx, handlerRestart*time.Duration(l.slow), func() (bool, error) {
		now, err := handlerStarts(ctx, n)
		return now > before, err
	})
	return err
}

func handlerStarts(ctx context.Context, n *lab.Node) (int, error) {
	units, err := n.Units(ctx)
	for _, u := range units {
		if u.Name == "handler" {
			return u.Restarts, err
		}
	}
	return 0, errors.Join(err, errors.New("there is no handler"))
}

func (l *Lab) controllers(ctx context.Context, verb string) error {
	if verb != "start" {
		if err := l.cluster.StopControllers(ctx); err != nil {
			return err
		}
	}
	l.away["controllers"] = verb == "stop"
	if verb == "stop" {
		return nil
	}
	return l.cluster.StartControllers(ctx, l.mode)
}

// Reboot the node.
func (l *Lab) Reboot(ctx context.Context, node string) error {
	n, err := l.cluster.Node(node)
	if err != nil {
		return err
	}
	return n.Reboot(ctx)
}

// Mode switches as a rollout of the DaemonSet does.
func (l *Lab) Mode(ctx context.Context, centralized bool) error {
	mode := cluster.Distributed
	if centralized {
		mode = cluster.Centralized
	}
	if mode == l.mode {
		return nil
	}
	l.mode = mode
	return l.cluster.SwitchMode(ctx, mode)
}

// Forget removes the handler's folder.
func (l *Lab) Forget(_ context.Context, node string) error {
	n, err := l.cluster.Node(node)
	if err != nil {
		return err
	}
	if err := os.RemoveAll(n.DiskPath(filepath.Dir(journalFile))); err != nil {
		return fmt.Errorf("removing the handler's folder: %w", err)
	}
	return nil
}

// Once runs the handler in the node.
func (l *Lab) Once(ctx context.Context, node string) (int, string, error) {
	n, err := l.cluster.Node(node)
	if err != nil {
		return 0, "", err
	}
	var stderr bytes.Buffer
	err = n.Run(ctx, lab.Command{
		Args: []string{
			filepath.Join(l.bin, "handler"), "--once", "--once-timeout=90s", "--mode", l.mode,
			"--revert-helper", filepath.Join(l.bin, "nmstate-revert"),
		},
		Stderr: &stderr,
	})
	lines := strings.Split(strings.TrimSpace(stderr.String()), "\n")
	var ended lab.Exit
	if errors.As(err, &ended) {
		return ended.ExitCode(), lines[len(lines)-1], nil
	}
	return 0, lines[len(lines)-1], err
}
