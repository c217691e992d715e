// Package profiles is what NetworkManager knows of a node beside the kernel:
// its connection profiles, the files they are in, and which one is active on
// which device. It decides what a proven trial writes, in which order, and what
// leads back from one that is not proven.
//
//	          /etc/NetworkManager/system-connections   the next boot reads it
//	             ▲ Save, controllers first    │
//	             │                            │ nmstate's trial: a shadow of it
//	proven ──────┤                            ▼
//	          /run/NetworkManager/system-connections   the next NetworkManager reads it
//	             │
//	taken back ──┴─► the shadow goes, bytes go back, Reload, Activate
//
// What writes profiles at each boot, and profiles for all NICs, must not win over what was
// proven: Tidy sees to that (boot.go).
//
// A trial is in /run and in NetworkManager's memory only, so a power cut
// forgets it. What NetworkManager writes for the next boot in passing (the file
// of global DNS) is held: its old bytes go back at once, the new ones wait for
// the proof.
//
// The package is pure: it gets Snapshots and returns Actions, which a backend
// carries out one by one (backend.Backend.Do). A power cut between any two of
// them leaves a node that can be reached: that is what their order is for. It
// never reads a file and never asks NetworkManager.
//
// Files hold secrets (802.1X, MACsec): a Snapshot belongs into the journal,
// which root alone reads, and never into a log, a message or the API.
package profiles
