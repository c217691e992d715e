package tidy

import (
	"fmt"
	"go/ast"
	"slices"
)

// ban is a set of names of one package that only main packages and tests use.
type ban struct {
	imported string
	// names that are banned, or, where allBut is set, the only ones that are not.
	names  []string
	allBut bool
	// except are folders where it is allowed.
	except []string
	// instead says what to do.
	instead string
}

const takeClock = "take a clock.Clock of k8s.io/utils/clock in the constructor"

var bans = []ban{
	{
		imported: "time",
		names:    []string{"Now", "Sleep", "After", "AfterFunc", "Tick", "NewTicker", "NewTimer", "Since", "Until"},
		instead:  takeClock,
	},
	{
		imported: "k8s.io/utils/clock",
		names:    []string{"RealClock"},
		except:   []string{"e2e/...", "kind/...", "hack/..."}, // The harness drives real processes.
		instead:  takeClock,
	},
	{imported: "math/rand", names: randConstructors, allBut: true, instead: "take a *rand.Rand in the constructor"},
	{imported: "math/rand/v2", names: randConstructors, allBut: true, instead: "take a *rand.Rand in the constructor"},
	{
		imported: "os",
		names:    []string{"Getenv", "LookupEnv", "Environ", "ExpandEnv", "Setenv", "Unsetenv", "Clearenv"},
		instead:  "take the value in the constructor; main reads the environment",
	},
	{imported: "context", names: []string{"TODO", "Background"}, instead: "take the caller's context"},
}

var randConstructors = []string{
	"New", "NewSource", "NewPCG", "NewChaCha8", "NewZipf", "Rand", "Source", "Source64", "PCG", "ChaCha8", "Zipf",
}

// Bans checks the calls that hide a clock, chance or the environment, and init
// functions, which run before anybody could inject anything.
func Bans(tree Tree) []Breach {
	var breaches []Breach
	for _, file := range tree.Go {
		if file.Main || file.Test || file.Generated {
			continue
		}
		imports := file.imports()
		ast.Inspect(file.ast, func(node ast.Node) bool {
			if function, ok := node.(*ast.FuncDecl); ok && function.Recv == nil && function.Name.Name == "init" {
				breaches = append(breaches, tree.breach(file, node.Pos(), "init(): construct in main and pass it on"))
			}
			if expression, ok := node.(ast.Expr); ok {
				if text := banned(file.Dir, expression, imports); text != "" {
					breaches = append(breaches, tree.breach(file, node.Pos(), "%s", text))
				}
			}
			return true
		})
	}
	return breaches
}

func banned(dir string, expression ast.Expr, imports map[string]string) string {
	imported, name, ok := selected(expression, imports)
	if !ok {
		return ""
	}
	for _, ban := range bans {
		if ban.imported == imported && !matches(ban.except, dir) && slices.Contains(ban.names, name) != ban.allBut {
			return fmt.Sprintf("%s.%s: %s", imported, name, ban.instead)
		}
	}
	return ""
}

// Skips checks that no test is skipped without saying why.
func Skips(tree Tree) []Breach {
	var breaches []Breach
	for _, file := range tree.Go {
		ast.Inspect(file.ast, func(node ast.Node) bool {
			call, ok := node.(*ast.CallExpr)
			if !ok || len(call.Args) > 0 {
				return true
			}
			method, ok := call.Fun.(*ast.SelectorExpr)
			if ok && file.Test && (method.Sel.Name == "SkipNow" || method.Sel.Name == "Skip") {
				breaches = append(breaches, tree.breach(file, call.Pos(), "%s() hides why: call Skip or Skipf with the reason", method.Sel.Name))
			}
			return true
		})
	}
	return breaches
}
