// Package docs is the tests of the documentation: what is written there is
// tried, so that nobody copies an example that does not work.
//
// Every example is a file in examples/ (or a report of a real node in demos/)
// and stands in the text word for word. Its first line states the expected
// result in the lab, and e2e/suite tries that. Its desired state, once its templates are
// filled in, passes the same parser as a policy's, and the API server takes it.
// Links lead somewhere. The package never ships.
//
//	guide.md ── ```yaml block ══ examples/X.yaml ──► handler/state, API server, lab
//	        └── commands ──► e2e/suite types them, page after page, and compares
//
// Every page is played from top to bottom, in the README's order, on one lab
// (e2e/suite/walk_test.go), and leaves the lab as it found it:
//
//   - In a block without a language, what follows "$ " is typed, and the lines
//     below it are all that it prints. Durations, points in time and the width
//     of columns are not compared; "…" stands for any part of a line and, on a
//     line of its own, for any lines.
//   - A block of the language sh is typed too, and only has to succeed.
//   - An example that no command of its page applies is applied, waited for and
//     deleted, as guide 103 tells.
//   - <!-- not played: WHY --> above a block leaves it out, and the test lists it
//     with the reason; <!-- this page is not played: WHY --> does so for a page.
//   - <!-- this page is played in a VM: make e2e-vm --> is for a page that starts a
//     lab of its own, on a kernel that this machine may not have.
//     <!-- played last --> is for after all pages.
package docs
