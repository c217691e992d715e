// Package trace is what a person sees of a simulated run: the trace in lines, and
// a timeline for Perfetto.
//
// It owns the kinds of lines, how production's log becomes lines, the text
// writer, and the Record, from which the timeline is made. It never decides
// anything, keeps nothing that a run could depend on, and reads no clock: times
// are those of the lines.
//
//	production logs ─► Logger ─┐
//	world, hosts, faults ──────┴► World.Trace ─┬► hash
//	                                           └► Sink: Writer ─► terminal
//	                                                    Recorder ─► Record ─► Chrome trace
//
// # Lines
//
// A line has a time, Who (a process, a node, or nobody for the world itself),
// What kind, and a Text. Which node a line is about is read from Who: "n1",
// "n1/handler" and "handler n1" are all of node n1. A Text that has parts has them
// as a log line has: words, then key=value, values quoted where they need it.
//
//	kind        who        text
//	api, ...    process    VERB OBJECT[: error]        a port call (world.Process.Call)
//	fault       any        what was done to whom; a fault that lasts writes
//	                       "begin NAME[: text]" and, later, "end NAME"
//	start       process    it was built anew; "" or why
//	killed      process                                (world.Process.Kill)
//	log, error  process    message key=value...        (Logger)
//	reach       node       TARGET ok|cut[: why]        gateway, dns, api (Sampler)
//	host        node       what happened to the host: "NetworkManager restarted"
//	checkpoint  node       NUMBER made|applied|committed|rolled back|expired|lost
//	policy      ""         "create p1", "edit p1 generation=2", "delete p1"
//	node        node       "added", "removed", "label x=y"
//	leader      process    "elected", "lost"
//	phase       ""         of the run: "safety", "liveness"
//	step        ""         a line of a scenario that is carried out
//	violation   node or "" RULE: message               (oracles)
//	fail        ""         what ended the run          (world.World.Fail)
//	others                 are in the trace, and not on the timeline
//
// # What is in the hash
//
// Every line that World.Trace gets, whether there is a Sink or not: so all port
// calls, faults, and production's log at its normal level with all its values.
// Logging is cheap enough, and a decision that differs shows there first. Log
// lines of higher verbosity (V(1) and up), and who reaches what, are for the Sink
// only; without one they cost nothing. A line must not depend on addresses, map order or the machine's
// clock, and Logger takes care of that for what production logs.
package trace
