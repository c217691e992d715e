//go:build linux

package suite

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"strings"

	. "github.com/onsi/ginkgo/v2"
)

// errNoSuchHardware is for what no kernel module and no package would bring.
var errNoSuchHardware = errors.New("the lab's NICs are veth pairs")

// errNoSuchProgram is for what the lab's nodes are made without.
var errNoSuchProgram = errors.New("the lab's nodes are made without it")

// lacks tries whether this machine has a feature that an example needs, in a
// network namespace that goes with the try. nil means that it has it.
func lacks(ctx context.Context, feature string) error {
	GinkgoHelper()
	const pair = "ip link add v0 type veth peer name v1 && "
	tries := map[string]string{
		"bond":                  "ip link add t0 type bond",
		"bridge VLAN filtering": "ip link add t0 type bridge && ip link set t0 type bridge vlan_filtering 1",
		"dummy":                 "ip link add t0 type dummy",
		"hsr":                   "ip link add v2 type veth peer name v3 && " + pair + "ip link add t0 type hsr slave1 v0 slave2 v2",
		"ipip":                  "ip link add t0 type ipip local 192.0.2.1 remote 192.0.2.2",
		"ipvlan":                pair + "ip link add link v0 name t0 type ipvlan",
		"macsec":                pair + "ip link add link v0 name t0 type macsec",
		"vlan":                  pair + "ip link add link v0 name t0 type vlan id 5",
		"vrf":                   "ip link add t0 type vrf table 5",
	}
	if try, ok := tries[feature]; ok {
		out, err := exec.CommandContext(ctx, "unshare", "-n", "sh", "-c", try).CombinedOutput()
		if err != nil {
			return fmt.Errorf("the kernel says: %s", strings.TrimSpace(string(out)))
		}
		return nil
	}
	switch feature {
	case "an SR-IOV network card", "an InfiniBand adapter":
		return errNoSuchHardware
	case "Open vSwitch and its NetworkManager plugin", "libreswan and its NetworkManager plugin":
		return errNoSuchProgram
	}
	Fail(fmt.Sprintf("nobody has told how to try whether this machine has %q: add it here", feature))
	return nil
}
