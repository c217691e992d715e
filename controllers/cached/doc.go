// Package cached reads through the cache of a manager whose client reads its own
// writes, and past the cache where that does not catch up.
//
// It owns how long a read waits for the cache, and nothing of what is read. It never
// writes.
//
//	read ─► the cache, once it shows our own writes ─► answer
//	           └─ not within patience ─► the API server itself ─► answer
package cached
