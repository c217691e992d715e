package scenario

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"golang.org/x/tools/txtar"
)

// Scenario is a parsed file.
type Scenario struct {
	// Name is the file's, without its ending: a sentence with dashes.
	Name string
	// About are the comments before the first command.
	About string
	// Topology that it needs.
	Topology Topology
	// Centralized is the mode that it begins in.
	Centralized bool
	// Needs are features of the kernel or the host.
	Needs []string
	// OnlySim says why it cannot run on a lab; empty for where it can.
	OnlySim string
	// Seldom: a lab runs it only when it is asked for all.
	Seldom bool
	// Shows is what it shows of which topology of e2e/lab/topologies.
	Shows []Shown
	// Steps in their order, without those that only say what is needed.
	Steps []*Step
	// Files are the manifests.
	Files map[string]string
}

// Shown is a part of what each topology must have a scenario for: life, cut-off
// or power.
type Shown struct{ What, Topology string }

// Step is a line of the script, or the check in it.
type Step struct {
	// Line in the file, from 1, and what it says.
	Line int
	Text string
	// Args are its words by their names in the usage.
	Args Args
	// Check of await, expect and hold.
	Check *Step

	form *form
}

// form is a command or a check.
type form struct {
	// usage is its grammar and its documentation; means says it in words.
	usage, means string
	// sets is for commands that say what is needed, before all others.
	sets func(p *parser, a Args) error
	// notes is what a command that does something means for the lines after it.
	notes func(p *parser, a Args)
	// does is for commands that do something.
	does doing
	// holds is for checks.
	holds holding
	// looks: the command changes nothing, so what happened since the last one
	// that did is still of interest (kill ... in PHASE).
	looks bool
	// watches: it does nothing but look, or let time pass.
	watches bool
}

type parser struct {
	scenario *Scenario
	// named are the files that the script names; marks the names of moments.
	named, marks map[string]bool
	counted      bool // the nodes are known
}

// Parse reads a scenario. Its error has a line for each mistake, with file and line.
func Parse(name string, raw []byte) (*Scenario, error) {
	archive := txtar.Parse(raw)
	p := &parser{
		scenario: &Scenario{Name: strings.TrimSuffix(name, ".txtar"), Topology: newTopology(1), Files: map[string]string{}},
		named:    map[string]bool{}, marks: map[string]bool{"start": true},
	}
	var wrong []error
	for _, f := range archive.Files {
		if _, twice := p.scenario.Files[f.Name]; twice {
			wrong = append(wrong, fmt.Errorf("%s:%d: there is a file %q already", name, lineOf(raw, f.Name), f.Name))
		}
		p.scenario.Files[f.Name] = string(f.Data)
	}
	for _, line := range repeated(string(archive.Comment)) {
		err := line.wrong
		if err == nil {
			err = p.line(line.number, line.text)
		}
		if err != nil {
			wrong = append(wrong, fmt.Errorf("%s:%d: %w", name, line.number, err))
		}
	}
	for _, f := range archive.Files {
		if !p.named[f.Name] {
			wrong = append(wrong, fmt.Errorf("%s:%d: no command names the file %q", name, lineOf(raw, f.Name), f.Name))
		}
	}
	if len(p.scenario.Steps) == 0 && len(wrong) == 0 {
		wrong = append(wrong, fmt.Errorf("%s:1: the script has no command", name))
	}
	if err := errors.Join(wrong...); err != nil {
		return nil, err
	}
	return p.scenario, nil
}

// lineOf is where a file of the archive begins.
func lineOf(raw []byte, file string) int {
	number := 0
	for line := range strings.Lines(string(raw)) {
		number++
		if strings.TrimSpace(line) == "-- "+file+" --" {
			return number
		}
	}
	return 1
}

func (p *parser) line(number int, text string) error {
	s := p.scenario
	trimmed := strings.TrimSpace(text)
	if about, is := strings.CutPrefix(trimmed, "#"); is && len(s.Steps) == 0 {
		s.About = strings.TrimSpace(s.About + "\n" + strings.TrimSpace(about))
	}
	if reason, is := strings.CutPrefix(trimmed, "only sim:"); is {
		if s.OnlySim = strings.TrimSpace(reason); s.OnlySim == "" || len(s.Steps) > 0 {
			return errors.New("only sim: a reason is missing, or a command stands before it")
		}
		return nil
	}
	words, err := split(text)
	if err != nil || len(words) == 0 {
		return err
	}
	step, bad := p.find(commands, words)
	if bad != nil {
		return bad.why
	}
	step.Line, step.Text = number, trimmed
	if step.Check != nil {
		step.Check.Line, step.Check.Text = number, trimmed
	}
	if step.form.sets != nil && (len(s.Steps) == 0 || step.form.does == nil) {
		if len(s.Steps) > 0 {
			return errors.New("what is needed is said before the first command that does something")
		}
		return step.form.sets(p, step.Args)
	}
	longest := longestLabWait
	if s.Seldom {
		longest = longestSeldom
	}
	if d, _ := time.ParseDuration(step.Args["DURATION"]); step.form.usage == usageAdvance && d > longest && s.OnlySim == "" {
		return fmt.Errorf("a lab does not wait that long: at most %s without \"only sim: REASON\"", longest)
	}
	if step.form.notes != nil {
		step.form.notes(p, step.Args)
	}
	s.Steps = append(s.Steps, step)
	return nil
}

// longestLabWait is what a scenario for the lab may wait by the clock, and longestSeldom
// what one may that is run seldom.
const (
	longestLabWait = 15 * time.Second
	longestSeldom  = 3 * time.Minute
)

// needs notes what the kernel or the host has to have.
func (s *Scenario) needs(feature string) {
	if !slices.Contains(s.Needs, feature) {
		s.Needs = append(s.Needs, feature)
	}
}
