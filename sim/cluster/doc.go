// Package cluster puts a simulated cluster together: nodes whose handlers, and
// controllers that are, production's own constructors and reconcilers on the
// models of the world.
//
// It owns the wiring that the programs' main packages own in production, what a
// manager gives a reconciler (caches, watches, a queue), who leads, and how
// processes die and are made anew while hosts, journals and the API server
// stay. It has no opinion on what should happen: scenarios and faults act by its
// methods, oracles look at its parts.
//
//	           Cluster
//	  ┌───────────┼──────────────┬──────────────┐
//	Node        Replica        Network        API (Store)
//	  │ Host     │ controllers    ▲              ▲
//	  │          │                │ reach        │
//	  └─ Handler ┴── Process ─────┴──────────────┘
//	     agent, policy   rollout, policy (centralized)
package cluster
