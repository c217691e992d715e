// Command rendered prints what Helm makes of a chart: the manifests of its templates and
// of its crds folder, as helm template --include-crds does, with less to link.
//
//	go run ./rendered CHART NAMESPACE [VALUES.YAML]
package main
