package sweep

import "slices"

// Chosen are the scenarios that every change sweeps, by what they are there for.
// sim -sweep -long sweeps all that there are.
func Chosen() []string {
	return []string{
		// Each family of interfaces.
		"a-bridge-takes-a-nic",
		"a-bond-takes-two-nics",
		"a-vlan-on-a-nic",
		"a-vxlan-stands-on-a-nic",
		"a-vrf-takes-a-nic",
		"an-ovs-bridge-takes-a-nic",
		"a-veth-pair-is-made-and-removed",
		"a-dummy-carries-an-address",
		"an-ethernet-nic-gets-an-mtu-and-two-addresses",
		"a-nic-gets-its-address-by-dhcp",
		"name-servers-and-search-domains",
		"static-routes-of-both-families",
		"the-default-nic-moves-under-a-bridge",
		// What is taken back, and what is tried again.
		"a-change-that-cuts-the-node-off-is-taken-back",
		"a-failure-is-tried-again-and-then-told",
		"a-lost-probe-is-final-for-its-generation",
		// Undo, deletion, edits.
		"an-undo-leaves-the-node-as-before",
		"the-handler-dies-in-committing-of-an-undo",
		"a-policy-that-is-deleted-while-the-node-is-cut-off",
		"an-edit-in-mid-apply-ends-as-the-newer-says",
		// Drift, and policies that share a node.
		"drift-is-put-right",
		"two-policies-conflict-and-the-later-one-says-so",
		"two-policies-share-a-nic-and-each-takes-its-own-away",
		"a-bad-policy-does-not-take-a-good-one-with-it",
		// People.
		"a-person-confirms-a-change",
		"a-desired-state-by-hand",
		"a-node-that-is-not-managed-is-left-alone",
		"a-single-pass-configures-the-node",
		// What hosts do.
		"a-reboot-in-mid-apply",
		"a-reboot-while-the-node-is-cut-off",
		"networkmanager-restarts-in-mid-apply",
		"networkmanager-restarts-while-the-node-is-cut-off",
		// Rollouts.
		"a-node-joins",
		"nodes-change-one-after-the-other",
		"a-canary-that-fails-leaves-the-others-alone",
		"an-edit-in-mid-rollout-supersedes",
		"centralized-a-policy-is-applied-on-every-node",
		"centralized-drift-is-put-right",
	}
}

// AnyEnd are the scenarios whose end depends on when things happen, so that a
// fault leads to another one by right; each with why. Their ends are not
// compared; the rules hold in them as everywhere, and they come to rest.
func AnyEnd() map[string]string {
	const retained = "what was committed before the deletion is heard of stays (onDelete: Retain), what was not does not come"
	return map[string]string{
		"a-plan-changes-nothing-until-it-is-pinned":            "a person pins the plans that are there at that instant, which may be none yet",
		"a-policy-that-goes-leaves-what-it-made":               retained,
		"a-policy-that-is-deleted-in-mid-apply-leaves-nothing": retained,
		"the-clock-is-stepped":                                 "the first change has ended when the clock is stepped, or is made to end by it, and the second one fails for good",
	}
}

// endsOtherwise tells whether one of the faults leads to another end by right.
func endsOtherwise(scenario string, strikes []Strike) bool {
	// The scenario interrupts the undo once; a second time is final, and the
	// configuration stays (design §2, rule 5; ADR 0008).
	interrupts := []Fault{CrashBefore, CrashAfter, PowerCut}
	by := map[string][]Fault{
		"the-handler-dies-in-applying-of-an-undo": interrupts,
		"the-handler-dies-in-probing-of-an-undo":  interrupts,
		// What a person made by hand is in the kernel only, and goes with the power.
		"what-no-policy-names-survives": {PowerCut},
	}
	return slices.ContainsFunc(strikes, func(s Strike) bool { return slices.Contains(by[scenario], s.Fault) })
}

// Turns are the policies whose end turns on another one's, by scenario: where the
// other loses its guard on a node, which is final there, theirs may be another
// one on that node too.
func Turns() map[string]map[string]string {
	return map[string]map[string]string{
		// Nothing conflicts with the lower one where the higher one was taken back.
		"the-higher-priority-wins-a-conflict": {"low": "high"},
		// It waits for neighbours that nobody hears.
		"bonds-and-vlans-are-made-of-what-switches-announce": {"auto": "hear"},
	}
}
