// Package ui is the page of kubectl nmstate ui: fleet, nodes, policies, plans and drift
// in a browser.
//
// It owns HTML, and how a browser is kept up to date. It reads objects and writes none:
// every request but GET and HEAD is refused. What is shown in which words is
// plugin/view's, pictures are graph's. Everything is made on the server and embedded
// in the program; a page asks no other host for anything.
//
//	objects ─► view, graph ─► templates ─► HTML ──► browser
//	   └─ something changed ─► /events ───────────► the script fetches the page again
//
// On the loopback everybody who is logged in to the machine could ask. So the first
// request has to bring a token, which the program prints with the address, and a cookie
// stands for it from then on. A request under another host name is refused: a page of
// somebody else might have had its name resolved to the loopback.
package ui
