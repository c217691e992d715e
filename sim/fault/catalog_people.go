package fault

import (
	"math/rand/v2"
	"time"
)

func peopleKinds() []Kind {
	return []Kind{
		{
			Name: "node-added", On: OnCluster, Doc: "a node comes to the cluster",
			begin: func(e Effects, _ Fault, _ *rand.Rand) { e.AddNode() },
		},
		{
			Name: "node-removed", On: OnNode, Doc: "a node leaves the cluster for good",
			begin: func(e Effects, f Fault, _ *rand.Rand) { e.RemoveNode(f.Target) },
		},
		{
			Name: "policy-edited", On: OnNode, Doc: "the policy that the node applies is edited meanwhile",
			begin: func(e Effects, f Fault, r *rand.Rand) { e.EditPolicy(f.Target, r) },
		},
		{
			Name: "policy-deleted", On: OnNode, Doc: "the policy that the node applies is deleted meanwhile",
			begin: func(e Effects, f Fault, r *rand.Rand) { e.DeletePolicy(f.Target, r) },
		},
		{
			Name: "node-not-ready", On: OnNode, Least: 5 * time.Second, Most: 4 * time.Minute,
			Doc:   "the Node is not Ready",
			begin: func(e Effects, f Fault, _ *rand.Rand) { e.NodeReady(f.Target, false) },
			end:   func(e Effects, f Fault, _ *rand.Rand) { e.NodeReady(f.Target, true) },
		},
		{
			Name: "node-set-aside", On: OnNode, Least: 30 * time.Second, Most: 15 * time.Minute,
			Doc:   "a person says that the node is not managed, and later that it is",
			begin: func(e Effects, f Fault, _ *rand.Rand) { e.Manage(f.Target, false) },
			end:   func(e Effects, f Fault, _ *rand.Rand) { e.Manage(f.Target, true) },
		},
		{
			Name: "node-lies", Rare: true, On: OnNode, Least: 10 * time.Second, Most: 10 * time.Minute,
			Doc:   "somebody has taken the node over, ends its handler for good, and writes what a handler may and what is not so",
			begin: func(e Effects, f Fault, r *rand.Rand) { e.Lie(f.Target, true, r) },
			end:   func(e Effects, f Fault, r *rand.Rand) { e.Lie(f.Target, false, r) },
		},
		{
			Name: "edited-in-haste", Lean: true, On: OnNode, Least: 100 * time.Millisecond, Most: 2 * time.Minute,
			Doc:   "the policy that the node applies is edited, and soon once more",
			begin: func(e Effects, f Fault, r *rand.Rand) { e.EditAgain(f.Target, true, r) },
			end:   func(e Effects, f Fault, r *rand.Rand) { e.EditAgain(f.Target, false, r) },
		},
		{
			Name: "deleted-in-haste", Lean: true, On: OnNode, Doc: "the policy that the node applies, or any, is let be undone, or not any more, and deleted at once",
			begin: func(e Effects, f Fault, r *rand.Rand) { e.DeleteOtherwise(f.Target, r) },
		},
		{
			Name: "policy-renamed", Lean: true, On: OnNode, Doc: "the policy that the node applies is deleted, and made under another name",
			begin: func(e Effects, f Fault, r *rand.Rand) { e.RenamePolicy(f.Target, r) },
		},
		{
			Name: "mode-switched", Lean: true, On: OnNode, Least: time.Second, Most: 5 * time.Minute,
			Doc:   "the policy that the node applies is planned instead, and applied again",
			begin: func(e Effects, f Fault, r *rand.Rand) { e.SwitchMode(f.Target, true, r) },
			end:   func(e Effects, f Fault, r *rand.Rand) { e.SwitchMode(f.Target, false, r) },
		},
		{
			Name: "label-moved", Lean: true, On: OnNode, Least: 100 * time.Millisecond, Most: 5 * time.Minute,
			Doc:   "the label that policies select the node by is another one, or none, and then as before",
			begin: func(e Effects, f Fault, r *rand.Rand) { e.MoveLabel(f.Target, true, r) },
			end:   func(e Effects, f Fault, r *rand.Rand) { e.MoveLabel(f.Target, false, r) },
		},
		{
			Name: "written-by-hand", Lean: true, On: OnNode, Doc: "a person writes the node's desired state",
			begin: func(e Effects, f Fault, r *rand.Rand) { e.WriteState(f.Target, r) },
		},
	}
}

// ByPeople are the kinds that stand for what people do to a node or its policies, one
// of which may come in the middle of another.
func ByPeople() []string {
	return []string{
		"deleted-in-haste", "edited-in-haste", "label-moved", "mode-switched", "node-set-aside", "policy-deleted", "policy-edited", "policy-renamed", "written-by-hand",
	}
}
