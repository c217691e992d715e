package view

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	v1 "github.com/nmstate/kubernetes-nmstate/api/v1"
)

// Tone is how a word is meant.
type Tone int

// The tones.
const (
	Plain Tone = iota
	Good
	Bad
	Busy
	Faint
)

// Paint colours a word; where there are no colours it returns it as it is.
type Paint func(tone Tone, text string) string

// NoPaint is for files and pipes.
func NoPaint(_ Tone, text string) string { return text }

// tones of what is shown; what is not listed is plain.
var tones = map[string]Tone{
	string(Available): Good, string(Failing): Bad, string(v1.PolicyDegraded): Bad, string(Aborted): Bad,
	string(Changing): Busy, string(Confirm): Busy, string(Soaking): Busy, string(v1.PolicyProgressing): Busy,
	string(Pending): Faint, string(v1.PolicyIgnored): Faint, Unseen: Faint,
}

// Folded is how many nodes of a phase are listed before the rest is a number.
const Folded = 20

// Tree is a policy with its nodes, line by line. Of nodes in the same phase the first
// most are listed, 0 for all of them.
func Tree(p Policy, most int, paint Paint) []string {
	head := []string{p.Name, paint(tones[p.Status], p.Status)}
	if p.Have != "" {
		head = append(head, p.Have+" nodes")
	}
	head = append(head, fmt.Sprintf("generation %d", p.Generation))
	lines := []string{strings.Join(head, "  ")}
	for _, row := range [][2]string{{"says", p.Message}, {"cause", p.Detail}, {"step", p.Step.text(p.Name)}, {"slots", p.Slots.text()}} {
		if row[1] != "" && (row[0] != "cause" || !strings.Contains(p.Message, row[1])) {
			lines = append(lines, "  "+paint(Faint, pad(row[0], 7))+row[1])
		}
	}
	return append(lines, branches(p, most, paint)...)
}

func (s Step) text(policy string) string {
	text := s.Name
	if s.Canaries > 0 && s.Name != StepDone {
		text += fmt.Sprintf(", %d of %d canary nodes done", s.CanariesDone, s.Canaries)
	}
	if s.SoakLeft > 0 {
		text += ", soaks for another " + s.SoakLeft.String()
	}
	if s.Resume {
		text += "; to go on: kubectl nmstate resume " + policy
	}
	return text
}

func (s Slots) text() string {
	if s.Of == 0 {
		return ""
	}
	text := fmt.Sprintf("%d of %d taken", s.Taken, s.Of)
	if len(s.Holders) > 0 {
		text += ": " + names(s.Holders)
	}
	return text
}

// branches are the nodes, the important ones first, with many of one phase folded.
func branches(p Policy, most int, paint Paint) []string {
	nodes := important(p.Nodes)
	wide, shown, hidden := 0, []Node{}, map[Phase]int{}
	listed := map[Phase]int{}
	for _, n := range nodes {
		if most > 0 && listed[n.Phase] >= most {
			hidden[n.Phase]++
			continue
		}
		listed[n.Phase]++
		shown = append(shown, n)
		wide = max(wide, utf8.RuneCountInString(n.Name))
	}
	var rows []string
	for i, n := range shown {
		row := pad(n.Name, wide) + "  " + paint(tones[string(n.Phase)], pad(string(n.Phase), 9))
		if says := n.says(p.Name); says != "" {
			row += "  " + says
		}
		rows = append(rows, strings.TrimRight(row, " "))
		if last := i+1 == len(shown) || shown[i+1].Phase != n.Phase; last && hidden[n.Phase] > 0 {
			rows = append(rows, fmt.Sprintf("and %d more %s", hidden[n.Phase], n.Phase))
		}
	}
	for i := range rows {
		if i+1 == len(rows) {
			rows[i] = "└─ " + rows[i]
		} else {
			rows[i] = "├─ " + rows[i]
		}
	}
	return rows
}

func pad(text string, wide int) string {
	return text + strings.Repeat(" ", max(0, wide-utf8.RuneCountInString(text)))
}

// Table is one line for each policy, by name.
func Table(policies []Policy, paint Paint) []string {
	rows := [][]string{{"POLICY", "STATUS", "NODES", "SLOTS", "STEP", "CAUSE"}}
	for _, p := range policies {
		slots := "-"
		if p.Slots.Of > 0 {
			slots = fmt.Sprintf("%d/%d", p.Slots.Taken, p.Slots.Of)
		}
		have := p.Have
		if have == "" {
			have = "-"
		}
		rows = append(rows, []string{p.Name, p.Status, have, slots, p.Step.Name, p.Detail})
	}
	return columns(rows, func(row, column int, text string) string {
		if row > 0 && column == 1 {
			return paint(tones[strings.TrimSpace(text)], text)
		}
		return text
	})
}

// columns lines rows up. The painter gets each cell as wide as its column.
func columns(rows [][]string, paint func(row, column int, text string) string) []string {
	var wide []int
	for _, row := range rows {
		for i, cell := range row {
			if i == len(wide) {
				wide = append(wide, 0)
			}
			wide[i] = max(wide[i], utf8.RuneCountInString(cell))
		}
	}
	var lines []string
	for r, row := range rows {
		var cells []string
		for i, cell := range row {
			if i < len(row)-1 {
				cell = pad(cell, wide[i])
			}
			cells = append(cells, paint(r, i, cell))
		}
		lines = append(lines, strings.TrimRight(strings.Join(cells, "   "), " "))
	}
	return lines
}

// Changes are what is different between two looks at a policy, one line each. The first
// look is told too: everything of it is new.
func Changes(before *Policy, after Policy) []string {
	var lines []string
	add := func(format string, values ...any) {
		lines = append(lines, after.Name+": "+fmt.Sprintf(format, values...))
	}
	if before == nil || before.Status != after.Status || before.Message != after.Message {
		add("%s", join(after.Status, after.Message))
	}
	if before == nil || before.Step.Name != after.Step.Name || before.Step.CanariesDone != after.Step.CanariesDone {
		add("step %s", after.Step.text(after.Name))
	}
	if before == nil || !slices.Equal(before.Slots.Holders, after.Slots.Holders) {
		if slots := after.Slots.text(); slots != "" {
			add("slots %s", slots)
		}
	}
	old := map[string]Node{}
	if before != nil {
		for _, n := range before.Nodes {
			old[n.Name] = n
		}
	}
	for _, n := range after.Nodes {
		was, known := old[n.Name]
		if !known || was.Phase != n.Phase || was.Step != n.Step || was.Cause != n.Cause || !slices.Equal(was.Out, n.Out) {
			add("%s", strings.TrimSuffix(n.Name+" "+string(n.Phase)+": "+n.says(after.Name), ": "))
		}
		delete(old, n.Name)
	}
	for _, n := range gone(old) {
		add("%s is no longer of it", n)
	}
	return lines
}

func gone(nodes map[string]Node) []string {
	var names []string
	for name := range nodes {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}
