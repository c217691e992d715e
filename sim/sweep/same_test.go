package sweep

import "testing"

func TestWhatMayDifferAtTheEnd(t *testing.T) {
	const without = "enactment node1.p: Available X\nenactment node2.p: Available X\npolicy p: Available X\nstate node1: Available Reported\nnode1: link br1\nnode2: link br1\n"
	lost := map[string]bool{"node1.p": true}
	for name, c := range map[string]struct {
		without string
		lost    map[string]bool
		end     End
		turns   map[string]string
		broken  bool
	}{
		"the same": {end: End{Picture: without}},
		"a node is another one and every condition the same": {end: End{Picture: "enactment node1.p: Available X\nenactment node2.p: Available X\npolicy p: Available X\nstate node1: Available Reported\nnode2: link br1\n"}, broken: true},
		"a policy fails on a node where a probe was lost":    {end: End{Picture: "enactment node1.p: Failing X\nenactment node2.p: Available X\npolicy p: Degraded X\nstate node1: Available Reported\nnode2: link br1\n", Lost: lost}},
		"and the others are aborted":                         {end: End{Picture: "enactment node1.p: Failing X\nenactment node2.p: Aborted X\npolicy p: Degraded X\nstate node1: Available Reported\n", Lost: lost}},
		"but not another policy there":                       {without: without + "enactment node1.q: Available X\n", end: End{Picture: "enactment node1.p: Failing X\nenactment node1.q: Failing X\nenactment node2.p: Aborted X\npolicy p: Degraded X\nstate node1: Available Reported\n", Lost: lost}, broken: true},
		"but one that turns on it": {
			without: without + "enactment node1.q: Available X\n", turns: map[string]string{"q": "p"},
			end: End{Picture: "enactment node1.p: Failing X\nenactment node1.q: Failing X\nenactment node2.p: Aborted X\npolicy p: Degraded X\nstate node1: Available Reported\n", Lost: lost},
		},
		"and not where the other's guard was not lost": {
			without: without + "enactment node1.q: Available X\n", turns: map[string]string{"q": "p"}, broken: true,
			end: End{Picture: without + "enactment node1.q: Failing X\n"},
		},
		"nor another node that does not say that it is aborted": {end: End{Picture: "enactment node1.p: Failing X\nenactment node2.p: Available X\npolicy p: Degraded X\nstate node1: Available Reported\n", Lost: lost}, broken: true},
		"nor the node's own report":                             {end: End{Picture: "enactment node1.p: Failing X\nenactment node2.p: Available X\npolicy p: Degraded X\nstate node1: Failing X\nnode2: link br1\n", Lost: lost}, broken: true},
		"a policy fails for another reason":                     {end: End{Picture: "enactment node1.p: Failing X\nenactment node2.p: Available X\npolicy p: Degraded X\nstate node1: Available Reported\nnode2: link br1\n"}, broken: true},
		"it was lost without the fault too":                     {lost: lost, end: End{Picture: "enactment node1.p: Failing X\nenactment node2.p: Available X\npolicy p: Degraded X\nstate node1: Available Reported\nnode2: link br1\n", Lost: lost}, broken: true},
		"it was lost without the fault alone, and the rollout went on": {
			without: "enactment node1.p: Failing X\nenactment node2.p: Aborted X\npolicy p: Degraded X\nstate node1: Available Reported\n", lost: lost,
			end: End{Picture: without},
		},
	} {
		t.Run(name, func(t *testing.T) {
			want := End{Picture: without, Lost: c.lost}
			if c.without != "" {
				want.Picture = c.without
			}
			if err := same(want, c.end, c.turns); (err != nil) != c.broken {
				t.Error(err)
			}
		})
	}
}

func TestALostGuardIsToldByItsMessage(t *testing.T) {
	for message, want := range map[string]bool{
		"probing for 6s: api-server: no answer":        true,
		"not confirmed within 60 s":                    true,
		"applying: NetworkManager refused the profile": false,
	} {
		if isLost(message) != want {
			t.Errorf("%s: %v", message, !want)
		}
	}
}
