// Package journal keeps on the node's own disk what the node needs to save
// itself without anybody's help: the open transaction with its way back, and
// the record of what was committed last.
//
//	Save ──► journal.json ──► Close(record) ──► record.json, no journal.json
//
// Every write is atomic and durable (temporary file, fsync, rename, fsync of
// the folder), so that after a crash or a power cut the files are either the
// old ones or the new ones. The package never decides what an open journal
// means and never touches the network.
package journal
