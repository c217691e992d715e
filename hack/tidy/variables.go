package tidy

import (
	"fmt"
	"go/ast"
	"go/token"
	"strings"
)

// changing are packages whose values exist to change.
var changing = []string{"sync/...", "github.com/prometheus/client_golang/..."}

// variable names a package variable by its folder and name.
type variable struct{ dir, name string }

// Variables checks that no package outside main keeps state: a package variable
// is there only as a constant that the language cannot write as one (a sentinel
// error, a table, a compiled pattern). It has a value from the start, is not of
// a kind made to change, and nothing in the tree, tests included, assigns to
// it, to a part of it, or takes its address.
func Variables(tree Tree) []Breach {
	specs := map[any]bool{}
	for _, file := range tree.Go {
		for _, spec := range file.variables() {
			specs[spec] = true
		}
	}
	changed := map[variable]string{}
	for _, file := range tree.Go {
		at := changes{tree: tree, file: file, imports: file.imports(), specs: specs, found: changed}
		ast.Inspect(file.ast, at.look)
	}

	var breaches []Breach
	for _, file := range tree.Go {
		if file.Main || file.Test || file.Generated {
			continue
		}
		for _, spec := range file.variables() {
			for i, name := range spec.Names {
				text := state(file, spec, i)
				if where, ok := changed[variable{file.Dir, name.Name}]; ok && text == "" {
					text = "is changed at " + where
				}
				if text != "" && name.Name != "_" {
					breaches = append(breaches, tree.breach(file, name.Pos(), "package variable %s %s: pass it in the constructor", name.Name, text))
				}
			}
		}
	}
	return breaches
}

// variables are the file's package variables, those filled by go:embed left out.
func (f File) variables() []*ast.ValueSpec {
	var specs []*ast.ValueSpec
	for _, declaration := range f.ast.Decls {
		general, ok := declaration.(*ast.GenDecl)
		if !ok || general.Tok != token.VAR {
			continue
		}
		for _, spec := range general.Specs {
			value := spec.(*ast.ValueSpec)
			if !embeds(general.Doc) && !embeds(value.Doc) {
				specs = append(specs, value)
			}
		}
	}
	return specs
}

func embeds(doc *ast.CommentGroup) bool {
	if doc == nil {
		return false
	}
	for _, comment := range doc.List {
		if strings.HasPrefix(comment.Text, "//go:embed ") {
			return true
		}
	}
	return false
}

// state says why the i-th variable of a declaration can only be meant to change.
func state(file File, spec *ast.ValueSpec, i int) string {
	if len(spec.Values) == 0 {
		return "has no value"
	}
	value := spec.Values[min(i, len(spec.Values)-1)]
	if address, ok := value.(*ast.UnaryExpr); ok {
		value = address.X
	}
	kind := value
	switch made := value.(type) {
	case *ast.CallExpr:
		kind = made.Fun
		if name, ok := kind.(*ast.Ident); ok && (name.Name == "make" || name.Name == "new") {
			return "is made empty"
		}
	case *ast.CompositeLit:
		kind = made.Type
	}
	if imported, name, ok := selected(kind, file.imports()); ok && matches(changing, imported) {
		return fmt.Sprintf("is a %s.%s", imported, name)
	}
	return ""
}

// changes collects where package variables are changed.
type changes struct {
	tree    Tree
	file    File
	imports map[string]string
	specs   map[any]bool
	found   map[variable]string
}

func (c changes) look(node ast.Node) bool {
	switch at := node.(type) {
	case *ast.AssignStmt:
		if at.Tok != token.DEFINE {
			c.note(at.Lhs...)
		}
	case *ast.RangeStmt:
		if at.Tok == token.ASSIGN {
			c.note(at.Key, at.Value)
		}
	case *ast.IncDecStmt:
		c.note(at.X)
	case *ast.UnaryExpr:
		if at.Op == token.AND {
			c.note(at.X)
		}
	case *ast.CallExpr:
		name, ok := at.Fun.(*ast.Ident)
		if ok && len(at.Args) > 0 && (name.Name == "delete" || name.Name == "clear" || name.Name == "copy") {
			c.note(at.Args[0])
		}
	}
	return true
}

// note finds the variable at the root of a.b[c].d.
func (c changes) note(expressions ...ast.Expr) {
	for _, expression := range expressions {
		for expression != nil {
			if imported, name, ok := selected(expression, c.imports); ok {
				c.at(variable{own(imported), name}, expression)
				break
			}
			if name, ok := expression.(*ast.Ident); ok {
				// An object of another declaration is a local variable of the same name.
				if name.Obj == nil || c.specs[name.Obj.Decl] {
					c.at(variable{c.file.Dir, name.Name}, expression)
				}
				break
			}
			expression = inner(expression)
		}
	}
}

func (c changes) at(changed variable, node ast.Node) {
	if _, ok := c.found[changed]; !ok {
		c.found[changed] = fmt.Sprintf("%s:%d", c.file.Path, c.tree.line(node.Pos()))
	}
}

func inner(expression ast.Expr) ast.Expr {
	switch at := expression.(type) {
	case *ast.IndexExpr:
		return at.X
	case *ast.SliceExpr:
		return at.X
	case *ast.SelectorExpr:
		return at.X
	case *ast.StarExpr:
		return at.X
	case *ast.ParenExpr:
		return at.X
	}
	return nil
}
