// Package nmstate is the real backend: libnmstate on NetworkManager.
//
// It owns how a node's network is read, changed and taken back, and in which
// process that happens. It never decides, retries, probes or keeps anything:
// what must outlive it is NetworkManager's checkpoint or the caller's journal.
//
//	handler process                         `handler apply` (child)
//	  Show ── libnmstate, own thread
//	  Apply ── state on stdin ────────────►  libnmstate, no commit, no verification
//	    │  ◄── report on stdout ───────────    │ may block for minutes
//	    │       killed when ctx ends           ▼
//	    └─ watches ─ D-Bus ─► NetworkManager: checkpoint ── undoes by itself
//	    └─ puts DNSFile back whenever NetworkManager writes it
//	    └─ reads the node until it has what was applied (verify.go)
//	  Commit, Rollback, Pending, Instance ─ D-Bus ─┘
//	  Profiles, Do ── D-Bus, and files in /etc, /run and /var
//	  Revert ── nmstate-revert (helper process), pure
//
// # Why so
//
// An apply cannot be cancelled, and the C call does not tell the checkpoint's
// name; so it runs in a child that may be killed, and the name is read off
// D-Bus as soon as the checkpoint is there. The child dies with the handler.
// A killed apply is safe because its checkpoint stays armed.
//
// # What a trial is
//
// nmstate's memory-only mode has the profiles in /run, where a power cut forgets
// them. It differs from the mode that writes to disk in what is to be absent, and
// Apply makes up for that: nmstate is told what absence means for ports and for
// what stands on an interface (state.SpellOutAbsence), and software interfaces
// that no profile made are deleted when it is done, under its checkpoint.
//
// # Without the revert helper
//
// nmstate computes an exact way back only in Rust, hence the helper process.
// The helper resolves captures as well (Captures): the C library tells neither
// the captured states nor what of a policy the node has already.
// A handler without one (Options.RevertHelper empty) reverts to the state from
// before of the interfaces that the change names, of their ports and of their
// routes, DNS and rules. That misses what nmstate changes in passing and is
// refused by nmstate in some shapes (an address on what became a port).
package nmstate
