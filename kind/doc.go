// Package kind is the scripts that make a kind cluster whose nodes run
// NetworkManager, and the tests of what they say when something is wrong, which
// need no docker. README.md tells how to use them and what the suite in e2e/kind
// is told.
//
//	kind.sh ──► docker.sh   a docker that answers, or our own
//	   │   └──► image.sh    the node image: Debian, NetworkManager, Kubernetes
//	   └──────► nodes.sh    what is done with the nodes: NICs, images, deploy/
//	e2e.sh  ──► images, kind.sh up, go test ./e2e/kind, kind.sh down
//
// It owns nothing that ships, and it never touches a cluster that this checkout
// did not make: the fabric's container says which checkout did.
package kind
