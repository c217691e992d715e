// Package kernel turns what `ip -json` says into text that can be compared:
// one line for each link, address, route or rule, sorted, without what changes
// by itself.
//
//	ip -json route show ─► Lines("route", …) ─► route {"dev":"eth0","dst":"default",…}
//
// Equal lines mean an equal configuration, which is the oracle of "byte for
// byte as before". The package runs nothing; who asks the kernel, of which
// node, and how, is its callers' business.
package kernel
