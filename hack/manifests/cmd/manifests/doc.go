// Command manifests writes the files of package manifests into the checkout that it
// is run in:
//
//	go run ./hack/manifests/cmd/manifests
//
// or the manifests of a release into a folder:
//
//	go run ./hack/manifests/cmd/manifests release FOLDER PREFIX VERSION
package main
