package oracle

import (
	"testing"

	"github.com/nmstate/kubernetes-nmstate/handler/state"
)

func TestWhatMayLeaveAFamilyWithoutADefaultRoute(t *testing.T) {
	for sentence, c := range map[string]struct {
		change     string
		ipv4, ipv6 bool
	}{
		"another MTU does not":            {`{"interfaces":[{"name":"eth0","mtu":1400}]}`, false, false},
		"a link that is down takes both":  {`{"interfaces":[{"name":"eth0","state":"down"}]}`, true, true},
		"a family that is switched off":   {`{"interfaces":[{"name":"eth0","ipv6":{"enabled":false}}]}`, false, true},
		"a route that is taken away":      {`{"routes":{"config":[{"state":"absent","destination":"::/0","next-hop-interface":"eth0"}]}}`, false, true},
		"a bridge that has IPv4 only":     {`{"interfaces":[{"name":"br1","type":"linux-bridge","ipv4":{"enabled":true},"bridge":{"port":[{"name":"eth0"}]}}]}`, false, true},
		"a bridge with no ports does not": {`{"interfaces":[{"name":"br1","type":"linux-bridge","ipv4":{"enabled":true}}]}`, false, false},
	} {
		t.Run(sentence, func(t *testing.T) {
			change := parsed([]byte(c.change))
			if ipv4, ipv6 := takesAway(change, state.IPv4), takesAway(change, state.IPv6); ipv4 != c.ipv4 || ipv6 != c.ipv6 {
				t.Errorf("IPv4 %t, IPv6 %t", ipv4, ipv6)
			}
		})
	}
}
