package main

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strings"
	"time"
)

// module is left out of the names of packages.
const module = "github.com/nmstate/kubernetes-nmstate/"

// event is one line of go test -json (see `go doc test2json`).
type event struct {
	Action, Package, Test, Output string
	Elapsed                       float64 // in seconds
	FailedBuild, ImportPath       string
}

// outcome is a test, or a package without its tests, that failed or was skipped.
type outcome struct{ name, text string }

// Summary gathers what happened.
type Summary struct {
	out    io.Writer
	strict bool

	output                  map[string][]string // by package or import path, and test
	parents                 map[string]bool     // tests that have subtests
	counts                  map[string]int      // by package, of tests that ran
	ended                   map[string]string   // by package, the time of a spec whose name is still to come
	failures, skips         []outcome
	passed, failed, skipped int
	elapsed                 time.Duration
	// unexplained is the number of failures when the last command started.
	unexplained int
}

// New prints to out. With strict, a stage that could not be run is a failure.
func New(out io.Writer, strict bool) *Summary {
	return &Summary{
		out: out, strict: strict,
		output: map[string][]string{}, parents: map[string]bool{}, counts: map[string]int{}, ended: map[string]string{},
	}
}

// Line takes one line of input.
func (s *Summary) Line(line []byte) {
	var at event
	if len(line) > 0 && line[0] == '{' && json.Unmarshal(line, &at) == nil && at.Action != "" {
		s.event(at)
		return
	}
	text := string(line)
	if what, reason, ok := strings.Cut(strings.TrimPrefix(text, "skip: "), ": "); ok && strings.HasPrefix(text, "skip: ") {
		s.skipStage(what, reason)
		return
	}
	if strings.HasPrefix(text, "exit status ") {
		// A failed test explains it, unless nothing failed since the last one.
		if len(s.failures) == s.unexplained {
			s.fail(text, "no test says why: see the lines above")
		}
		s.unexplained = len(s.failures)
		return
	}
	s.say("%s", text)
}

func (s *Summary) skipStage(what, reason string) {
	if s.strict {
		s.fail(what, "not run, and NMSTATE_STRICT=1 allows no skips: "+reason)
		return
	}
	s.skip(what, reason)
}

func (s *Summary) event(at event) {
	name := at.Package + at.ImportPath
	if at.Test != "" {
		name += " " + at.Test
	}
	switch at.Action {
	case "output", "build-output":
		text := colour.ReplaceAllString(at.Output, "")
		s.output[name] = append(s.output[name], text)
		if line := s.progress(at.Package, text); line != "" {
			s.say("%s", line)
		}
	case "run":
		if parent := strings.LastIndex(at.Test, "/"); parent >= 0 {
			s.parents[at.Package+" "+at.Test[:parent]] = true
		}
	case "pass", "fail", "skip":
		if at.Test == "" {
			s.endPackage(at)
		} else {
			s.endTest(name, at)
		}
		delete(s.output, name)
	}
}

// endTest counts the leaves of the tree of tests: a test with subtests is only
// their sum, unless it failed by itself.
func (s *Summary) endTest(name string, at event) {
	if suite, ok := specsOf(strings.Join(s.output[name], "")); ok {
		s.endSuite(name, at, suite)
		return
	}
	own := strings.TrimSpace(reason(s.output[name]))
	switch {
	case at.Action == "fail" && (!s.parents[name] || own != ""):
		s.fail(short(name), strings.Join(s.output[name], ""))
	case s.parents[name]:
	case at.Action == "skip":
		s.skip(short(name), own)
	case at.Action == "pass":
		s.passed++
	}
	s.counts[at.Package]++
}

// endSuite counts the specs of a suite instead of the one test that runs it.
func (s *Summary) endSuite(name string, at event, suite specs) {
	s.counts[at.Package] += suite.passed + suite.failed + suite.skipped
	s.passed += suite.passed
	if at.Action == "fail" {
		s.fail(short(name), failedBlocks(strings.Join(s.output[name], "")))
		s.failed += max(0, suite.failed-1)
	}
	for i := range suite.skipped {
		var skip outcome
		if i < len(suite.skips) {
			skip = suite.skips[i]
		}
		s.skip(cmp.Or(skip.name, short(name)), skip.text)
	}
}

func (s *Summary) endPackage(at event) {
	s.elapsed += time.Duration(at.Elapsed * float64(time.Second))
	switch {
	case at.FailedBuild != "":
		s.fail(short(at.Package), strings.Join(s.output[at.FailedBuild], ""))
	case at.Action == "fail" && !s.failedIn(at.Package):
		// It crashed, or TestMain ended it, outside every test.
		s.fail(short(at.Package), strings.Join(s.output[at.Package], ""))
	}
	if at.Action == "fail" || s.counts[at.Package] > 0 {
		s.say("%-5s %-45s %3d tests %6.1f s", at.Action, short(at.Package), s.counts[at.Package], at.Elapsed)
	}
	delete(s.counts, at.Package)
}

func (s *Summary) failedIn(pkg string) bool {
	return slices.ContainsFunc(s.failures, func(failure outcome) bool {
		return strings.HasPrefix(failure.name, short(pkg)+" ")
	})
}

func (s *Summary) fail(name, text string) {
	s.failed++
	s.failures = append(s.failures, outcome{name, text})
}

func (s *Summary) skip(name, text string) {
	s.skipped++
	s.skips = append(s.skips, outcome{name, text})
}

// Print writes the end of the story and tells whether all is well.
func (s *Summary) Print() bool {
	for _, failure := range s.failures {
		s.say("\nFAILED %s\n%s", failure.name, indent(failure.text))
	}
	if len(s.skips) > 0 {
		s.say("\nSkipped, by reason:")
	}
	for _, group := range byReason(s.skips) {
		s.say("  %s", group.text)
		s.say("      %s", group.name)
	}
	if s.passed+s.failed+s.skipped == 0 {
		s.fail("no test ran", "")
		s.say("\nNo test ran: is there anything above that says why?")
	}
	s.say("\n%d passed, %d failed, %d skipped (%s in tests)", s.passed, s.failed, s.skipped, s.elapsed.Round(time.Second))
	return s.failed == 0
}

func (s *Summary) say(format string, arguments ...any) {
	_, _ = fmt.Fprintf(s.out, format+"\n", arguments...)
}

// byReason joins the names of those that have the reason in common, in the
// order of the first of each.
func byReason(skips []outcome) []outcome {
	var groups []outcome
	for _, skip := range skips {
		if skip.text == "" {
			skip.text = "no reason given"
		}
		i := slices.IndexFunc(groups, func(group outcome) bool { return group.text == skip.text })
		if i < 0 {
			groups = append(groups, skip)
			continue
		}
		groups[i].name += ", " + skip.name
	}
	return groups
}

// chatter are the lines that go test itself puts around what a test says.
var chatter = regexp.MustCompile(`^\s*(=== |--- |PASS$|FAIL$|$)`)

// place is what testing puts before a message: the file and the line.
var place = regexp.MustCompile(`^\s*\w+\.go:\d+: `)

// reason is what a test said, in one line.
func reason(output []string) string {
	var said []string
	for line := range strings.SplitSeq(strings.Join(output, ""), "\n") {
		if !chatter.MatchString(line) {
			said = append(said, strings.TrimSpace(place.ReplaceAllString(line, "")))
		}
	}
	return strings.Join(said, " ")
}

func short(name string) string { return strings.TrimPrefix(name, module) }

func indent(text string) string {
	return "    " + strings.ReplaceAll(strings.TrimRight(text, "\n"), "\n", "\n    ")
}
