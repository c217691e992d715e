package tidy

import (
	"go/ast"
	"regexp"
	"slices"
	"strings"
)

// unfinished are the words by which people mark work for later. They are put
// together so that this file does not contain them.
var unfinished = regexp.MustCompile(`\b(` + strings.Join([]string{"TO" + "DO", "FIX" + "ME", "XX" + "X", "HA" + "CK"}, "|") + `)\b`)

// Marks checks that no comment or document marks work that is to be done later:
// that belongs into an issue.
func Marks(tree Tree) []Breach {
	var breaches []Breach
	for _, file := range tree.Go {
		if file.Generated {
			continue
		}
		for _, group := range file.ast.Comments {
			for _, comment := range group.List {
				breaches = append(breaches, marked(tree, file, comment)...)
			}
		}
	}
	var names []string
	for name := range tree.Other {
		if !strings.HasPrefix(name, "deploy/crds/") { // Kubernetes' own words about its types.
			names = append(names, name)
		}
	}
	slices.Sort(names)
	for _, name := range names {
		for i, text := range strings.Split(string(tree.Other[name]), "\n") {
			if mark := unfinished.FindString(text); mark != "" {
				breaches = append(breaches, Breach{Path: name, Line: i + 1, Text: mark + ": do it, or write an issue"})
			}
		}
	}
	return breaches
}

func marked(tree Tree, file File, comment *ast.Comment) []Breach {
	// What code is called is not a note about it.
	text := strings.ReplaceAll(comment.Text, "context.TO"+"DO", "")
	mark := unfinished.FindString(text)
	if mark == "" {
		return nil
	}
	return []Breach{tree.breach(file, comment.Pos(), "%s: do it, or write an issue", mark)}
}
