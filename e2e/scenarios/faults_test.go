//go:build linux

package scenarios

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/nmstate/kubernetes-nmstate/e2e/lab"
	"github.com/nmstate/kubernetes-nmstate/sim/scenario"
)

var errOnlySim = errors.New("the lab cannot do this; say \"only sim: REASON\" in the scenario")

// Cut takes the API server out of every node's reach, or has all gateways fall
// silent. One of several nodes cannot be cut off alone.
func (l *Lab) Cut(ctx context.Context, what, node string) error {
	if node != "" && len(l.cluster.Nodes()) > 1 {
		return errOnlySim
	}
	l.cut = true
	switch what {
	case "gateway":
		return l.cluster.Gateway(ctx, "ping", false)
	case "dns":
		return l.cluster.Gateway(ctx, "dns", false)
	}
	return l.cluster.CutAPI(ctx)
}

// Heal takes all of it back.
func (l *Lab) Heal(ctx context.Context) error {
	l.cut = false
	return errors.Join(l.cluster.ConnectAPI(ctx), l.cluster.Gateway(ctx, "ping", true), l.cluster.Gateway(ctx, "dns", true))
}

// Ready is said in the place of a kubelet, which the lab's nodes do not have.
func (l *Lab) Ready(ctx context.Context, node string, ready bool) error {
	var object corev1.Node
	if err := l.Client().Get(ctx, client.ObjectKey{Name: node}, &object); err != nil {
		return fmt.Errorf("reading the Node: %w", err)
	}
	for i := range object.Status.Conditions {
		if c := &object.Status.Conditions[i]; c.Type == corev1.NodeReady {
			c.Status = map[bool]corev1.ConditionStatus{true: corev1.ConditionTrue, false: corev1.ConditionFalse}[ready]
		}
	}
	return l.Client().Status().Update(ctx, &object)
}

// Told lists events.
func (l *Lab) Told(ctx context.Context, kind, name string) ([]scenario.Told, error) {
	var events corev1.EventList
	if err := l.Client().List(ctx, &events); err != nil {
		return nil, fmt.Errorf("listing events: %w", err)
	}
	var found []scenario.Told
	for _, e := range events.Items {
		if e.InvolvedObject.Kind == kind && e.InvolvedObject.Name == name {
			found = append(found, scenario.Told{Reason: e.Reason, Message: e.Message})
		}
	}
	return found, nil
}

// Claim has the host of the switch use an address.
func (l *Lab) Claim(ctx context.Context, on, address string, is bool) error {
	if is {
		l.broken[on+" "+lab.Release] = address
		return l.cluster.Switch(ctx, on, lab.Claim, address)
	}
	delete(l.broken, on+" "+lab.Release)
	return l.cluster.Switch(ctx, on, lab.Release, address)
}

// DHCP starts the switch's server anew.
func (l *Lab) DHCP(ctx context.Context, on, how, leases string) error {
	l.broken[on+" "+lab.DHCPAnswers] = ""
	return l.cluster.Switch(ctx, on, "dhcp-"+how, leases)
}

// Disk breaks the node's disk.
func (l *Lab) Disk(ctx context.Context, node, how string) error {
	n, err := l.cluster.Node(node)
	if err != nil {
		return err
	}
	return n.BreakDisk(ctx, how)
}

// Clock steps that of the virtual machine, and back when the scenario is over.
func (l *Lab) Clock(ctx context.Context, by time.Duration) error {
	l.stepped += by
	return l.cluster.StepClock(ctx, by)
}

// mend puts right what a scenario has broken of switches and the clock.
func (l *Lab) mend(ctx context.Context) error {
	var errs []error
	for what, value := range l.broken {
		on, how, _ := strings.Cut(what, " ")
		errs = append(errs, l.cluster.Switch(ctx, on, how, value))
	}
	clear(l.broken)
	if l.stepped != 0 {
		errs = append(errs, l.cluster.StepClock(ctx, -l.stepped))
		l.stepped = 0
	}
	return errors.Join(errs...)
}

// Carrier sets the far end of a NIC.
func (l *Lab) Carrier(ctx context.Context, node, nic string, up bool) error {
	n, err := l.cluster.Node(node)
	if err != nil {
		return err
	}
	return n.Carrier(ctx, nic, up)
}

// Plug makes or removes the pair of a NIC.
func (l *Lab) Plug(ctx context.Context, node, nic string, in bool) error {
	n, err := l.cluster.Node(node)
	if err != nil {
		return err
	}
	if in {
		return n.Plug(ctx, nic)
	}
	return n.Unplug(ctx, nic)
}

// Drift runs ip in the node.
func (l *Lab) Drift(ctx context.Context, node string, change []string) error {
	n, err := l.cluster.Node(node)
	if err != nil {
		return err
	}
	command, err := byHand(change)
	if err != nil {
		return err
	}
	_, err = n.Exec(ctx, append([]string{"ip"}, command...)...)
	return err
}

// byHand is a change in the words of ip.
func byHand(change []string) ([]string, error) {
	words := append(change, "", "", "", "")
	switch verb := strings.Join(words[:2], " "); {
	case words[0] == "mtu" && len(change) == 3:
		return []string{"link", "set", words[1], "mtu", words[2]}, nil
	case (verb == "address add" || verb == "address del") && len(change) == 4:
		return []string{"address", words[1], words[3], "dev", words[2]}, nil
	case (verb == "route add" || verb == "route del") && len(change) > 2:
		return change, nil
	case verb == "link add" && len(change) == 4:
		return []string{"link", "add", "name", words[2], "type", words[3]}, nil
	case (verb == "link del" || verb == "link up" || verb == "link down") && len(change) == 3:
		if words[1] == "del" {
			return change, nil
		}
		return []string{"link", "set", words[2], words[1]}, nil
	}
	return nil, fmt.Errorf("%q is no change that is known", strings.Join(change, " "))
}
