package fault

import (
	"math/rand/v2"
	"time"
)

func networkKinds() []Kind {
	kinds := []Kind{
		partition("partition", "the node and the API server do not hear each other", true, true),
		partition("partition-requests", "the node's requests do not reach the API server", true, false),
		partition("partition-replies", "the API server's replies and events do not reach the node", false, true),
		dhcp("dhcp-late", "DHCP servers answer late", "late"),
		dhcp("dhcp-gone", "DHCP servers answer nobody", "gone"),
		probes("probe-lies", "the node's probes say lost although they would pass", "lost"),
		probes("probe-hangs", "the node's probes take minutes to say anything", "slow"),
		probes("probe-flaps", "the node's probes say now this, now that", "flapping"),
	}
	for _, name := range []string{"gateway", "dns"} {
		kinds = append(kinds, Kind{
			Name: name + "-gone", On: OnCluster, Least: 5 * time.Second, Most: 3 * time.Minute,
			Doc:   "the " + name + " answers nobody",
			begin: func(e Effects, _ Fault, _ *rand.Rand) { e.Service(name, false) },
			end:   func(e Effects, _ Fault, _ *rand.Rand) { e.Service(name, true) },
		})
	}
	return kinds
}

func partition(name, doc string, requests, replies bool) Kind {
	return Kind{
		Name: name, Doc: doc, On: OnNode, Least: 5 * time.Second, Most: 6 * time.Minute,
		begin: func(e Effects, f Fault, _ *rand.Rand) { e.Partition(f.Target, requests, replies) },
		end:   func(e Effects, f Fault, _ *rand.Rand) { e.Partition(f.Target, false, false) },
	}
}

func dhcp(name, doc, how string) Kind {
	return Kind{
		Name: name, Doc: doc, On: OnCluster, Least: 10 * time.Second, Most: 5 * time.Minute,
		begin: func(e Effects, _ Fault, _ *rand.Rand) { e.DHCP(how) },
		end:   func(e Effects, _ Fault, _ *rand.Rand) { e.DHCP("") },
	}
}

func probes(name, doc, how string) Kind {
	return Kind{
		Name: name, Doc: doc, On: OnNode, Least: 5 * time.Second, Most: 5 * time.Minute,
		begin: func(e Effects, f Fault, _ *rand.Rand) { e.Probes(f.Target, how) },
		end:   func(e Effects, f Fault, _ *rand.Rand) { e.Probes(f.Target, "") },
	}
}
