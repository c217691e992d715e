// Package tidy is a test that reads the source of this repository and fails
// where a house rule is broken, so that `go test ./...` is the architecture's
// police and no review has to be.
//
// It owns the rules that a syntax tree can show:
//
//	imports     who may use what (the table of the design, imports.go)
//	bans        calls that hide a clock, chance or the environment (bans.go)
//	variables   package variables that could change (variables.go)
//	lengths     functions of 70 lines, files of 400, tests of 800 (lengths.go)
//	documents   a doc.go in every package (documents.go)
//	names       no manager, helper, util or common (documents.go)
//	marks       no note about work that is still to be done (marks.go)
//	skips       no test that is skipped without a reason (bans.go)
//	make help   every target is explained (makefile.go)
//	modules     one version of what two modules need (modules.go)
//	mentions    what comments and documents name is there (mentions.go)
//
// It never type-checks, compiles or fixes anything, and it uses the standard
// library only: the whole tree takes well under a second. Every rule is itself
// tested on a bad sample in testdata, since a rule that cannot fail is no rule.
//
//	Load(root) ──► Tree ──► Rules[i].Check ──► []Breach ──► one readable list
package tidy
