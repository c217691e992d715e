// Package host is the model of one host as production sees it: the kernel's
// links, addresses and routes, NetworkManager with its profiles and
// checkpoints, nmstate on top of it, the handler's disk, the boot.
//
// A Host survives every crash of a process. A process gets its ports of it
// (Backend, Keeper, Journal, Boot), each of whose calls goes through
// world.Process.Call.
//
//	Backend.Apply ─► settings (its memory, /run)  ─► activation ─► kernel ◄─ by hand, PutBack
//	                     ▲            ▲                              │
//	   checkpoint ───────┘ rollback   └── NetworkManager's start     ├─► Links, Routes (network)
//	   (its own timer)                     and the carrier           └─► OnChange (watcher)
//
// Files are in layers: the disk, which the next boot reads, and of which a power
// cut may take back what was not synced; /run, which the next NetworkManager
// reads, and no boot; NetworkManager's memory. Backend.Do is the way from one to another.
//
// What it owns: which settings lead to which kernel, what NetworkManager drops
// in passing (hack/adr/0007), when a checkpoint ends. It never decides who
// reaches whom (sim/network) and injects no fault by itself: Faults and the
// methods by hand are for sim/fault.
//
// Not modelled: link-local addresses and what else the kernel derives (table
// local, multicast routes), several next hops of one route, nexthop objects,
// SR-IOV, IPsec; captures. What nmstate would refuse, and what is not modelled,
// is ErrInvalid by name.
package host
