package kind

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"strconv"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/nmstate/kubernetes-nmstate/e2e/kernel"
)

const (
	journalDir = "/var/lib/kubernetes-nmstate"
	// prefix begins the names of all links that specs make, so that they are
	// found again.
	prefix = "e2e"
)

// node is a node of the cluster: a container of docker, or a virtual machine.
type node struct {
	name string
	isVM bool
	// pristine is the kernel before any policy.
	pristine []string
	// appliedBefore are the node's checkpoints when the product was installed.
	appliedBefore int
}

// try runs a command on the node and returns what it prints.
func (n *node) try(ctx context.Context, command ...string) (string, error) {
	argv := append([]string{"docker", "exec", n.name}, command...)
	if n.isVM {
		argv = []string{vmProgram, "run", quoted(command)}
	}
	out, err := exec.CommandContext(ctx, argv[0], argv[1:]...).Output()
	if err != nil {
		var exit *exec.ExitError
		said := ""
		if errors.As(err, &exit) {
			said = string(exit.Stderr)
		}
		return string(out), fmt.Errorf("%s on %s: %w: %s", strings.Join(command, " "), n.name, err, strings.TrimSpace(said))
	}
	return string(out), nil
}

// quoted is a command as a shell reads it.
func quoted(command []string) string {
	words := make([]string, len(command))
	for i, word := range command {
		words[i] = "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
	}
	return strings.Join(words, " ")
}

func (n *node) mustRun(ctx context.Context, command ...string) string {
	GinkgoHelper()
	out, err := n.try(ctx, command...)
	Expect(err).NotTo(HaveOccurred())
	return out
}

// script runs a script of the node's shell.
func (n *node) script(ctx context.Context, text string) string {
	GinkgoHelper()
	return n.mustRun(ctx, "sh", "-c", text)
}

// address is what the cluster reaches the node by.
func (n *node) address(ctx context.Context) string {
	GinkgoHelper()
	return strings.TrimSpace(n.script(ctx, `ip -4 -o address show eth0 | sed -n 's/.* inet \([0-9.]*\).*/\1/p' | head -n 1`))
}

// podLink are names of the links that the pod network makes for pods.
const podLink = `"veth[0-9a-f]{8}"`

// snap is the node's links, addresses, routes and rules, but for those of pods,
// which come and go.
func (n *node) snap(ctx context.Context) []string {
	GinkgoHelper()
	lines, err := n.trySnap(ctx)
	Expect(err).NotTo(HaveOccurred())
	return lines
}

func (n *node) trySnap(ctx context.Context) ([]string, error) {
	const end = "=end="
	var script strings.Builder
	for _, q := range kernel.Queries() {
		fmt.Fprintf(&script, "ip -json %s; echo; echo %s;", strings.Join(q.Args, " "), end)
	}
	out, err := n.try(ctx, "sh", "-c", script.String())
	if err != nil {
		return nil, err
	}
	var lines []string
	for i, answer := range strings.Split(out, end+"\n")[:len(kernel.Queries())] {
		found, err := kernel.Lines(kernel.Queries()[i].Kind, []byte(answer))
		if err != nil {
			return nil, err
		}
		lines = append(lines, found...)
	}
	return settled(lines), nil
}

// sweep removes by hand what specs made: profiles and links with their names,
// and what the NICs for specs were given.
func (n *node) sweep(ctx context.Context) {
	GinkgoHelper()
	n.script(ctx, `
nmcli -t -f UUID,NAME,DEVICE,FILENAME connection show | grep -E ':(`+prefix+`[^:]*|eth[12]):' | cut -d: -f1 |
	while read -r uuid; do nmcli connection delete "$uuid" >/dev/null || true; done
for link in $(ip -o link show | sed -n 's/^[0-9]*: \(`+prefix+`[^:@]*\).*/\1/p'); do ip link delete "$link" 2>/dev/null || true; done
for nic in eth1 eth2; do
	ip link show "$nic" >/dev/null 2>&1 || continue
	ip link set "$nic" nomaster mtu 1500 up
	ip address flush dev "$nic" scope global
done`)
}

// handlerPID is the handler's process in the node's eyes; 0 while there is none.
func (n *node) handlerPID(ctx context.Context) int {
	out, _ := n.try(ctx, "pgrep", "-o", "-x", "handler")
	pid, _ := strconv.Atoi(strings.TrimSpace(out))
	return pid
}

// inPhase waits until the node's open transaction is in a phase, and does
// something about it at once, in the shell of the node.
func (n *node) inPhase(ctx context.Context, phase, strike string) {
	GinkgoHelper()
	n.script(ctx, fmt.Sprintf(`
end=$(($(date +%%s) + %d))
until grep -Eq '"phase": *"%s"' %s/journal.json 2>/dev/null; do
	[ "$(date +%%s)" -lt $end ] || { echo "phase %s was not entered" >&2; exit 1; }
	sleep 0.05
done
%s`, int(patience.Seconds()), phase, journalDir, phase, strike))
}

// checkpoints counts those that the NetworkManager that runs was ever asked for:
// every apply begins with one.
func (n *node) checkpoints(ctx context.Context) int {
	GinkgoHelper()
	out := n.script(ctx, `run=$(systemctl show NetworkManager --property InvocationID --value)
journalctl _SYSTEMD_INVOCATION_ID="$run" --no-pager -o cat | grep -c 'op="checkpoint-create"' || true`)
	count, err := strconv.Atoi(strings.TrimSpace(out))
	Expect(err).NotTo(HaveOccurred())
	return count
}

// openCheckpoints are those that NetworkManager has now.
func (n *node) openCheckpoints(ctx context.Context) string {
	GinkgoHelper()
	return strings.TrimSpace(n.script(ctx, `busctl get-property org.freedesktop.NetworkManager /org/freedesktop/NetworkManager org.freedesktop.NetworkManager Checkpoints`))
}

// noCheckpoint is openCheckpoints where there is none.
const noCheckpoint = "ao 0"
