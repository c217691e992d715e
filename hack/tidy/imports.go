package tidy

import (
	"go/ast"
	"path"
	"strings"
)

// row is one line of the import table. Patterns are import paths, those of this
// module without its own path; "a/..." means a and everything below it.
type row struct {
	// why is said in the breach.
	why string
	// of are the folders that the row is about, except those of the second list.
	of, except []string
	// files narrows the row to some files of the folders. Optional.
	files func(name string) bool
	// tests says that the row holds for _test.go files too.
	tests bool
	// only are the imports that are allowed; nil allows all.
	only []string
	// never are the imports that are refused.
	never []string
	// pure refuses goroutines and channels as well.
	pure bool
}

// outside is what only the edges of the product may touch: other code, other
// processes, sockets, the kernel, the system bus.
var outside = []string{
	"C", "os/exec", "net", "net/http/...", "net/rpc/...", "net/smtp", "crypto/tls", "syscall", "golang.org/x/sys/...",
	"github.com/vishvananda/netlink/...", "github.com/vishvananda/netns/...", "github.com/godbus/dbus/...",
}

// edges are the folders that may.
var edges = []string{
	"handler/backend/nmstate/...", "handler/libnmstate/...", "handler/arp", "handler/dump", "handler/probe/...", "handler/observe/...", "handler/foreign",
	"handler/journal", "handler/access", "e2e/...", "hack/...", "kind/...",
}

// live are our packages that work on this machine and nowhere else.
var live = []string{"handler/arp", "handler/backend/nmstate/...", "handler/libnmstate/...", "handler/observe/..."}

// impure are the parts of the standard library that a pure package does without.
var impure = []string{
	"context", "log/...", "os/...", "net", "net/http/...", "sync/...", "syscall", "math/rand/...", "crypto/rand", "C", "runtime/...", "unsafe",
}

// types are libraries of values and pure functions on them.
var types = []string{
	"std", "api/...", "k8s.io/api/...", "k8s.io/apimachinery/...", "k8s.io/component-helpers/scheduling/corev1/...",
	"sigs.k8s.io/yaml/...", "sigs.k8s.io/json/...",
	"github.com/go-logr/logr", // Kubernetes' helpers want a logger; it gets logr.Discard().
	"github.com/google/uuid",  // UUIDs from names; random ones are not for a decision.
}

// table is the import table of the design.
var table = []row{
	{
		why:  "the api is imported by everybody and so imports apimachinery only",
		of:   []string{"api/..."},
		only: []string{"std", "api/...", "k8s.io/api/...", "k8s.io/apimachinery/..."},
	},
	{
		why:   "imports go one way, controllers to handler to api: what both halves run is in handler",
		of:    []string{"handler/..."},
		tests: true,
		never: []string{"controllers/...", "plugin/...", "sim/..."},
	},
	{
		why:   "the controllers and the plugin meet in the API server only",
		of:    []string{"controllers/..."},
		tests: true,
		never: []string{"plugin/...", "sim/..."},
	},
	{
		why:   "the controllers and the plugin meet in the API server only",
		of:    []string{"plugin/..."},
		tests: true,
		never: []string{"controllers/...", "sim/..."},
	},
	{
		why:   "a decision is pure: no context, clock, log, lock or I/O",
		of:    []string{"handler/desired/...", "handler/txn/...", "handler/idle/...", "handler/guard", "handler/state/...", "handler/profiles/...", "controllers/rollout/plan/..."},
		only:  append([]string{"handler/desired/...", "handler/txn/...", "handler/state/..."}, types...),
		never: impure,
		pure:  true,
	},
	{
		why:   "what is recorded is pure: of the journal it has the types",
		of:    []string{"handler/record"},
		only:  append([]string{"handler/txn", "handler/idle", "handler/journal", "handler/profiles", "handler/guard", "handler/state"}, types...),
		never: impure,
		pure:  true,
	},
	{
		why:   "what is shown and what is found wrong is pure: the plugin's main package reads, prints and asks",
		of:    []string{"plugin/view", "plugin/lint", "plugin/bundle"},
		only:  append([]string{"handler/desired", "handler/state", "graph", "go.yaml.in/yaml/v3", "github.com/google/cel-go/...", "github.com/aymanbagabas/go-udiff"}, types...),
		never: impure,
		pure:  true,
	},
	{
		why:   "a drawing is pure: a graph goes in, text comes out",
		of:    []string{"graph"},
		only:  []string{"std", "github.com/d2lang/dagro"},
		never: impure,
		pure:  true,
	},
	{
		why:    "only the edges of the product touch the machine",
		of:     []string{"..."},
		except: append([]string{"handler", "controllers", "plugin", "plugin/ui"}, edges...),
		never:  outside,
	},
	{
		why:   "the main packages wire, the edges touch the machine",
		of:    []string{"handler", "controllers", "plugin"},
		never: []string{"C", "net", "github.com/vishvananda/...", "github.com/godbus/..."},
	},
	{
		why:   "the journal is files, nothing else of the machine",
		of:    []string{"handler/journal"},
		never: []string{"C", "os/exec", "net", "net/http/...", "github.com/vishvananda/...", "github.com/godbus/..."},
	},
	{
		// The mutants' tests build the simulator with bugs in it, and run that.
		why:    "the simulator runs production code without a machine",
		of:     []string{"sim/..."},
		except: []string{"sim/mutants"},
		tests:  true,
		never:  append(append([]string{"e2e/...", "kind/..."}, live...), outside...),
	},
	{
		// One file may, behind the build tag: captures are resolved by libnmstate,
		// which in centralized mode works on what nodes reported, not on a node.
		why:   "the controllers run where no node is configured, without cgo, and so does the policy handler, which they import",
		of:    []string{"controllers/...", "handler/policy/..."},
		files: func(name string) bool { return name != "captures_libnmstate.go" },
		never: append([]string{"handler/probe/...", "handler/agent/..."}, live...),
	},
	{
		why:    "the binding can be replaced by one import line only if one package imports it",
		of:     []string{"..."},
		except: []string{"handler/backend/nmstate/...", "handler/libnmstate/...", "e2e/..."},
		never:  []string{"handler/libnmstate/..."},
	},
	{
		why:    "nothing that ships imports the harness",
		of:     []string{"..."},
		except: []string{"e2e/...", "kind/...", "hack/..."},
		never:  []string{"e2e/...", "kind/...", "hack/..."},
	},
}

// Imports checks the import table.
func Imports(tree Tree) []Breach {
	var breaches []Breach
	for _, file := range tree.Go {
		for _, spec := range file.ast.Imports {
			for _, row := range table {
				if row.holds(file) && !row.allows(importPath(spec)) {
					breaches = append(breaches, tree.breach(file, spec.Pos(), "imports %s: %s", own(importPath(spec)), row.why))
					break
				}
			}
		}
		for _, row := range table {
			if row.pure && row.holds(file) {
				breaches = append(breaches, concurrency(tree, file, row.why)...)
			}
		}
	}
	return breaches
}

func (r row) holds(file File) bool {
	switch {
	case file.Test && !r.tests:
		return false
	case !matches(r.of, file.Dir) || matches(r.except, file.Dir):
		return false
	}
	return r.files == nil || r.files(path.Base(file.Path))
}

func (r row) allows(imported string) bool {
	if matches(r.never, own(imported)) {
		return false
	}
	return r.only == nil || matches(r.only, own(imported)) || standard(imported) && matches(r.only, "std")
}

// own shortens the import paths of this module to the folder.
func own(imported string) string { return strings.TrimPrefix(imported, modulePath+"/") }

// standard tells the standard library: no dot in the first element.
func standard(imported string) bool {
	first, _, _ := strings.Cut(imported, "/")
	return !strings.Contains(first, ".")
}

func matches(patterns []string, name string) bool {
	for _, pattern := range patterns {
		prefix, below := strings.CutSuffix(pattern, "...")
		if pattern == name || below && strings.HasPrefix(name+"/", prefix) {
			return true
		}
	}
	return false
}

// concurrency finds goroutines and channels, whose order no caller decides.
func concurrency(tree Tree, file File, why string) []Breach {
	var breaches []Breach
	ast.Inspect(file.ast, func(node ast.Node) bool {
		switch node.(type) {
		case *ast.GoStmt:
			breaches = append(breaches, tree.breach(file, node.Pos(), "starts a goroutine: %s", why))
		case *ast.ChanType:
			breaches = append(breaches, tree.breach(file, node.Pos(), "uses a channel: %s", why))
		}
		return true
	})
	return breaches
}
