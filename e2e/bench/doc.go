// Command bench measures the product on a lab, in one run of some minutes, and
// prints tables: ratios, counts, and the share of each step. It is what
// `make bench` runs (hack/bench.sh builds what it needs).
//
//	bare apply and commit ─┐ interleaved, several times
//	policy to Available   ─┴─► ratio, share of each step     (three kinds of node)
//	audit log             ───► requests for one policy, by component
//	pings from outside    ───► outages of a policy that cuts its node off
//	handler's log, /proc  ───► applies of a restart and a label, cost of idling
//
// Machines differ and are noisy: only what was measured in the same run is
// compared, and nothing here passes or fails because of a time. It owns the
// scenarios and the tables. It never changes anything but its lab.
//
// `bench bare` is the yardstick: it runs inside a node and does what libnmstate
// needs at least, an apply and a commit.
package main
