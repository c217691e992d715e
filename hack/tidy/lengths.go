package tidy

import (
	"fmt"
	"go/ast"
)

// The limits, in lines.
const (
	functionLines = 70
	fileLines     = 400
	testFileLines = 800
)

// Lengths checks functions and files. In a test, the lines of a table (a
// composite literal) do not count: they are data.
func Lengths(tree Tree) []Breach {
	var breaches []Breach
	for _, file := range tree.Go {
		if file.Generated {
			continue
		}
		limit := fileLines
		if file.Test {
			limit = testFileLines
		}
		if file.Lines > limit {
			breaches = append(breaches, Breach{Path: file.Path, Text: sprintLines("file", file.Lines, limit)})
		}
		for _, declaration := range file.ast.Decls {
			function, ok := declaration.(*ast.FuncDecl)
			if !ok {
				continue
			}
			lines := tree.span(function)
			if file.Test {
				lines -= tree.tableLines(function)
			}
			if lines > functionLines {
				breaches = append(breaches, tree.breach(file, function.Type.Func, "%s", sprintLines("func "+function.Name.Name, lines, functionLines)))
			}
		}
	}
	return breaches
}

func sprintLines(what string, lines, limit int) string {
	return fmt.Sprintf("%s has %d lines, more than %d: split it", what, lines, limit)
}

// span counts from the word func to the closing brace.
func (t *Tree) span(function *ast.FuncDecl) int {
	return t.line(function.End()) - t.line(function.Type.Func) + 1
}

// tableLines are the lines inside the braces of the outermost composite literals.
func (t *Tree) tableLines(function *ast.FuncDecl) int {
	lines := 0
	ast.Inspect(function, func(node ast.Node) bool {
		literal, ok := node.(*ast.CompositeLit)
		if !ok {
			return true
		}
		lines += max(0, t.line(literal.Rbrace)-t.line(literal.Lbrace)-1)
		return false
	})
	return lines
}
