// Package journal keeps on the node's own disk what the node needs to save
// itself without anybody's help: the open transaction with its way back, and
// the record of what was committed last.
//
//	Save ──► journal.json ──► Close(record) ──► record.json, no journal.json
//
// Every write is atomic and durable (temporary file, fsync, rename, fsync of
// the folder), so that after a crash or a power cut the files are either the
// old ones or the new ones. A file that cannot be read (another version's, or
// damaged with its disk) is named in the error and set aside by the next write;
// what a handler does without it is for the handler to decide. The package never
// decides what an open journal means and never touches the network.
//
// The files are root's alone: an entry holds the profiles of NetworkManager with
// their secrets.
package journal
