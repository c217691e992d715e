// Package ui is the page of kubectl nmstate ui: fleet, nodes, policies, plans and drift
// in a browser.
//
// It owns HTML, and how a browser is kept up to date. It reads objects and writes none,
// but for one button where it is not read-only: a change that waits for a person is kept
// by a POST of this page. What is shown in which words is
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
//
// For a team (kubectl nmstate serve) each request brings the token of whoever asks, and
// sees what that token may. Nothing is kept from one request to the next.
package ui
