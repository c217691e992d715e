// Command manifests writes the files of package manifests into the checkout that it
// is run in:
//
//	go run ./hack/manifests/cmd/manifests
package main
