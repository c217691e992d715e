// Package backend is the port to whatever configures a node's network: the
// real one is backend/nmstate, the simulator has its own. The contract is the
// suite in backend/conformance, which every implementation passes.
//
// A backend applies a state without making it permanent, holds a checkpoint
// that undoes it by itself when nobody commits in time, and says which
// checkpoints are pending. It never decides anything and never probes.
//
//	   Apply ──────────► trial, checkpoint armed ──► Commit ──► permanent
//	     │ error              │        │
//	     ▼                    │        └── Rollback, or the time runs out
//	as before, or             ▼                        │
//	checkpoint armed     NetworkManager restarts        ▼
//	(undoes itself)      = checkpoint lost          as before
package backend
