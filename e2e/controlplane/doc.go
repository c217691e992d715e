// Package controlplane runs a real Kubernetes control plane on this machine:
// etcd, kube-apiserver and, where the binaries have it, kube-controller-manager
// with nothing but garbage collection, namespaces and service accounts.
//
// It owns where the binaries come from (Locate) and the processes, keys and
// files of one control plane in one folder (Start). It never runs a kubelet or
// a scheduler, never listens anywhere but on 127.0.0.1, and never touches a
// process that it did not start.
//
//	            Start                     StopAPIServer, KillAPIServer
//	(nothing) ────────► etcd ✓ API ✓ GC ✓ ◄──────────────────────────► etcd ✓ API ✗ GC ✓
//	    ▲                      │            StartAPIServer
//	    └──────────────────────┘
//	       Stop, or the end of the process that called Start
//
// # A folder is a control plane
//
// Everything is kept in Options.Dir, under names that do not change (Files):
//
//	pid                   locked for as long as the control plane runs; holds its process id
//	kubeconfig            administrator
//	port                  chosen at the first start
//	etcd/, *.pem, tokens.csv
//	PROGRAM.log           of etcd, kube-apiserver, kube-controller-manager
//
// A second Start with the same folder goes on where the first ended: the same
// objects, port, certificates and tokens, so every kubeconfig stays valid. Two
// at once are refused (ErrRunning).
//
// # As a separate process
//
// The command control-plane in cmd/ runs one in the foreground; Attach finds
// it by its folder and stops it, or only its API server. It may be killed with
// -9 at any time: the kernel kills etcd and the API server with it (on Linux),
// the lock on the pid file is gone with the process, and the next start takes
// up the folder. What etcd had acknowledged is still there; only a crash of the
// machine may lose it, since nothing is synced to the disk.
//
// # What to know when testing with it
//
// The garbage collector looks for new kinds of objects every 30 seconds. Give
// the custom resource definitions in Options.CRDs: they are installed before
// it starts, and their objects are collected from the beginning.
package controlplane
