package tidy

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const root = "../.."

// TestTree is the police: it lists every breach in the repository at once.
func TestTree(t *testing.T) {
	tree, err := Load(root)
	if err != nil {
		t.Fatal(err)
	}
	if len(tree.Go) == 0 {
		t.Fatal("found no Go files: is the root right?")
	}
	for _, rule := range Rules() {
		for _, breach := range rule.Check(tree) {
			t.Errorf("%s: %s", rule.Name, breach)
		}
	}
}

// TestRulesFail gives each rule a sample that breaks it beside code that does
// not: testdata holds one small tree for each rule, whose want.txt lists the
// breaches that must be found, and no others.
func TestRulesFail(t *testing.T) {
	for _, rule := range Rules() {
		t.Run(rule.Name, func(t *testing.T) {
			sample := filepath.Join("testdata", strings.ReplaceAll(rule.Name, " ", "-"))
			tree, err := Load(expanded(t, sample))
			if err != nil {
				t.Fatal(err)
			}
			list, err := os.ReadFile(filepath.Join(sample, "want.txt"))
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, breach := range rule.Check(tree) {
				got = append(got, breach.String())
			}
			want := strings.Split(strings.TrimSpace(string(list)), "\n")
			if want[0] == "" {
				t.Fatal("the sample's want.txt lists no breach: a rule that cannot fail is no rule")
			}
			if difference := cmp.Diff(want, got); difference != "" {
				t.Errorf("breaches found in the sample (-want +got):\n%s", difference)
			}
		})
	}
}

// manyLines stands in a sample for as many lines of comment.
var manyLines = regexp.MustCompile(`(?m)^\s*//lines (\d+)$`)

// expanded is a copy of a sample with all its lines.
func expanded(t *testing.T, sample string) string {
	t.Helper()
	whole := t.TempDir()
	if err := os.CopyFS(whole, os.DirFS(sample)); err != nil {
		t.Fatal(err)
	}
	err := filepath.WalkDir(whole, func(path string, entry os.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		short, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		long := manyLines.ReplaceAllFunc(short, func(line []byte) []byte {
			count, _ := strconv.Atoi(string(manyLines.FindSubmatch(line)[1]))
			return bytes.TrimSuffix(bytes.Repeat([]byte("//\n"), count), []byte("\n"))
		})
		return os.WriteFile(path, long, 0o600)
	})
	if err != nil {
		t.Fatal(err)
	}
	return whole
}

// TestMakeHelp runs make help and looks for every target.
func TestMakeHelp(t *testing.T) {
	makefile, err := os.ReadFile(filepath.Join(root, "Makefile"))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := exec.LookPath("make"); err != nil {
		if os.Getenv("NMSTATE_STRICT") == "1" {
			t.Fatal("make is missing: apt-get install make")
		}
		t.Skip("make is missing: apt-get install make")
	}
	command := exec.Command("make", "-s", "help")
	command.Dir = root
	help, err := command.CombinedOutput()
	if err != nil {
		t.Fatalf("make help: %v\n%s", err, help)
	}
	targets := Targets(makefile)
	if len(targets) == 0 {
		t.Fatal("found no targets in the Makefile")
	}
	for _, target := range targets {
		if !regexp.MustCompile(`(?m)^\s*` + target + `\s+\S`).Match(help) {
			t.Errorf("make help does not explain the target %s", target)
		}
	}
}
