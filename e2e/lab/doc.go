// Package lab builds emulated nodes on one Linux machine: each is a set of
// namespaces with its own D-Bus and a real NetworkManager, wired to an emulated
// switch through veth pairs.
//
//	host netns                fabric netns                     node netns (each)
//	┌───────────────┐  dial  ┌───────────────────────────┐     ┌──────────────┐
//	│ API server    │◄───────│ proxy :6443   dnsmasq     │     │ NetworkManager
//	│ 127.0.0.1     │        │ gateway address           │     │ D-Bus        │
//	└───────────────┘        │ └─ bridge per switch ─────┼─veth┤ eth0  handler│
//	   not touched           └───────────────────────────┘     └──────────────┘
//
// A node reaches the API server through its NIC or not at all. The lab owns its
// processes, their namespaces and one state folder; it makes no link, route,
// rule or mount in the host's namespaces. Every long-lived process of a lab is
// the pid 1 of a pid namespace and carries the state folder in its argv: killing
// those processes and removing the folder is the whole of Down, whatever died
// before and however.
//
//	Up ──► fabric ──► control plane ──► nodes (in parallel) ──► handlers
//	 │ error, Ctrl-C
//	 └──► Down (also the first step of Up)
//
// The lab is meant to be as unkind as the field. After a boot of its node the
// handler starts only once the node has reached the API server (kubelet.go); a
// power cut may take what was not synced (disk.go). Where it is kinder, the list
// in docs/deployment-local-cluster.md says so.
//
// With Options.VM the fabric and the nodes are in one virtual machine, whose kernel
// has what the machine's may lack. All that differs is a place (place.go): orders
// go through the VM's only port to an agent, which carries them out where it is.
// The lab's folder is the machine's in both cases.
//
//	machine                                VM
//	┌────────────────────────┐  port   ┌────────────────────────┐
//	│ lab ──► runVM ◄────────┼─────────┼► agent ──► fabric, nodes
//	│ API server ◄───┘       │         │   127.0.0.1:6443 ◄─┘   │
//	│ FOLDER ◄───────────────┼── 9p ───┼─► FOLDER               │
//	└────────────────────────┘         └────────────────────────┘
//
// Binaries that call Up must call Child first in main or TestMain: the long-lived
// processes are the same executable, started again.
package lab
