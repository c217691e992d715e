package docs

import (
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestActions(t *testing.T) {
	examples := map[string]string{"a: 1\n": "one", "b: 2\n": "two"}
	for sentence, c := range map[string]struct {
		page string
		want []Action
	}{
		"a page without blocks has no actions": {page: "# A page\n"},
		"a picture is no action":               {page: "```\n a ─► b\n```\n"},
		"what follows a prompt is all that the command prints": {
			page: "```\n$ one\n$ two\nline\n```\n",
			want: []Action{{Line: 2, Command: "one", Compared: true}, {Line: 3, Command: "two", Compared: true, Shows: []string{"line"}}},
		},
		"what commands of a block of sh print is not told": {
			page: "```sh\n# comment\none\n\ntwo   # comment\n```\n",
			want: []Action{{Line: 3, Command: "one"}, {Line: 5, Command: "two   # comment"}},
		},
		"an example that no command applies is an action": {
			page: "```yaml\na: 1\n```\n```yaml\nb: 2\n```\n```\n$ kubectl apply -f docs/examples/two.yaml\n```\n",
			want: []Action{{Line: 2, Example: "one"}, {Line: 8, Command: "kubectl apply -f docs/examples/two.yaml", Compared: true}},
		},
		"a mark is about the next block only": {
			page: "<!-- not played: it needs a moon -->\n\n```sh\none\n```\n```sh\ntwo\n```\n<!-- played last -->\n```sh\nthree\n```\n",
			want: []Action{{Line: 4, Command: "one", NotPlayed: "it needs a moon"}, {Line: 7, Command: "two"}, {Line: 11, Command: "three", PlayedLast: true}},
		},
		"a mark may be about the whole page": {
			page: "<!-- this page is not played: it needs a moon -->\n```sh\none\n```\n```yaml\na: 1\n```\n",
			want: []Action{{Line: 3, Command: "one", NotPlayed: "it needs a moon"}, {Line: 6, Example: "one", NotPlayed: "it needs a moon"}},
		},
	} {
		t.Run(sentence, func(t *testing.T) {
			got, err := Actions(c.page, examples)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
	for page, want := range map[string]string{
		"<!-- hidden -->\n": "line 1: \"<!-- hidden -->\" is no mark", "\n```sh\none\n": "line 2: the block has no end",
	} {
		if _, err := Actions(page, nil); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%q: got %v, want %s", page, err, want)
		}
	}
}

func TestPrints(t *testing.T) {
	// As kubectl v1.37 printed it in CI.
	const left = `I1127 22:22:01.459641   24769 reflector.go:664] "Warning: watch ended with error" reflector="k8s.io/client-go@v0.37.1/tools/cache/reflector.go:343"` +
		` type="*unstructured.Unstructured" err="an error on the server (\"unable to decode an event from the watch stream: context canceled\") has prevented the request from succeeding"` + "\n"
	for sentence, c := range map[string]struct {
		shown, printed string
		same           bool
	}{
		"nothing is shown and nothing printed":                         {"", "", true},
		"something is printed that is not shown":                       {"", "configured\n", false},
		"something is shown that is not printed":                       {"configured", "", false},
		"the same line":                                                {"configured", "configured\n", true},
		"another line":                                                 {"configured", "created\n", false},
		"a point in a page is a point":                                 {"192.0.2.1", "192x0.2.1", false},
		"an age varies":                                                {"node1   3/3   23s", "node1   3/3   2m10s  \n", true},
		"a number of nodes does not":                                   {"node1   3/3   23s", "node1   2/3   23s\n", false},
		"a point in time varies":                                       {"until 14:24:31Z, at 2026-11-21T10:59:34Z", "until 04:00:00Z, at 2027-01-01T00:00:00Z", true},
		"columns are as wide as what stands in them":                   {"NAME  AGE\na     3s", "NAME   AGE\na      11s\n", true},
		"a mark stands for any part of a line":                         {"hash …", "hash 796f18c2", true},
		"a mark in a line stands for nothing beyond it":                {"hash …", "hash 1\nmore", false},
		"a line that is a mark stands for any lines":                   {"…\nstatus:\n…", "a: 1\nb: 2\nstatus:\n  c: 3\n", true},
		"a line that is a mark stands for no lines too":                {"…\nstatus:\n…", "status:\n", true},
		"what stands between such lines must be printed":               {"…\nstatus:\n…", "a: 1\n", false},
		"no line ends where the page's last one has begun":             {"a\nb", "a\n", false},
		"what kubectl says of the watch that it leaves does not count": {"met", left + "met\n", true},
		"what it says of a watch that somebody else ends counts":       {"met", strings.ReplaceAll(left, "context canceled", "connection refused") + "met\n", false},
	} {
		t.Run(sentence, func(t *testing.T) {
			var shown []string
			if c.shown != "" {
				shown = strings.Split(c.shown, "\n")
			}
			if same := Prints(shown, c.printed); same != c.same {
				t.Errorf("%q shown and %q printed: same is %v", c.shown, c.printed, same)
			}
		})
	}
}

func TestEveryPageIsNamedInTheReadMe(t *testing.T) {
	pages := Pages(read(t, "../README.md"))
	files, err := os.ReadDir(".")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		if page := "docs/" + file.Name(); strings.HasSuffix(page, ".md") && !slices.Contains(pages, page) {
			t.Errorf("README.md names no %s, so nobody comes to read it", page)
		}
	}
}

func TestEveryPageCanBePlayed(t *testing.T) {
	for _, page := range Pages(read(t, "../README.md")) {
		if _, err := Actions(read(t, "../"+page), nil); err != nil {
			t.Errorf("%s: %v", page, err)
		}
	}
}

var appliedByHand = regexp.MustCompile(`docs/examples/(\S+)\.yaml`)

func TestEveryExampleIsPlayed(t *testing.T) {
	all, err := Examples(os.DirFS("examples"))
	if err != nil {
		t.Fatal(err)
	}
	byText := map[string]string{}
	for _, example := range all {
		byText[example.Text] = example.Name
	}
	played := map[string]bool{}
	for _, page := range Pages(read(t, "../README.md")) {
		actions, err := Actions(read(t, "../"+page), byText)
		if err != nil {
			t.Fatalf("%s: %v", page, err)
		}
		for _, action := range actions {
			if action.NotPlayed != "" {
				continue
			}
			played[action.Example] = true
			for _, found := range appliedByHand.FindAllStringSubmatch(action.Command, -1) {
				played[found[1]] = true
			}
		}
	}
	for _, example := range all {
		if !played[example.Name] {
			t.Errorf("no page that is played has %s, so nobody tries it", example.Name)
		}
	}
}
