// Package foreign keeps what is on the node beside what a change names: the
// links, addresses and routes of a CNI, of a routing daemon, of people.
// NetworkManager drops such things in passing, so they are noted before the
// change, compared after it and after a rollback, and put back as they were.
//
//	before ── Note ──► Snapshot ─┐
//	the change's document ► Named ├─► Lost ──► []Loss ── PutBack ──► the kernel
//	now ───── Note ──► Snapshot ─┘      ▲                               │
//	                                    └──────── until nothing is lost ┘
//
// Two kinds of things are told apart. What NetworkManager makes itself
// (addresses with noprefixroute, routes of the protocols kernel, static and
// dhcp) it mostly brings back itself, with a metric of its own choice: such a
// Loss is Managed, and a caller gives it a moment. The rest nobody but its
// owner brings back.
//
// One thing of NetworkManager's own is compared as well, once a change was taken back:
// of two gateways it uses the one with the lower metric, and it gives a device that it
// activates anew the highest one of all. Outranked tells which of them was the first.
//
// Nobody else is stopped from working meanwhile: what vanished together with
// its device (a pod's veth), what its owner replaced, and what goes with the
// carrier is no loss. Nothing is ever removed here.
//
// Addresses and routes are kept as the bytes that the kernel told, as ip-route's
// save and restore do: what this package does not understand (encapsulations,
// metrics, weights) comes back all the same. Comparing is pure; only the files
// for Linux talk to the kernel.
package foreign
