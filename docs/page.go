package docs

import (
	"fmt"
	"path"
	"regexp"
	"slices"
	"strings"
)

// Action is one thing that a reader of a page does.
type Action struct {
	// Line of the page.
	Line int
	// Command is typed into a shell. Empty: Example is applied as the page tells.
	Command string
	Example string
	// Compared: Shows is all that the command prints. A block of the language sh
	// does not tell what its commands print.
	Compared bool
	Shows    []string
	// NotPlayed is why the lab cannot do this. PlayedLast is for after all pages.
	NotPlayed  string
	PlayedLast bool
	// InVM: the page has a lab of its own, in a virtual machine.
	InVM bool
}

var (
	// fence opens or closes a block.
	fence = regexp.MustCompile("^```([a-z]*)$")
	// mark says how the walk takes the block that follows it.
	mark = regexp.MustCompile(`^<!-- (?:(this page is )?not played: (.+)|(played last)|(this page is played in a VM): make e2e-vm)(?: -->|$)`)
	// pageLink is a link to a page of this repository.
	pageLink = regexp.MustCompile(`\]\(([^)#:]+\.md)(?:#[^)]*)?\)`)
)

// Pages are the pages in the order in which README.md names them, itself first,
// as paths from the repository's root.
func Pages(readme string) []string {
	pages := []string{"README.md"}
	for _, found := range pageLink.FindAllStringSubmatch(readme, -1) {
		if page := path.Clean(found[1]); !slices.Contains(pages, page) {
			pages = append(pages, page)
		}
	}
	return pages
}

// Actions are what a reader does who plays a page from top to bottom. examples has
// the names of the examples by their text; one that a command of the page
// applies is not a action of its own.
func Actions(page string, examples map[string]string) ([]Action, error) {
	r := &pageReader{examples: examples}
	for i, line := range strings.Split(page, "\n") {
		if err := r.line(i+1, line); err != nil {
			return nil, fmt.Errorf("line %d: %w", i+1, err)
		}
	}
	if r.inBlock {
		return nil, fmt.Errorf("line %d: the block has no end", r.begun)
	}
	return slices.DeleteFunc(r.actions, func(a Action) bool {
		return a.Example != "" && strings.Contains(page, "apply -f docs/examples/"+a.Example+".yaml")
	}), nil
}

// pageReader takes the lines of a page, one after the other.
type pageReader struct {
	examples map[string]string
	actions  []Action

	notPlayed, wholePage string
	playedLast, inVM     bool

	inBlock  bool
	language string
	begun    int
	block    []string
}

func (r *pageReader) line(number int, line string) error {
	found := fence.FindStringSubmatch(line)
	switch {
	case r.inBlock && found != nil:
		r.inBlock = false
		r.endBlock()
		r.notPlayed, r.playedLast = "", false
	case r.inBlock:
		r.block = append(r.block, line)
	case found != nil:
		r.inBlock, r.language, r.begun, r.block = true, found[1], number, nil
	case strings.HasPrefix(line, "<!--"):
		return r.mark(line)
	}
	return nil
}

func (r *pageReader) mark(line string) error {
	said := mark.FindStringSubmatch(line)
	if said == nil {
		return fmt.Errorf("%q is no mark: want \"not played: WHY\", \"this page is not played: WHY\", \"this page is played in a VM: make e2e-vm\" or \"played last\"", line)
	}
	why := strings.TrimSuffix(said[2], " -->")
	r.playedLast, r.inVM = said[3] != "", r.inVM || said[4] != ""
	if said[1] != "" {
		r.wholePage = why
	} else {
		r.notPlayed = why
	}
	return nil
}

func (r *pageReader) endBlock() {
	reason := r.notPlayed
	if reason == "" {
		reason = r.wholePage
	}
	act := func(offset int, a Action) {
		a.Line, a.NotPlayed, a.PlayedLast, a.InVM = r.begun+1+offset, reason, r.playedLast, r.inVM
		r.actions = append(r.actions, a)
	}
	switch {
	case r.language == "yaml":
		if name := r.examples[strings.Join(r.block, "\n")+"\n"]; name != "" {
			act(0, Action{Example: name})
		}
	case r.language == "sh":
		for i, line := range r.block {
			if line != "" && !strings.HasPrefix(line, "#") {
				act(i, Action{Command: line})
			}
		}
	case r.language == "" && len(r.block) > 0 && strings.HasPrefix(r.block[0], "$ "):
		for i, line := range r.block {
			if command, ok := strings.CutPrefix(line, "$ "); ok {
				act(i, Action{Command: command, Compared: true})
				continue
			}
			last := &r.actions[len(r.actions)-1]
			last.Shows = append(last.Shows, line)
		}
	}
}

// varies is what no two readers see alike, and no page has to mark: points in
// time, and how long something took or is ago.
var varies = regexp.MustCompile(`\b(\d{4}-\d\d-\d\dT)?\d\d:\d\d:\d\d(\.\d+)?Z|\b\d+(\.\d+)?(h\d+m|m\d+s|d\d+h|ms|s|m|h|d)\b`)

// anything is how a page marks the rest that varies: a part of a line, or, alone,
// any number of lines.
const anything = "…"

// watchLeft is what kubectl says now and then when it has seen what it waited
// for and leaves its watch: client-go takes the end that it has made itself for
// an error, where an event is just being read.
var watchLeft = regexp.MustCompile(`^I\d{4} .* reflector\.go:\d+\] "Warning: watch ended with error" .*context canceled`)

// Prints tells whether what a command printed is what the page shows. Blanks
// between words do not count: columns are as wide as what stands in them.
func Prints(shown []string, printed string) bool {
	var got []string
	for line := range strings.Lines(printed) {
		if !watchLeft.MatchString(line) {
			got = append(got, plainLine(line))
		}
	}
	for len(got) > 0 && got[len(got)-1] == "" {
		got = got[:len(got)-1]
	}
	return sameLines(shown, got)
}

func plainLine(line string) string {
	return strings.Join(strings.Fields(varies.ReplaceAllString(line, "<time>")), " ")
}

func sameLines(shown, got []string) bool {
	if len(shown) == 0 {
		return len(got) == 0
	}
	if strings.TrimSpace(shown[0]) == anything {
		for skipped := range len(got) + 1 {
			if sameLines(shown[1:], got[skipped:]) {
				return true
			}
		}
		return false
	}
	return len(got) > 0 && sameLine(plainLine(shown[0]), got[0]) && sameLines(shown[1:], got[1:])
}

func sameLine(shown, got string) bool {
	parts := strings.Split(shown, anything)
	for i := range parts {
		parts[i] = regexp.QuoteMeta(parts[i])
	}
	return regexp.MustCompile("^" + strings.Join(parts, ".*") + "$").MatchString(got)
}
