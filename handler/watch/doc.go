// Package watch says for which changes a reconciler takes a turn.
//
// It owns the table of a reconciler's watches, hands it to a controller-runtime
// manager, and runs that to its end; the simulator goes by the same table. It decides
// nothing: what matters of a change, and whose turn it is, is the reconciler's.
//
// It also notices that the cluster behind the watches was restored from a backup
// (Restores), and ends the process then.
//
//	object changed ─► Predicate: does it matter? ─► Handler: whose turns? ─► queue
package watch
