package tidy

import (
	"go/ast"
	"path"
	"regexp"
	"slices"
	"strings"
)

// Documents checks that every package has a doc.go with the package's comment,
// and that no other file has one.
func Documents(tree Tree) []Breach {
	var breaches []Breach
	documented := map[string]bool{}
	for _, file := range tree.Go {
		switch {
		case path.Base(file.Path) == "doc.go":
			documented[file.Dir] = true
			if opening := file.opening(); !strings.HasPrefix(file.ast.Doc.Text(), opening) {
				breaches = append(breaches, Breach{Path: file.Path, Text: "the package's comment does not start with " + `"` + opening + `"`})
			}
		case file.ast.Doc != nil && !file.Generated && !file.Test:
			breaches = append(breaches, tree.breach(file, file.ast.Doc.Pos(), "a package's comment outside doc.go"))
		}
	}
	var missing []string
	for _, file := range tree.Go {
		if !documented[file.Dir] && !slices.Contains(missing, file.Dir) {
			missing = append(missing, file.Dir)
		}
	}
	for _, dir := range missing {
		breaches = append(breaches, Breach{Path: dir, Text: "no doc.go: what does the package own, what does it never do?"})
	}
	return breaches
}

func (f File) opening() string {
	if f.Main {
		return "Command "
	}
	return "Package " + f.ast.Name.Name + " "
}

// emptyNoun are names that say nothing about what a thing owns.
var emptyNoun = regexp.MustCompile(`(?i)(manager|helpers?|utils?|common)$`)

// Names checks the names of packages and types.
func Names(tree Tree) []Breach {
	var breaches []Breach
	seen := map[string]bool{}
	for _, file := range tree.Go {
		if name := path.Base(file.Dir); !seen[file.Dir] && emptyNoun.MatchString(name) {
			breaches = append(breaches, Breach{Path: file.Dir, Text: "a package called " + name + " says nothing about what it owns"})
		}
		seen[file.Dir] = true
		for _, declaration := range file.ast.Decls {
			general, ok := declaration.(*ast.GenDecl)
			if !ok {
				continue
			}
			for _, spec := range general.Specs {
				if named, ok := spec.(*ast.TypeSpec); ok && emptyNoun.MatchString(named.Name.Name) {
					breaches = append(breaches, tree.breach(file, named.Pos(), "a type called %s says nothing about what it owns", named.Name.Name))
				}
			}
		}
	}
	return breaches
}
