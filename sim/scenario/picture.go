package scenario

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "github.com/nmstate/kubernetes-nmstate/api/v1"
)

// The kernel's state, one object a line; what is not said is not there:
//
//	link NAME TYPE up|down mtu N [controller NAME] [stp on|off] [id N] [base NAME] [mode MODE]
//	address NAME ADDRESS/LENGTH [dynamic]
//	route DESTINATION [via ADDRESS] [dev NAME] metric N [table N]
//	rule [from CIDR] [to CIDR] table N priority N
//	dns server ADDRESS
//	dns search DOMAIN
//	openvswitch COLUMN:KEY VALUE
//	script INTERFACE post-activation|post-deactivation TEXT
//
// TYPE is nmstate's. Left out are the loopback, link-local addresses, and
// routes that follow from an address or that the kernel keeps for itself.

// covers tells whether a line has all words of another one, in their order,
// beginning with its first.
func covers(line, wanted string) bool {
	have, want := strings.Fields(line), strings.Fields(wanted)
	if len(want) == 0 || len(have) == 0 || have[0] != want[0] {
		return false
	}
	for _, w := range want {
		at := slices.Index(have, w)
		if at < 0 {
			return false
		}
		have = have[at+1:]
	}
	return true
}

// Picture is what there is now of a scenario, in a form that does not depend on what it
// ran on, one line for each thing.
func Picture(ctx context.Context, b Backend, s *Scenario) (string, error) {
	return picture(ctx, b, &s.Topology)
}

// picture is the state at the end, in a form that does not depend on what the
// scenario ran on, one line for each thing.
func picture(ctx context.Context, b Backend, t *Topology) (string, error) {
	lines, err := apiPicture(ctx, b.Client())
	if err != nil {
		return "", err
	}
	for _, node := range t.names() {
		kernel, err := b.Kernel(ctx, node)
		if err != nil {
			return "", err
		}
		for _, line := range kernel {
			lines = append(lines, node+": "+comparably(line))
		}
	}
	return strings.Join(lines, "\n") + "\n", nil
}

// comparably leaves out what a DHCP server or a router chose, the router's own address as
// a name server among it, and whether a NIC
// is up: one that NetworkManager has disconnected still is, to the kernel.
func comparably(line string) string {
	words := strings.Fields(line)
	if words[0] == "link" && words[2] == "ethernet" {
		return strings.Join(slices.Delete(words, 3, 4), " ")
	}
	if _, link, is := strings.Cut(line, "%"); is && strings.HasPrefix(line, "dns server fe80:") {
		return "dns server that a router on " + link + " announced"
	}
	if words[0] == "address" && words[len(words)-1] == "dynamic" {
		family := "IPv4"
		if strings.Contains(words[2], ":") {
			family = "IPv6"
		}
		return fmt.Sprintf("address %s dynamic %s", words[1], family)
	}
	return line
}

func apiPicture(ctx context.Context, c client.Client) ([]string, error) {
	var lines []string
	var policies v1.NodeNetworkConfigurationPolicyList
	if err := c.List(ctx, &policies); err != nil {
		return nil, fmt.Errorf("listing policies: %w", err)
	}
	for _, p := range policies.Items {
		n := p.Status.Counts
		lines = append(lines, fmt.Sprintf("policy %s: %s; matched %d available %d progressing %d pending %d failing %d aborted %d",
			p.Name, trueOnes(p.Status.Conditions), n.Matched, n.Available, n.Progressing, n.Pending, n.Failing, n.Aborted))
	}
	var enactments v1.NodeNetworkConfigurationEnactmentList
	if err := c.List(ctx, &enactments); err != nil {
		return nil, fmt.Errorf("listing enactments: %w", err)
	}
	for _, e := range enactments.Items {
		lines = append(lines, fmt.Sprintf("enactment %s: %s", e.Name, trueOnes(e.Status.Conditions)))
	}
	var states v1.NodeNetworkStateList
	if err := c.List(ctx, &states); err != nil {
		return nil, fmt.Errorf("listing node states: %w", err)
	}
	for _, s := range states.Items {
		lines = append(lines, fmt.Sprintf("state %s: %s", s.Name, trueOnes(s.Status.Conditions)))
	}
	slices.Sort(lines)
	return lines, nil
}

// settled waits until two pictures, a while apart, are the same.
func settled(ctx context.Context, b Backend, t *Topology) (string, error) {
	apart := b.Patience() / 60
	last, failed := "", error(nil)
	var since time.Duration
	same, err := b.Until(ctx, b.Patience(), func() (bool, error) {
		if last != "" && b.Elapsed() < since+apart/3 {
			return false, nil
		}
		now, err := picture(ctx, b, t)
		if failed = err; err != nil {
			return false, nil // an API server that is away comes back
		}
		if now != last {
			last, since = now, b.Elapsed()
			return false, nil
		}
		return b.Elapsed() >= since+apart, nil
	})
	switch {
	case err != nil:
		return "", err
	case !same && failed != nil:
		return "", fmt.Errorf("the end: %w", failed)
	case !same:
		return "", fmt.Errorf("at the end nothing settles; the last picture:\n%s", last)
	}
	return last, nil
}
