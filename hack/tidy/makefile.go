package tidy

import (
	"regexp"
	"slices"
	"strings"
)

var (
	target    = regexp.MustCompile(`^([a-z][a-z0-9-]*):(?:[^=].*)?$`)
	explained = regexp.MustCompile(`^([a-z][a-z0-9-]*):.* ## \S`)
	phony     = regexp.MustCompile(`^\.PHONY:(.*)$`)
)

// MakeHelp checks that every target of the Makefile has the comment that `make
// help` prints, and is declared phony. Targets named by a variable or a path
// are files that others depend on.
func MakeHelp(tree Tree) []Breach {
	const name = "Makefile"
	lines := strings.Split(string(tree.Other[name]), "\n")
	var declared []string
	for _, text := range lines {
		if list := phony.FindStringSubmatch(text); list != nil {
			declared = append(declared, strings.Fields(list[1])...)
		}
	}
	var breaches []Breach
	for i, text := range lines {
		found := target.FindStringSubmatch(text)
		if found == nil {
			continue
		}
		if !explained.MatchString(text) {
			breaches = append(breaches, Breach{name, i + 1, `target ` + found[1] + ` has no "## what it does" for make help`})
		}
		if !slices.Contains(declared, found[1]) {
			breaches = append(breaches, Breach{name, i + 1, `target ` + found[1] + ` is not in .PHONY`})
		}
	}
	return breaches
}

// Targets are the targets that `make help` has to print.
func Targets(makefile []byte) []string {
	var targets []string
	for text := range strings.SplitSeq(string(makefile), "\n") {
		if found := target.FindStringSubmatch(text); found != nil {
			targets = append(targets, found[1])
		}
	}
	return targets
}
