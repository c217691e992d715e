package state_test

import (
	"testing"

	"github.com/nmstate/kubernetes-nmstate/handler/state"
)

func TestWhatAChangeIsAboutIsToldOrNot(t *testing.T) {
	const node = `{"interfaces":[{"name":"eth1","type":"ethernet","ethtool":{"feature":{"rx-checksum":true}}}],"dns-resolver":{}}`
	for sentence, c := range map[string]struct {
		change, node string
		want         bool
	}{
		"nothing":                      {change: `{}`, want: true},
		"a bridge with an address":     {change: `{"interfaces":[{"name":"br1","type":"linux-bridge","state":"up","mtu":1500,"ipv4":{"enabled":true,"address":[]},"bridge":{"port":[]}}]}`, want: true},
		"a route and a rule":           {change: `{"routes":{"config":[]},"route-rules":{"config":[]}}`, want: true},
		"a card's features":            {change: `{"interfaces":[{"name":"eth1","type":"ethernet","ethtool":{}}]}`},
		"virtual functions":            {change: `{"interfaces":[{"name":"eth1","type":"ethernet","ethernet":{"sr-iov":{}}}]}`},
		"a sysctl of a family":         {change: `{"interfaces":[{"name":"eth1","type":"ethernet","ipv6":{"addr-gen-mode":"eui64"}}]}`},
		"an interface of another type": {change: `{"interfaces":[{"name":"w","type":"wireguard"}]}`},
		"the end of a veth, which comes and goes with pods": {change: `{"interfaces":[{"name":"v","type":"veth"}]}`},
		"the resolver, which is a file":                     {change: `{"dns-resolver":{"config":{}}}`},
		"a node with Open vSwitch's database":               {change: `{}`, node: `{"ovs-db":{"external_ids":{"a":"b"}}}`},
		"a node with one of its bridges":                    {change: `{}`, node: `{"interfaces":[{"name":"o","type":"ovs-bridge"}]}`},
		"a node where its database is empty":                {change: `{}`, node: `{"ovs-db":{}}`, want: true},
	} {
		t.Run(sentence, func(t *testing.T) {
			if c.node == "" {
				c.node = node
			}
			if got := state.IsTold(parse(t, c.change), parse(t, c.node)); got != c.want {
				t.Errorf("got %v, want %v", got, c.want)
			}
		})
	}
}
