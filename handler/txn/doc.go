// Package txn is the transaction by which a node's network is changed: a pure
// state machine. Step takes the state and one event and returns the next state
// and what is to be done now. It has no clock, no I/O and no goroutine; times
// come in with the events.
//
//	Idle ─► Baseline ─► Arming ─► Applying ─► Probing ─► Committing ─► Idle (committed)
//	  ▲         │          │          │          │            │
//	  │         ▼          ▼          ▼ error    ▼ lost       ▼ checkpoint gone
//	  │        Idle       Idle     RollingBack ◄─┘         Settling
//	  │     (superseded) (refused)    │   ▲ something did not come back
//	  └───────────────────────────────▼───┴
//	                               Settling ─► Idle (rolled back, or incomplete)
//
// Rules that it keeps:
//   - a default probe guards a change only if it passed on the committed state,
//     before; a probe that the change names itself always does;
//   - each guard has its own time after the apply, and is lost when it is over.
//     Then the change goes back: as soon as the others have passed or given up
//     too, so that all that were lost are named, but not later than a grace of
//     two seconds after the first, however long the others had;
//   - where a person must confirm, they are asked last, and have their time from
//     when every other guard has passed;
//   - a change is committed only after every guard, and the read-back, passed;
//   - whatever goes wrong after the apply began ends in RollingBack: by the
//     checkpoint while it lives, by the journal's own revert once it is lost;
//   - a way back that fails is tried again for some minutes; for as long as it
//     takes where NetworkManager is away, or where the node is not as before and
//     reaches neither gateway nor API server, which it did;
//   - after a crash an open journal is always taken back, except where the
//     crash fell between the proof and the end of the commit.
//
// The caller journals every State that is Open before it performs the effects
// that came with it (persist, then act).
package txn
