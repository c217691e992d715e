package state

import (
	"strings"
	"testing"
)

func TestWhatRunsAsRootIsRefusedUnlessAllowed(t *testing.T) {
	const setting = "; an administrator can allow it with --allow-commands of the handler and the controllers"
	for name, c := range map[string]struct {
		committed, desired string
		// refused, and where commands are allowed.
		refused, allowed string
	}{
		"a script": {
			desired: `{"interfaces":[{"name":"eth1","dispatch":{"post-activation":"true"}}]}`,
			refused: "interfaces[eth1].dispatch is refused: the node would run it as root" + setting,
		},
		"a script that is committed": {
			committed: `{"ovs-db":{"other_config":{"dpdk-extra":"-l 1"}},"interfaces":[{"name":"eth1","dispatch":{"post-activation":"true"}}]}`,
			desired:   `{"ovs-db":{"other_config":{"dpdk-extra":"-l 1"}},"interfaces":[{"name":"eth1","mtu":1400,"dispatch":{"post-activation":"true"}}]}`,
		},
		"another script than the one that is committed": {
			committed: `{"interfaces":[{"name":"eth1","dispatch":{"post-activation":"true"}}]}`,
			desired:   `{"interfaces":[{"name":"eth1","dispatch":{"post-activation":"false"}}]}`,
			refused:   "interfaces[eth1].dispatch is refused: the node would run it as root" + setting,
		},
		"a script that is to go": {
			desired: `{"interfaces":[{"name":"eth1","dispatch":{"post-activation":""}}]}`,
			refused: "interfaces[eth1].dispatch is refused: the node would run it as root" + setting,
		},
		"a library for Open vSwitch": {
			desired: `{"ovs-db":{"other_config":{"dpdk-extra":"-d /tmp/a.so"}}}`,
			refused: "ovs-db.other_config.dpdk-extra is refused: Open vSwitch would load what it names, as root" + setting,
		},
		"other keys of Open vSwitch": {desired: `{"ovs-db":{"other_config":{"dpdk-init":"true"},"external_ids":{"dpdk-extra":"x"}}}`},
		"a command in a value of Libreswan": {
			desired: `{"interfaces":[{"name":"hosta","type":"ipsec","libreswan":{"right":"192.0.2.1\n  leftupdown=/bin/sh"}}]}`,
			refused: "interfaces[hosta ipsec].libreswan.right has a line break, which would begin another setting of Libreswan: write one line",
			allowed: "interfaces[hosta ipsec].libreswan.right has a line break, which would begin another setting of Libreswan: write one line",
		},
		"IPsec":          {desired: `{"interfaces":[{"name":"hosta","type":"ipsec","libreswan":{"right":"192.0.2.1","leftcert":"hosta"}}]}`},
		"802.1X":         {desired: `{"interfaces":[{"name":"eth1","802.1x":{"identity":"x","private-key":"/etc/pki/x.pem"}}]}`},
		"nothing of all": {desired: `{"interfaces":[{"name":"eth1","mtu":1400}]}`},
		"a script for an interface without a device": {
			desired: `{"interfaces":[{"name":"br1","type":"ovs-bridge","dispatch":{"post-activation":"true"}}]}`,
			refused: "interfaces[br1 ovs-bridge].dispatch is refused: the node would run it as root" + setting,
			allowed: "interfaces[br1 ovs-bridge].dispatch: an interface of type ovs-bridge is not activated and runs no script: write it at an interface of the kernel",
		},
		"a script for an interface by its MAC address": {
			desired: `{"interfaces":[{"name":"uplink","identifier":"mac-address","mac-address":"02:00:00:00:00:01","dispatch":{"post-activation":"true"}}]}`,
			refused: "interfaces[uplink].dispatch is refused: the node would run it as root" + setting,
			allowed: "interfaces[uplink].dispatch: a script is for an interface that is identified by its name",
		},
		"a script for a name that a shell runs": {
			desired: `{"interfaces":[{"name":"$(id)","dispatch":{"post-activation":"true"}}]}`,
			refused: "interfaces[$(id)].dispatch is refused: the node would run it as root" + setting,
			allowed: `interfaces[$(id)].dispatch: no script can be written for an interface of this name: a shell would read "$(id)" otherwise`,
		},
		"a script that ends before its end": {
			desired: `{"interfaces":[{"name":"eth1","dispatch":{"post-activation":"## NMSTATE DISPATCH SCRIPT END\nfi"}}]}`,
			refused: "interfaces[eth1].dispatch is refused: the node would run it as root" + setting,
			allowed: `interfaces[eth1].dispatch: post-activation has a line that nmstate ends a script with: take out "## NMSTATE DISPATCH SCRIPT END"`,
		},
		"a script of more than 64 KiB": {
			desired: `{"interfaces":[{"name":"eth1","dispatch":{"post-deactivation":"` + strings.Repeat("x", 64<<10+1) + `"}}]}`,
			refused: "interfaces[eth1].dispatch is refused: the node would run it as root" + setting,
			allowed: "interfaces[eth1].dispatch: post-deactivation has 65537 bytes, and a script may have 65536: keep it on the node, and call it",
		},
	} {
		t.Run(name, func(t *testing.T) {
			desired, err := ParseDesired([]byte(c.desired))
			if err != nil {
				t.Fatal(err)
			}
			committed, err := Parse([]byte(c.committed))
			if err != nil {
				t.Fatal(err)
			}
			for allowed, want := range map[bool]string{false: c.refused, true: c.allowed} {
				got := ""
				if err := CheckCommands(committed, desired, allowed); err != nil {
					got = err.Error()
				}
				if got != want {
					t.Errorf("allowed %t: got %q, want %q", allowed, got, want)
				}
			}
		})
	}
}
