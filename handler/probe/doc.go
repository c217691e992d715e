// Package probe asks whether the node is still connected: does its default
// gateway answer a ping, does a name server resolve, does the API server
// answer, is the Node ready. Beyond these defaults it asks what a policy names:
// ping, dns, tcp and http of a target.
//
// It owns the port Prober, the names of the probes, the two ways to run them
// (Once for a baseline, Until for a guard of a change) and the live probes of
// this machine. Every attempt looks anew: routes and name servers are read,
// sockets and connections opened for it and closed with it, since whatever
// outlived a change of the network would answer for a path that is gone.
//
// It never decides which probes guard a change, never changes the network and
// keeps nothing between two attempts. Dial and Connections are how the handler's own
// client reaches the API server.
//
// A target that is a host name is looked up at the node's own name servers, and
// passes when one of its addresses does; http means a status below 400, without
// following redirects and past every proxy.
//
//	Until:  attempt ──► passed ──► nil
//	           ▲ │ failed
//	           │ ▼
//	        interval ──► ctx ends ──► the last whole attempt's error
package probe
