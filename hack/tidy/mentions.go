package tidy

import (
	"go/ast"
	"maps"
	"path"
	"regexp"
	"slices"
	"strings"
)

var (
	// mentionedPath is a path below one of the folders of the tree's root: sim/fault.
	mentionedPath = regexp.MustCompile(`(?:^|[\s("'` + "`" + `\[])((?:\.\.?/)?(?:api|charts|controllers|deploy|docs|e2e|graph|hack|handler|images|kind|plugin|rust|sim)/[A-Za-z0-9_./-]*[A-Za-z0-9_])(-?[*{<$%])?`)
	// mentionedName is what a package offers: desired.Render.
	mentionedName = regexp.MustCompile(`(?:^|[^A-Za-z0-9_./*@-])([a-z][a-z0-9]*)\.([A-Z][A-Za-z0-9]*)`)
	// mentionedPackage says which package does something, in brackets.
	mentionedPackage = regexp.MustCompile(`\(package ([a-z0-9]+)\b`)
	// mentionedWord can only be a name in code.
	mentionedWord = regexp.MustCompile(`\b(?:[a-z]+[A-Z][A-Za-z0-9]*|Test[A-Z][A-Za-z0-9]+)\b`)
	// placeholder stands for a name: deploy/overlays/MODE.
	placeholder = regexp.MustCompile(`\b(NAME|MODE)\b`)
	word        = regexp.MustCompile(`[A-Za-z0-9_]+`)
)

// notOurs look like names of this tree: Deployments for kubectl, processes of the
// simulator, a template's function, fields of a Pod, a mistake that is shown, and gRPC.
var notOurs = regexp.MustCompile(`^(deploy/nmstate-(controllers|operator)|handler/node\d|secret\.Policy|containerStatuses|restartCount|desiredStat|gRPC)$`)

// mentioned is all that the tree's text may name.
type mentioned struct {
	paths map[string]bool
	// packages are what each package has at its top level, by the package's name.
	packages map[string]map[string]bool
	// words of code, scripts and manifests.
	words map[string]bool
}

// Mentions checks what comments and documents name: files, folders, packages
// and what those offer must be there.
func Mentions(tree Tree) []Breach {
	there := tree.mentioned()
	var breaches []Breach
	look := func(name string, line int, text string, hidden map[string]bool) {
		for _, missing := range there.missing(text, hidden) {
			breaches = append(breaches, Breach{name, line, "names " + missing + ", which is not there"})
		}
	}
	for _, file := range tree.Go {
		hidden := file.hidden()
		for _, group := range file.ast.Comments {
			for _, comment := range group.List {
				for i, text := range strings.Split(comment.Text, "\n") {
					if !strings.HasPrefix(text, "// +") && !strings.HasPrefix(text, "//nolint") {
						look(file.Path, tree.line(comment.Pos())+i, text, hidden)
					}
				}
			}
		}
	}
	for _, name := range slices.Sorted(maps.Keys(tree.Other)) {
		if path.Ext(name) != ".md" || name == "CHANGELOG.md" { // That one tells what was there before.
			continue
		}
		for i, text := range strings.Split(string(tree.Other[name]), "\n") {
			look(name, i+1, text, nil)
		}
	}
	return breaches
}

// missing are what a line names that is not there. Hidden names of packages mean something else.
func (m mentioned) missing(text string, hidden map[string]bool) []string {
	var found []string
	for _, said := range mentionedPath.FindAllStringSubmatch(text, -1) {
		if said[2] == "" && !m.has(strings.TrimLeft(said[1], "./")) {
			found = append(found, said[1])
		}
	}
	for _, said := range mentionedName.FindAllStringSubmatch(text, -1) {
		if offers := m.packages[said[1]]; offers != nil && !hidden[said[1]] && !offers[said[2]] {
			found = append(found, said[1]+"."+said[2])
		}
	}
	for _, said := range mentionedPackage.FindAllStringSubmatch(text, -1) {
		if m.packages[said[1]] == nil {
			found = append(found, "package "+said[1])
		}
	}
	for _, said := range mentionedWord.FindAllString(text, -1) {
		if !m.words[said] {
			found = append(found, said)
		}
	}
	return slices.DeleteFunc(found, func(said string) bool { return notOurs.MatchString(said) || placeholder.MatchString(said) })
}

// has tells whether a path is there, or a folder and what its package offers: sim/fault.Kind.
// A decision may be said by its number: hack/adr/0012.
func (m mentioned) has(said string) bool {
	if m.paths[said] {
		return true
	}
	folder, name, _ := strings.Cut(path.Base(said), ".")
	name, _, _ = strings.Cut(name, ".")
	return m.paths[path.Join(path.Dir(said), folder)] && m.packages[folder][name]
}

func (t *Tree) mentioned() mentioned {
	all := mentioned{paths: maps.Clone(t.Paths), packages: map[string]map[string]bool{}, words: map[string]bool{}}
	for name := range t.Paths {
		if number, _, is := strings.Cut(path.Base(name), "-"); is && path.Dir(name) == "hack/adr" {
			all.paths["hack/adr/"+number] = true
		}
	}
	for name, content := range t.Other {
		if path.Ext(name) != ".md" {
			all.add(string(content))
		}
	}
	for _, file := range t.Go {
		name := path.Base(file.Dir)
		if all.packages[name] == nil {
			all.packages[name] = map[string]bool{}
		}
		for _, declaration := range file.ast.Decls {
			for _, declared := range declares(declaration) {
				all.packages[name][declared] = true
			}
		}
		ast.Inspect(file.ast, func(node ast.Node) bool {
			switch node := node.(type) {
			case *ast.Ident:
				all.words[node.Name] = true
			case *ast.BasicLit:
				all.add(node.Value)
			case *ast.Comment:
				if strings.HasPrefix(node.Text, "// +") { // A marker is code for generators.
					all.add(node.Text)
				}
			}
			return true
		})
	}
	return all
}

func (m mentioned) add(text string) {
	for _, found := range word.FindAllString(text, -1) {
		m.words[found] = true
	}
}

// declares are the names that a declaration declares.
func declares(declaration ast.Decl) []string {
	if function, ok := declaration.(*ast.FuncDecl); ok {
		return []string{function.Name.Name}
	}
	var names []string
	general, _ := declaration.(*ast.GenDecl)
	for _, spec := range general.Specs {
		switch spec := spec.(type) {
		case *ast.TypeSpec:
			names = append(names, spec.Name.Name)
		case *ast.ValueSpec:
			for _, name := range spec.Names {
				names = append(names, name.Name)
			}
		}
	}
	return names
}

// hidden are the names of packages that mean something else in the file: a
// package that is not of this tree; a parameter or a variable, where no package
// of the tree is imported by that name.
func (f File) hidden() map[string]bool {
	all := map[string]bool{}
	ast.Inspect(f.ast, func(node ast.Node) bool {
		if name, ok := node.(*ast.Ident); ok && name.Obj != nil && name.Obj.Kind == ast.Var {
			all[name.Name] = true
		}
		return true
	})
	for name, imported := range f.imports() {
		all[name] = !strings.HasPrefix(imported, modulePath+"/")
	}
	return all
}
