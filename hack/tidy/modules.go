package tidy

import (
	"fmt"
	"regexp"
	"strings"
)

// version is a line of a go.mod: what it requires, or what it puts in its place.
var version = regexp.MustCompile(`^\s*([^\s/]+\.[^\s]+)(?: => \S+)? (v\S+)`)

// Modules checks that this module and the one of Kubernetes' programs take the
// same version of what both need. Then it is compiled once: minutes of each run
// that begins with an empty cache.
func Modules(tree Tree) []Breach {
	const ours, programs = "go.mod", "hack/kube/go.mod"
	want := map[string]string{}
	for text := range strings.SplitSeq(string(tree.Other[ours]), "\n") {
		if found := version.FindStringSubmatch(text); found != nil {
			want[found[1]] = found[2]
		}
	}
	has, line := map[string]string{}, map[string]int{}
	var order []string
	for i, text := range strings.Split(string(tree.Other[programs]), "\n") {
		if found := version.FindStringSubmatch(text); found != nil {
			if line[found[1]] == 0 {
				order = append(order, found[1])
			}
			// What is put in its place comes later and counts.
			has[found[1]], line[found[1]] = found[2], i+1
		}
	}
	var breaches []Breach
	for _, module := range order {
		if is := want[module]; is != "" && is != has[module] {
			breaches = append(breaches, Breach{programs, line[module], fmt.Sprintf("%s %s, and %s has %s: go get the newer one in both", module, has[module], ours, is)})
		}
	}
	return breaches
}
