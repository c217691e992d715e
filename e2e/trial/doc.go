// Package trial ends trials of changes in the middle, on a lab, and looks at
// what they left: the change's kind, the phase, what was killed and which
// NetworkManager are chosen by the caller, and a Row says what differs from the
// picture that was taken before.
//
//	an administrator's node ─► policy ─► phase ─► the end ─► no API server, no handler
//	        │                                                     │ as before?
//	        └───────────── lab.Picture, byte for byte ────────────┤
//	                                                              ▼
//	                                             API server, handler: closed, as before?
//
// It owns the node's profiles, as a person writes them, the changes and the
// endings. It judges nothing: e2e/suite makes specs of the rows and e2e/bench
// prints them. It never changes anything but the lab that it is given.
package trial
