// Package bundle makes the archive of kubectl nmstate report out of objects: what a bug
// report needs, and nothing that must not leave the cluster.
//
// It owns which files there are, what is left out of objects (values of secrets, what
// tools have noted), and how names and addresses are replaced. It is pure: objects in,
// files out. It never reads a cluster and writes no archive.
//
//	objects, logs ─► Files ─► files ─► Mask.Apply (on request) ─► files ─► .tar.gz
//
// States lie in states/, one node a file, where lab from-nns finds them.
package bundle
