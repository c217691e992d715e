package tidy

import (
	"bytes"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"sort"
	"strconv"
	"strings"
)

// modulePath is the import path of the tree's root.
const modulePath = "github.com/nmstate/kubernetes-nmstate"

// Tree is the source below one folder.
type Tree struct {
	// Go are the Go files, in the order of their paths.
	Go []File
	// Other are the scripts, manifests and documents, by path.
	Other map[string][]byte
	// Paths are all files and folders, samples of tests included.
	Paths map[string]bool

	files *token.FileSet
}

// File is one Go file.
type File struct {
	// Path is slash-separated and relative to the tree's root.
	Path string
	// Dir is the folder of Path: what an import of it would name.
	Dir string
	// Main is true in package main.
	Main bool
	// Test is true for files that only `go test` compiles.
	Test bool
	// Generated is true for files that say that a program wrote them.
	Generated bool
	// Lines is the number of lines.
	Lines int

	ast *ast.File
}

// Breach is one place where a rule is broken.
type Breach struct {
	Path string
	// Line is 0 where the whole file or folder is meant.
	Line int
	Text string
}

// String is "path:line: text".
func (b Breach) String() string {
	if b.Line == 0 {
		return fmt.Sprintf("%s: %s", b.Path, b.Text)
	}
	return fmt.Sprintf("%s:%d: %s", b.Path, b.Line, b.Text)
}

// Load reads the tree below root. Folders that hold results of builds, samples
// of tests (testdata) and hidden ones are left out.
func Load(root string) (Tree, error) {
	tree := Tree{Other: map[string][]byte{}, Paths: map[string]bool{}, files: token.NewFileSet()}
	err := filepath.WalkDir(root, func(name string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		relative, err := filepath.Rel(root, name)
		if err != nil {
			return err
		}
		relative = filepath.ToSlash(relative)
		tree.Paths[relative] = true
		switch {
		case entry.IsDir() && name != root && skipped(entry.Name()) && entry.Name() != "testdata":
			return filepath.SkipDir
		case !entry.Type().IsRegular(), slices.Contains(strings.Split(relative, "/"), "testdata"):
			return nil
		}
		return tree.add(name, relative)
	})
	if err != nil {
		return Tree{}, fmt.Errorf("reading the source: %w", err)
	}
	sort.Slice(tree.Go, func(i, j int) bool { return tree.Go[i].Path < tree.Go[j].Path })
	return tree, nil
}

func skipped(folder string) bool {
	switch folder {
	case "testdata", "bin", "out", "artifacts", "target", "vendor":
		return true
	}
	return strings.HasPrefix(folder, ".") && folder != ".ci"
}

func (t *Tree) add(name, relative string) error {
	content, err := os.ReadFile(name)
	if os.IsNotExist(err) { // An editor's file that is gone already.
		return nil
	}
	if err != nil {
		return err
	}
	if path.Ext(relative) != ".go" {
		if isText(relative) {
			t.Other[relative] = content
		}
		return nil
	}
	parsed, err := parser.ParseFile(t.files, relative, content, parser.ParseComments)
	if err != nil {
		return err
	}
	t.Go = append(t.Go, File{
		Path:      relative,
		Dir:       path.Dir(relative),
		Main:      parsed.Name.Name == "main",
		Test:      strings.HasSuffix(relative, "_test.go"),
		Generated: ast.IsGenerated(parsed),
		Lines:     bytes.Count(content, []byte("\n")),
		ast:       parsed,
	})
	return nil
}

func isText(name string) bool {
	switch path.Ext(name) {
	case ".sh", ".rs", ".md", ".yaml", ".yml", ".toml", ".txtar", ".mod":
		return true
	}
	return path.Base(name) == "Makefile" || strings.HasPrefix(name, ".ci/")
}

// line is the line of a position.
func (t *Tree) line(at token.Pos) int { return t.files.Position(at).Line }

// breach is a Breach at a position of a file.
func (t *Tree) breach(file File, at token.Pos, format string, arguments ...any) Breach {
	return Breach{Path: file.Path, Line: t.line(at), Text: fmt.Sprintf(format, arguments...)}
}

// imports are the import paths of a file by the name that they have in it.
func (f File) imports() map[string]string {
	names := map[string]string{}
	for _, spec := range f.ast.Imports {
		imported := importPath(spec)
		name := path.Base(imported)
		if isVersion(name) { // math/rand/v2 is called rand.
			name = path.Base(path.Dir(imported))
		}
		if spec.Name != nil {
			name = spec.Name.Name
		}
		names[name] = imported
	}
	return names
}

func importPath(spec *ast.ImportSpec) string {
	imported, err := strconv.Unquote(spec.Path.Value)
	if err != nil { // The parser accepts nothing that is not quoted.
		panic(fmt.Sprintf("import path %s: %v", spec.Path.Value, err))
	}
	return imported
}

func isVersion(name string) bool {
	if len(name) < 2 || name[0] != 'v' {
		return false
	}
	_, err := strconv.Atoi(name[1:])
	return err == nil
}

// selected returns the import path and the name of an expression like time.Now,
// and false for everything else, a field of a local variable included.
func selected(expression ast.Expr, imports map[string]string) (imported, name string, ok bool) {
	selector, ok := expression.(*ast.SelectorExpr)
	if !ok {
		return "", "", false
	}
	identifier, ok := selector.X.(*ast.Ident)
	if !ok || identifier.Obj != nil {
		return "", "", false
	}
	imported, ok = imports[identifier.Name]
	return imported, selector.Sel.Name, ok
}
