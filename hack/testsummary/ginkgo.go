package main

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
)

// To go test a suite of Ginkgo is one test. Its specs are read from what it
// prints: a block for each spec that has something to tell, between rulers, and
// the counts at the end.
var (
	colour = regexp.MustCompile("\x1b\\[[0-9;]*m")
	counts = regexp.MustCompile(`-- (\d+) Passed \| (\d+) Failed \| (\d+) Pending \| (\d+) Skipped`)
	chosen = regexp.MustCompile(`Will run (\d+) of (\d+) specs`)
	bullet = regexp.MustCompile(`^• .*\[([0-9.]+) seconds\]`)
	ruler  = regexp.MustCompile(`(?m)^-{20,}\n`)
	gone   = regexp.MustCompile(`\[(FAILED|PANICKED|TIMEDOUT|INTERRUPTED)\]`)
	why    = regexp.MustCompile(`(?m)^\s*\[SKIPPED\] (.+?)(?: \(spec: (.+)\))?$`)
)

// specs are the counts of one suite.
type specs struct {
	passed, failed, skipped int
	// skips are the skipped specs, as far as the suite tells them; a name is empty
	// where it tells the reason only.
	skips []outcome
}

func specsOf(output string) (specs, bool) {
	found := counts.FindStringSubmatch(output)
	if found == nil {
		return specs{}, false
	}
	all := specs{passed: number(found[1]), failed: number(found[2]), skipped: number(found[3]) + number(found[4])}
	if part := chosen.FindStringSubmatch(output); part != nil {
		// Ginkgo counts as skipped what another run of the suite has.
		all.skipped -= number(part[2]) - number(part[1])
	}
	var named []outcome
	for _, skip := range why.FindAllStringSubmatch(output, -1) {
		all.skips = append(all.skips, outcome{name: skip[2], text: skip[1]})
		if skip[2] != "" {
			named = append(named, outcome{name: skip[2], text: skip[1]})
		}
	}
	if len(named) > 0 {
		// The suite's own report; what Ginkgo printed before is the same once more.
		all.skips = named
	}
	return all, true
}

// number reads what a pattern found that matches digits only.
func number(digits string) int {
	n, _ := strconv.Atoi(digits)
	return n
}

// told is how many of the last lines of a spec's timeline are shown.
const told = 40

// failedBlocks leaves out the specs that did not fail; the last block is the
// suite's own summary.
func failedBlocks(output string) string {
	blocks := ruler.Split(output, -1)
	var kept []string
	for i, block := range blocks {
		if gone.MatchString(block) || i == len(blocks)-1 {
			kept = append(kept, causeFirst(strings.TrimSpace(block)))
		}
	}
	return strings.Join(kept, "\n\n")
}

// causeFirst tells what failed before what led to it, and of that the end: a timeline
// may have a thousand lines, and whoever shortens a log keeps its beginning.
func causeFirst(block string) string {
	before, rest, found := strings.Cut(block, "Timeline >>\n")
	timeline, cause, ended := strings.Cut(rest, "<< Timeline")
	if !found || !ended {
		return block
	}
	lines := strings.Split(strings.TrimRight(timeline, " \n"), "\n")
	heading := "  Timeline:"
	if left := len(lines) - told; left > 0 {
		heading, lines = fmt.Sprintf("  Timeline, without its first %d lines:", left), lines[left:]
	}
	return strings.Join([]string{strings.TrimSpace(before), strings.Trim(cause, "\n"), "", heading, strings.Join(lines, "\n")}, "\n")
}

// progress returns the line about a spec that ended, once its name was read:
// Ginkgo prints the time first and then, on a line of its own, the name.
func (s *Summary) progress(pkg, line string) string {
	line = strings.TrimSpace(line)
	if took := bullet.FindStringSubmatch(line); took != nil {
		s.ended[pkg] = took[1]
		return ""
	}
	took, ok := s.ended[pkg]
	if !ok || line == "" {
		return ""
	}
	delete(s.ended, pkg)
	seconds, _ := strconv.ParseFloat(took, 64) // The pattern matches a number.
	return "      " + strconv.FormatFloat(seconds, 'f', 1, 64) + " s  " + line
}
